import Foundation
import TestSupport
import Testing

/// Tests of the command `receive`, with real signatures and repair blocks.
@Suite struct ReceiveTests {
    private let folder: TemporaryFolder
    private let keys: Keys
    private let signers: String

    init() throws {
        folder = try TemporaryFolder()
        keys = Keys(folder: folder)
        signers = try keys.list("ines@example.org \(try keys.make("key"))")
        try folder.makeFolder("stick")
    }

    /// Packs a sample on the stick, and signs it.
    private func pack(_ name: String, _ options: String..., samples: [String] = ["focus"], status: Int32 = 1) throws {
        let path = folder("stick/\(name)")
        let packed = try RunningProgram(
            [pingferryPath, "bundle", "-q"] + samples.map { sample($0) } + ["-o", path] + options
        ).finish()
        #expect(packed.status == status, "\(packed.errors)")
        if options.contains("--volume-size") {
            try keys.sign(bundle: folder("joined"), volumes: path, with: "key")
        } else {
            try keys.sign(path, with: "key")
        }
    }

    private func receive(_ options: String..., stick: String? = nil, to output: String = "received") throws
        -> FinishedProgram
    {
        try RunningProgram(
            [
                pingferryPath, "receive", "--signers", signers, "--accepted", folder("state/accepted"), "-o",
                folder(output),
            ] + options + [stick ?? folder("stick")]
        ).finish()
    }

