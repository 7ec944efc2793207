import Bytes
import Capture
import Files
import Foundation
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests of the detection of inputs, and the errors for inputs that cannot be used.
@Suite struct InputOpenerTests {
    let folder: CaptureFolder

    init() throws {
        folder = try CaptureFolder()
        try folder.put("phone/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("a.har", archive(coreEntry(1)))
        try folder.makeFolder("empty")
    }

    private func open(
        _ name: String, label: String? = nil, excluded: [String] = [], salvagesDamagedBundles: Bool = false
    ) async throws -> CaptureInput {
        let identities = excluded.compactMap { FileIdentity(path: "\(folder.path)/\($0)") }
        #expect(identities.count == excluded.count)
        let opening = InputOpener(
            labels: [label].compactMap(\.self), systems: Systems.table, limit: JobLimit(jobs: 2),
            excluded: Set(identities),
            salvagesDamagedBundles: salvagesDamagedBundles, spool: Spool())
        let inputs = try await opening.open(["\(folder.path)/\(name)"])
        return try #require(inputs.count == 1 ? inputs[0] : nil)
    }

    /// Returns the error for an input, or `nil` if it can be opened.
    private func openingError(
        _ name: String, excluded: [String] = [], salvagesDamagedBundles: Bool = false
    ) async throws -> InputError? {
        do {
            _ = try await open(name, excluded: excluded, salvagesDamagedBundles: salvagesDamagedBundles)
            return nil
        } catch let error as InputError {
            return error
        }
    }

    private func message(_ error: InputError?) -> String? {
        error?.message.replacing("\(folder.path)/", with: "")
    }

    private func bundle(_ name: String) async throws {
        try await Sample.bundle([Sample.leanplum(["{}"])], at: "\(folder.path)/\(name)")
    }

    // MARK: Detection

    @Test("The label of a folder is the end of its path, or the label that is given")
    func folders() async throws {
        for (label, name) in [(nil, "phone"), ("tablet", "tablet")] {
            guard case .folder(let capture) = try await open("phone", label: label) else {
                Issue.record("no folder")
                continue
            }
            #expect(capture.label == name)
            #expect(capture.stores.map(\.path) == [corePings])
        }
    }

    @Test("A store file is a capture without other files")
    func storeFile() async throws {
        guard case .folder(let capture) = try await open("phone/\(corePings)/-t-1.json") else {
            Issue.record("no store")
            return
        }
        #expect(capture.stores.map(\.path) == ["-t-1.json"])
        #expect(capture.label == "-t-1.json")
    }

    @Test("A request log is recognized regardless of its name", arguments: ["a.har", "anything"])
    func log(name: String) async throws {
        try folder.put(name, archive(coreEntry(1)))
        guard case .log(let log) = try await open(name) else {
            Issue.record("no log")
            return
        }
        #expect(log.kind == .httpArchive)
        #expect(log.path == name)
    }

    @Test("A bundle is read by its manifest, or as far as possible if it is salvaged")
    func bundles() async throws {
        try await bundle("b.tar.zst")
        guard case .bundle(let reader) = try await open("b.tar.zst") else {
            Issue.record("no bundle")
            return
        }
        #expect(reader.manifest.totals.records == 1)
        guard case .salvage = try await open("b.tar.zst", salvagesDamagedBundles: true) else {
            Issue.record("not to be salvaged")
            return
        }
    }

    @Test("An archive is searched like the folder that was packed")
    func archives() async throws {
        try tool(["bash", "-c", "cd \"$0/phone\" && tar -czf ../phone.tgz .", folder.path])
        guard case .folder(let capture) = try await open("phone.tgz") else {
            Issue.record("no archive")
            return
        }
        #expect(capture.stores.map(\.path) == [corePings])
    }

    // MARK: Errors

    @Test("A path to nothing causes a file error")
    func missing() async {
        let error = await #expect(throws: FileError.self) { try await open("none") }
        #expect(error?.code == ENOENT)
    }

    @Test("The error for an unknown input states what to give instead")
    func unrecognized() async throws {
        try folder.put("notes.txt", "x")
        for name in ["empty", "notes.txt"] {
            let error = try await openingError(name)
            #expect(message(error) == "\(name): no known store was found")
            #expect(
                error?.remedy
                    == "pass the folder that was pulled from the device, with its Documents and Library folders")
        }
    }

