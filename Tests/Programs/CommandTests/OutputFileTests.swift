import Foundation
import TestSupport
import Testing

/// Tests that no output replaces an input or another output, by any path that leads to it.
@Suite struct OutputFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("inputs")
        #expect(try pingferry("bundle", "-q", "-o", folder("inputs/a.tar.zst"), sample("shop")).status == 0)
        #expect(
            try pingferry(
                "bundle", "-q", "--volume-size", "4K", "--index", folder("inputs/b.index"), "-o",
                folder("inputs/b.tar.zst"), sample("shop"), sample("webxr")
            ).status == 0)
        #expect(try pingferry("pseudonym-key", "-q", "-o", folder("inputs/key")).status == 0)
        for name in ["a.tar.zst.sig", "password", "signers", "revoked", "digests"] {
            try folder.put("contents of \(name)\n", "inputs/\(name)")
        }
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "inputs")
    }

    private func input(_ name: String) -> String { folder("inputs/\(name)") }

    /// Runs a command, and checks that it fails with `status` and changes nothing.
    private func expectRefusal(_ words: [String], status: Int32, _ message: String) throws {
        let before = try snapshot(folder.path).filter { $0.value[0] != "folder" }
        let finished = try RunningProgram([pingferryPath] + words).finish()
        #expect(finished.status == status, "\(words): \(finished.errors)")
        #expect(finished.errors.contains(message), "\(words): \(finished.errors)")
        #expect(try snapshot(folder.path).filter { $0.value[0] != "folder" } == before, "\(words)")
    }

    @Test(
        "An output is not a file that the command reads",
        arguments: [
            "a.tar.zst", "a.tar.zst.sig", "b.tar.zst.001", "b.tar.zst.002", "b.tar.zst.sha256", "key", "password",
        ])
    func inputs(name: String) throws {
        let words = [
            "--force", "--pseudonymize", input("key"), "--password-file", input("password"), input("a.tar.zst"),
            input("b.tar.zst.001"),
        ]
        try FileManager.default.linkItem(atPath: input(name), toPath: folder("hard"))
        for output in [input(name), folder("link/\(name)"), folder("inputs/../link/./\(name)"), folder("hard")] {
            for command in [
                ["bundle", "-o", output], ["convert", "--to", "ndjson", "-o", output], ["report", "-o", output],
            ] {
                try expectRefusal(command + words, status: 73, "cannot replace \(output): it is part of the input")
            }
            for option in ["--index", "--receipt"] {
                try expectRefusal(
                    ["bundle", "-o", folder("new.tar.zst"), option, output] + words, status: 73,
                    "cannot replace \(output)")
            }
        }
    }

    @Test("The temporary files of an output are no inputs, either")
    func temporaryFiles() throws {
        try FileManager.default.moveItem(atPath: input("a.tar.zst"), toPath: folder(".new.tar.zst.partial"))
        try expectRefusal(
            ["bundle", "-o", folder("new.tar.zst"), folder(".new.tar.zst.partial")], status: 73, "cannot replace")
        try folder.makeFolder(".new.csv.partial")
        try FileManager.default.moveItem(
            atPath: folder(".new.tar.zst.partial"), toPath: folder(".new.csv.partial/records.csv"))
        try expectRefusal(
            ["convert", "-o", folder("new.csv"), folder(".new.csv.partial/records.csv")], status: 73, "cannot replace")
        try FileManager.default.moveItem(atPath: folder(".new.csv.partial"), toPath: folder("new.sqlite-wal"))
        try expectRefusal(
            ["convert", "--force", "-o", folder("new.sqlite"), folder("new.sqlite-wal")], status: 73, "cannot replace")
    }

    @Test(
        "A receipt of verify is not a file that verify reads",
        arguments: [
            "a.tar.zst", "a.tar.zst.sig", "b.tar.zst.002", "b.tar.zst.sha256", "signers", "revoked", "digests",
            "b.index",
        ])
    func receiptOfVerify(name: String) throws {
        for receipt in [input(name), folder("link/\(name)")] {
            try expectRefusal(
                [
                    "verify", "--force", "--receipt", receipt, "--signers", input("signers"), "--revoked",
                    input("revoked"),
                    "--digest-file", input("digests"), "--index", input("b.index"), input("a.tar.zst"),
                    input("b.tar.zst.001"),
                ], status: 73, "cannot replace \(receipt): it is part of the input")
        }
    }

    @Test("A file of a backup is not replaced", arguments: ["report", "convert", "bundle"])
    func backup(command: String) throws {
        try folder.makeFolder("phone")
        let backup = try folder.copySample("backup", to: "phone/backup")
        let files = try FileManager.default.subpathsOfDirectory(atPath: backup)
        let stored = try #require(files.first { $0.contains("/") })
        for name in [stored, "Manifest.plist", "Manifest.db", "Info.plist"] {
            for input in [backup, folder("phone"), "\(backup)/../backup/"] {
                let output = "\(backup)/\(name)"
                try expectRefusal(
                    [command, "--force", "-q", "-o", output, input], status: 73,
                    "cannot replace \(output): it is part of the input")
            }
        }
    }

    @Test("Two outputs are not the same file, even if none of them exists")
    func outputs() throws {
        try folder.put("", "inputs/exists")
        for (first, second) in [
            ("new", "new"), ("new", "link/../new"), ("inputs/new", "link/new"), ("inputs/new", "link/./NEW"),
            ("inputs/exists", "link/exists"), ("new", ".new.partial"),
        ] {
            for options in [["-o", "--index"], ["-o", "--receipt"], ["--index", "--receipt"]] {
                let output = options.contains("-o") ? [] : ["-o", folder("other.tar.zst")]
                try expectRefusal(
                    ["bundle", "--force", options[0], folder(first), options[1], folder(second), sample("shop")]
                        + output,
                    status: 64, "pingferry: ")
            }
        }
    }

    @Test("An index can replace the index that it continues, and only that")
    func continuedIndex() throws {
        let words = ["bundle", "-q", sample("webxr"), "-o", folder("c.tar.zst"), "--since-index", input("b.index")]
        try expectRefusal(words + ["--receipt", folder("link/b.index"), "--force"], status: 73, "cannot replace")
        #expect(try RunningProgram([pingferryPath] + words + ["--index", folder("link/b.index")]).finish().status == 0)
    }

    @Test("An empty TMPDIR is not a folder", arguments: ["scan", "bundle -q -o"])
    func emptyTemporaryFolder(command: String) throws {
        try tool(["sh", "-c", #"cd "$1" && zip -qr "$2" webxr"#, "sh", "\(repository)/samples", folder("webxr.zip")])
        let output = command == "scan" ? "" : folder("new.tar.zst")
        let finished = try shell(#"TMPDIR= "$0" \#(command) \#(output) "$1""#, [folder("webxr.zip")])
        #expect(finished.status == 0, "\(finished.errors)")
    }
}