    private func names(_ output: String = "received") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder(output)).sorted()
    }

    /// Expects that nothing is received, and that the message contains `reason`.
    private func expectRefusal(
        _ finished: FinishedProgram, _ reason: String, status: Int32 = 65, location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(finished.status == status, "\(finished.errors)", sourceLocation: location)
        #expect(finished.errors.contains(reason), "\(finished.errors)", sourceLocation: location)
        #expect(finished.text == "", sourceLocation: location)
        #expect(try names() == [], sourceLocation: location)
    }

    // MARK: Received bundles

    @Test("Bundles and volumes are copied with their lists, signatures and receipts")
    func received() throws {
        try pack("a.tar.zst", "--receipt", folder("stick/a.json"))
        try pack("b.tar.zst", "--volume-size", "4K", samples: ["shop", "webxr"], status: 0)
        try folder.put("", "stick/README.txt")
        let finished = try receive()
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.first == "a.tar.zst: received, 7 records (6 uploadable; held: pending-events 1)")
        #expect(finished.lines.count { $0.hasPrefix("signed by ines@example.org with ED25519 key") } == 2)
        #expect(finished.errors == "pingferry: not part of a bundle: README.txt\n")
        let copied = try names()
        #expect(
            copied == [
                "a.json", "a.tar.zst", "a.tar.zst.sig", "b.tar.zst.001", "b.tar.zst.002", "b.tar.zst.sha256",
                "b.tar.zst.sig",
            ])
        for name in copied { #expect(try folder.data("received/\(name)") == folder.data("stick/\(name)"), "\(name)") }
        #expect(try folder.text("state/accepted").split(separator: "\n").count == 2)
        #expect(
            try pingferry("verify", "--digest-file", folder("state/accepted"), folder("received/a.tar.zst")).status == 0
        )
        // The same medium again.
        let again = try receive("--json")
        #expect(again.status == 0)
        let bundles = try #require(try again.json()["bundles"] as? [[String: Any]])
        #expect(bundles.map { $0["present"] as? Bool } == [true, true])
        #expect(try folder.text("state/accepted").split(separator: "\n").count == 2)
    }

    @Test("An interrupted copy is continued, also if its beginning belongs to another bundle")
    func continued() throws {
        try pack("a.tar.zst")
        try pack("b.tar.zst", "--volume-size", "4K", samples: ["shop", "webxr"], status: 0)
        let partial = "received/.incoming.partial"
        try folder.makeFolder(partial)
        try folder.data("stick/a.tar.zst").prefix(1000).write(to: URL(fileURLWithPath: folder("\(partial)/a.tar.zst")))
        try folder.data("stick/a.tar.zst").write(to: URL(fileURLWithPath: folder("\(partial)/b.tar.zst.001")))
        try folder.put("x", "\(partial)/b.tar.zst.003")
        // The kill came while the files were moved.
        try folder.data("stick/b.tar.zst.002").write(to: URL(fileURLWithPath: folder("received/b.tar.zst.002")))
        let finished = try receive()
        #expect(finished.status == 0, "\(finished.errors)")
        for name in ["a.tar.zst", "b.tar.zst.001", "b.tar.zst.002"] {
            #expect(try folder.data("received/\(name)") == folder.data("stick/\(name)"), "\(name)")
        }
        #expect(try !names().contains(".incoming.partial"))
    }

    @Test("An older bundle under another name is reported")
    func otherName() throws {
        try pack("monday.tar.zst")
        #expect(try receive(to: "monday").status == 0)
        for end in ["", ".sig"] {
            try FileManager.default.moveItem(
                atPath: folder("stick/monday.tar.zst\(end)"), toPath: folder("stick/tuesday.tar.zst\(end)"))
        }
        try expectRefusal(
            try receive(), "tuesday.tar.zst: it has the contents of monday.tar.zst, which was accepted before: digest ")
        #expect(try receive("--again").status == 0)
        #expect(try names() == ["tuesday.tar.zst", "tuesday.tar.zst.sig"])
    }

    @Test("Parents and volumes that are missing are named")
    func missing() throws {
        try pack("1.tar.zst", "--index", folder("1.index"))
        try pack("2.tar.zst", "--since-index", folder("1.index"), samples: ["webxr"], status: 0)
        try FileManager.default.removeItem(atPath: folder("stick/1.tar.zst"))
        let orphan = try receive()
        #expect(orphan.status == 66)
        #expect(orphan.errors.contains("1.tar.zst is missing, although other files of it exist"))
        #expect(orphan.errors.contains("2.tar.zst: the bundle that it continues is missing: digest "))
        try FileManager.default.removeItem(atPath: folder("stick/1.tar.zst.sig"))
        #expect(try receive(to: "others").status == 1)
        try pack("v.tar.zst", "--volume-size", "4K", samples: ["shop", "webxr"], status: 0)
        try FileManager.default.removeItem(atPath: folder("stick/v.tar.zst.001"))
        let volume = try receive()
        #expect(volume.status == 66)
        #expect(volume.errors.contains("v.tar.zst: v.tar.zst.001 is missing"), "\(volume.errors)")
    }

    // MARK: Attacks

    @Test("Links and special files on the medium are not opened", arguments: ["", ".sig", ".001", ".002", ".sha256"])
    func irregularFiles(end: String) throws {
        let isSplit = [".001", ".002", ".sha256"].contains(end)
        if isSplit {
            try pack("a.tar.zst", "--volume-size", "4K", samples: ["shop", "webxr"], status: 0)
        } else {
            try pack("a.tar.zst")
        }
        let path = folder("stick/a.tar.zst\(end)")
        try FileManager.default.moveItem(atPath: path, toPath: folder("elsewhere"))
        _ = try tool("ln", "-s", folder("elsewhere"), path)
        try expectRefusal(try receive(), "a.tar.zst\(end) is a symbolic link, so it is not opened")
        _ = try tool("rm", path)
        _ = try tool("mkfifo", path)
        try expectRefusal(try receive(), "a.tar.zst\(end) is not a regular file, so it is not opened")
        _ = try tool("rm", path)
        _ = try tool("mkdir", path)
        try expectRefusal(try receive(), "a.tar.zst\(end) is not a regular file, so it is not opened")
    }

    @Test func linkInThePathOfTheMedium() throws {
        try pack("a.tar.zst")
        _ = try tool("ln", "-s", "stick", folder("link"))
        try folder.makeFolder("received")
        for path in ["link", "link/."] {
            try expectRefusal(
                try receive(stick: folder(path)), "cannot open \(folder(path)): link is a symbolic link", status: 74)
        }
    }

    @Test func signersMustBeKnown() throws {
        try pack("a.tar.zst")
        try keys.make("other")
        try keys.sign(folder("stick/a.tar.zst"), with: "other")
        try expectRefusal(
            try receive(), "\(folder("stick"))/a.tar.zst.sig was not made by any of the allowed signers")
        _ = try tool("rm", folder("stick/a.tar.zst.sig"))
        try expectRefusal(try receive(), "not signed: there is no \(folder("stick"))/a.tar.zst.sig")
    }

    @Test("What decides about a bundle must not be on the medium")
    func filesOnTheMedium() throws {
        try pack("a.tar.zst")
        try folder.makeFolder("received")
        _ = try tool("cp", signers, folder("stick/signers"))
        try expectRefusal(
            try receive("--signers", folder("stick/signers")), "signers: it is in the folder of the medium", status: 73)
        try expectRefusal(
            try receive("--accepted", folder("stick/x/../accepted")), "accepted: it is in the folder of the medium",
            status: 73)
        #expect(try receive(to: "stick/received").status == 73)
        #expect(!FileManager.default.fileExists(atPath: folder("stick/received")))
    }

    @Test func unusableFolders() throws {
        try folder.makeFolder("received")
        try expectRefusal(try receive(), "contains no bundle", status: 66)
        try expectRefusal(try receive(stick: folder("nothing")), "cannot open \(folder("nothing"))", status: 66)
        try expectRefusal(try receive(stick: signers), "signers", status: 65)
        try pack("a.tar.zst")
        try folder.put("", "received/notes.txt")
        let foreign = try receive()
        #expect(foreign.status == 73)
        #expect(foreign.errors.contains("contains other files than bundles, such as notes.txt"))
        #expect(try names() == ["notes.txt"])
        #expect(try pingferry("receive", "-o", folder("other"), folder("stick")).status == 64)
    }

    @Test func otherBundleOfTheSameName() throws {
        try pack("a.tar.zst")
        #expect(try receive().status == 0)
        let first = try folder.data("received/a.tar.zst")
        _ = try tool("rm", folder("stick/a.tar.zst"))
        try pack("a.tar.zst", samples: ["webxr"], status: 0)
        let finished = try receive()
        #expect(finished.status == 73)
        #expect(finished.errors.contains("contains another a.tar.zst"))
        #expect(try folder.data("received/a.tar.zst") == first)
    }

    // MARK: Repair

    private func damage(_ name: String) throws {
        var bytes = try folder.data("stick/\(name)")
        for offset in 1500..<1508 { bytes[offset] ^= 0x55 }
        try bytes.write(to: URL(fileURLWithPath: folder("stick/\(name)")))
    }

    @Test("Damaged and missing volumes are repaired in the copy")
    func repair() throws {
        try pack("a.tar.zst", "--repair", "20")
        try pack("b.tar.zst", "--volume-size", "4K", "--repair", "100", samples: ["shop", "webxr"], status: 0)
        #expect(folder.names.contains("stick"))
        let original = try folder.data("stick/a.tar.zst")
        let volumes = try [1, 2].map { try folder.data("stick/b.tar.zst.00\($0)") }
        try damage("a.tar.zst")
        let damaged = try folder.data("stick/a.tar.zst")
        _ = try tool("rm", folder("stick/b.tar.zst.001"))

        let verified = try pingferry("verify", "--json", folder("stick/a.tar.zst"))
        #expect(verified.status == 65)
        #expect(verified.errors.contains("; repairable: "), "\(verified.errors)")
        let checked = try receive()
        #expect(checked.status == 65)
        #expect(checked.errors.contains("repairable: "), "\(checked.errors)")
        #expect(checked.errors.contains("hint: pass --repair"), "\(checked.errors)")
        #expect(try names() == [])

        let finished = try receive("--repair")
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.contains { $0.hasPrefix("repaired ") && $0.hasSuffix(" in the copy") })
        #expect(try folder.data("received/a.tar.zst") == original)
        #expect(try [1, 2].map { try folder.data("received/b.tar.zst.00\($0)") } == volumes)
        #expect(try folder.data("stick/a.tar.zst") == damaged)
        #expect(
            try names() == [
                "a.tar.zst", "a.tar.zst.sig", "b.tar.zst.001", "b.tar.zst.002", "b.tar.zst.sha256", "b.tar.zst.sig",
            ])
    }

    @Test("Repair blocks that name files in other folders are not used")
    func foreignNames() throws {
        // Both names have the same length.
        try pack("pack1.tar.zst", "--repair", "50")
        try damage("pack1.tar.zst")
        let list = try folder.data("signers")
        for name in folder.stickNames where name.hasSuffix(".par2") {
            let path = folder("stick/\(name)")
            _ = try tool("sed", "-i", "s#pack1.tar.zst#../../signers#", path)
        }
        let finished = try receive("--repair")
        #expect(finished.status == 65)
        #expect(finished.errors.contains("pack1.tar.zst"), "\(finished.errors)")
        #expect(try folder.data("signers") == list)
        #expect(try names() == [])
    }

    @Test func repairBlocksOfBundles() throws {
        try pack("a.tar.zst", "--repair", "10")
        let names = folder.stickNames.filter { $0.hasSuffix(".par2") }
        #expect(names.count == 2)
        #expect(names.first == "a.tar.zst.par2")
        let again = try pingferry(
            "bundle", "-q", "--repair", "10", "-o", folder("stick/b.tar.zst"), sample("webxr"))
        #expect(again.status == 0)
        _ = try tool("rm", folder("stick/b.tar.zst"))
        let existing = try pingferry(
            "bundle", "-q", "--repair", "10", "-o", folder("stick/b.tar.zst"), sample("webxr"))
        #expect(existing.status == 73)
        #expect(existing.errors.contains("b.tar.zst.par2"))
        #expect(!folder.stickNames.contains("b.tar.zst"))
        let forced = try pingferry(
            "bundle", "-q", "--force", "--repair", "10", "-o", folder("stick/b.tar.zst"), sample("webxr"))
        #expect(forced.status == 0)
        #expect(try pingferry("bundle", "--repair", "10", "-o", "-", sample("webxr")).status == 64)
        #expect(try pingferry("bundle", "--repair", "101", "-o", folder("c.tar.zst"), sample("webxr")).status == 64)
    }

    @Test func missingProgram() throws {
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = folder("nothing")
        let finished = try RunningProgram(
            [pingferryPath, "bundle", "--repair", "10", "-o", folder("a.tar.zst"), sample("webxr")],
            environment: environment
        ).finish()
        #expect(finished.status == 69)
        #expect(finished.errors.contains("par2 is not installed"))
        #expect(!folder.names.contains("a.tar.zst"))
    }
}

extension TemporaryFolder {
    /// The sorted names in the folder `stick`.
    fileprivate var stickNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: self("stick"))) ?? []).sorted()
    }
}