    @Test("A capture with nothing but a problem causes an error with that problem")
    func noStores() async throws {
        try folder.makeFolder("links/Documents")
        try folder.link("links/Documents/MozTelemetry-Default-core", to: "nowhere")
        let error = try await openingError("links")
        #expect(
            message(error) == """
                links: Documents/MozTelemetry-Default-core: symbolic link to nowhere not followed; give that as a \
                capture of its own
                """)
        #expect(error?.remedy == nil)
    }

    @Test("The output can be neither an input nor a part of one")
    func output() async throws {
        #expect(
            message(try await openingError("a.har", excluded: ["a.har"]))
                == "cannot replace a.har: it is part of the input")
        let store = "Documents/MozTelemetry-Default-core.json"
        try folder.put("phone/\(store)", "[\(CaptureFolder.ping(2))]")
        let error = try await openingError("phone", excluded: ["phone/\(store)"])
        #expect(message(error) == "cannot replace phone/\(store): it is part of the input")
        #expect(error?.remedy == "give the output another name")
        // A file that belongs to no store may be replaced.
        try folder.put("phone/out.ndjson", "")
        #expect(try await openingError("phone", excluded: ["phone/out.ndjson"]) == nil)
    }

    @Test("The error for a file that is too large names the command that shows it")
    func tooLarge() async throws {
        try folder.putSparse("disk.img", size: InputLimits.keyedArchiveSize + 1)
        let error = try await openingError("disk.img")
        #expect(
            message(error)
                == "disk.img: too-large: more than \(InputLimits.keyedArchiveSize >> 20) MiB, and its name is not that of a store"
        )
        #expect(error?.remedy == "if it is a property list, pingferry inspect --max-size shows it")
    }

    @Test("The error for a damaged bundle states the fault and a remedy")
    func damagedBundle() async throws {
        try await bundle("b.tar.zst")
        let path = "\(folder.path)/b.tar.zst"
        try Data(contentsOf: URL(fileURLWithPath: path)).dropLast(1).write(to: URL(fileURLWithPath: path))
        let error = try await openingError("b.tar.zst")
        guard case .bundle(let reason, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message(error) == "b.tar.zst: \(reason)")
        #expect(error?.remedy == reason.remedy)
        #expect(try await openingError("b.tar.zst", salvagesDamagedBundles: true) == nil)
    }

    @Test("The error for an unreadable archive contains its name", arguments: ["a.zip", "a.tar.gz"])
    func damagedArchive(name: String) async throws {
        try folder.put(name, name == "a.zip" ? Array("PK no archive".utf8) : [0x1F, 0x8B, 8, 0, 1])
        let error = try await openingError(name)
        guard case .archive(let reason, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message(error) == "\(name): \(reason)")
        #expect(error?.remedy == reason.remedy)
    }

    @Test("Only the first unusable input is reported")
    func several() async throws {
        let opening = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
        let inputs = try await opening.open(["\(folder.path)/phone", "\(folder.path)/a.har"])
        #expect(inputs.count == 2)
        let error = await #expect(throws: InputError.self) {
            _ = try await opening.open(["\(folder.path)/empty", "\(folder.path)/empty/."])
        }
        #expect(message(error) == "empty: no known store was found")
        await #expect(throws: FileError.self) {
            _ = try await opening.open(["\(folder.path)/phone", "\(folder.path)/empty", "\(folder.path)/none"])
        }
    }

    @Test("Inputs without stores among others are reported, and the others are read")
    func withoutStores() async throws {
        try folder.put("session.chls", [0xAC, 0xED, 0x00, 0x05])
        let opening = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
        let inputs = try await opening.open(["empty", "phone", "session.chls"].map { "\(folder.path)/\($0)" })
        var found: [ReadCapture] = []
        for input in inputs { found.append(try await ReadCapture(input)) }
        #expect(found.map(\.records.count) == [0, 1, 0])
        #expect(found.map { $0.problems.map(\.problem.code) } == [["no-stores"], [], ["no-stores"]])
        #expect(
            found[0].problems.allSatisfy { $0.problem.isLoss && $0.problem.text.hasPrefix("no known store was found") })
    }

    @Test(
        "A file in a known format that is not read is named",
        arguments: [
            ([0xAC, 0xED, 0x00, 0x05], "a Charles session"), ([0xD4, 0xC3, 0xB2, 0xA1], "a packet capture"),
            (Array("ANDROID BACKUP\n5\n".utf8), "an Android backup"), (Array("encrcdsa".utf8), "a disk image"),
            (Array("AA01".utf8), "an Apple Archive"),
            ([0x45, 0x56, 0x46, 0x09, 0x0D, 0x0A, 0xFF, 0x00], "a forensic disk image"),
            (Array("21:7:version;2:21#".utf8), "a mitmproxy flow file"),
            ([UInt8](repeating: 1, count: 9) + Array("koly".utf8) + [UInt8](repeating: 0, count: 508), "a disk image"),
            (Array("<?xml version=\"1.0\"?><items burpVersion=\"2\">".utf8), "a list of requests from Burp"),
        ] as [([UInt8], String)])
    func unreadFormats(bytes: [UInt8], name: String) async throws {
        try folder.put("x", bytes)
        let error = try await openingError("x")
        #expect(message(error) == "x: not read: \(name)")
        #expect(error?.remedy != nil)
    }
}
