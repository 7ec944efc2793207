import Files
import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Bundle

/// Tests of bundles that are read from volumes, and of the messages about faulty volumes.
@Suite struct VolumeReadingTests {
    private let folder: TemporaryFolder
    private let bytes: [UInt8]
    private let digest: String

    /// Creates a bundle whose records hardly compress, in volumes of 4 KiB.
    init() async throws {
        folder = try TemporaryFolder(inMemory: true)
        var random = SeededGenerator(seed: 7)
        let records = (0..<150).map { number in
            var record = SampleBundle.record(number)
            let text = (0..<16).map { _ in String(UInt64.random(in: 0 ... .max, using: &random), radix: 36) }.joined()
            record.payload = Array(#"{"a":"\#(text)"}"#.utf8)
            return record
        }
        let bundle = try await SampleBundle.pack(records)
        (bytes, digest) = (bundle.bytes, bundle.manifest.digest)
        var writer = try VolumeWriter(
            path: folder("a.tar.zst"), size: try #require(VolumeSize(text: "4K")), replacing: false)
        try writer.write(bytes.span)
        #expect(try writer.commit().count > 5)
    }

    private var first: String { folder("a.tar.zst.001") }

    private func name(_ number: Int) -> String { "a.tar.zst.00\(number)" }

    /// Returns the error of opening the bundle and of comparing its volumes with the list.
    private func message(_ path: String? = nil) -> String? {
        do throws(BundleError) {
            try BundleReader(path: path ?? first).volumes?.verifyHashes()
            return nil
        } catch {
            return error.description
        }
    }

    private func removeList() { unlink(folder("a.tar.zst.sha256")) }

    private func edit(_ number: Int, _ change: (inout Data) -> Void) throws {
        var data = try folder.data(name(number))
        change(&data)
        try data.write(to: URL(fileURLWithPath: folder(name(number))))
    }

    @Test("Volumes are read as one bundle", arguments: [true, false])
    func good(hasList: Bool) throws {
        if !hasList { removeList() }
        let reader = try BundleReader(path: first)
        #expect(reader.manifest.digest == digest)
        let set = try #require(reader.volumes)
        #expect((set.list != nil) == hasList)
        try set.verifyHashes()
        #expect(try set.source.bytes(at: 0, count: bytes.count + 1) == bytes)
        for (offset, count) in [(4095, 2), (0, 4096), (4096, 1), (4000, 9000), (bytes.count - 1, 5), (bytes.count, 5)] {
            let expected = Array(bytes.dropFirst(offset).prefix(count))
            #expect(try set.source.bytes(at: offset, count: count) == expected)
        }
    }

    @Test("All missing volumes are reported, with and without a list", arguments: [true, false])
    func missing(hasList: Bool) throws {
        if !hasList { removeList() }
        unlink(folder(name(2)))
        unlink(folder(name(4)))
        #expect(message() == "\(name(2)) is missing; \(name(4)) is missing")
        unlink(first)
        #expect(message() == "\(name(1)) is missing; \(name(2)) is missing; \(name(4)) is missing")
    }

    @Test("A missing last volume is reported, with and without a list", arguments: [true, false])
    func lastMissing(hasList: Bool) throws {
        if !hasList { removeList() }
        let last = try #require(folder.names.last { $0.hasPrefix("a.tar.zst.0") })
        unlink(folder(last))
        #expect(message() == "\(last) is missing")
    }

    @Test("Volumes of the wrong size are reported, with and without a list", arguments: [true, false])
    func lengths(hasList: Bool) throws {
        if !hasList { removeList() }
        try edit(3) { $0.removeLast() }
        try edit(5) { $0.append(1) }
        #expect(message() == "\(name(3)) has 4095 bytes, not 4096; \(name(5)) has 4097 bytes, not 4096")
    }

    @Test("Volumes that differ from the list are reported")
    func listed() throws {
        try edit(2) { $0[100] ^= 1 }
        #expect(
            message()
                == "\(name(2)) is damaged or belongs to another bundle: its contents do not match the list of volumes")
        try edit(2) { $0[100] ^= 1 }
        #expect(message() == nil)
        let (second, third) = (try folder.data(name(2)), try folder.data(name(3)))
        try edit(2) { $0 = third }
        #expect(message() == "\(name(2)) is a copy of \(name(3))")
        try edit(3) { $0 = second }
        #expect(message() == "\(name(2)) has the contents of \(name(3)); \(name(3)) has the contents of \(name(2))")
    }

    @Test("Without a list, damage is reported with its position")
    func unlisted() throws {
        removeList()
        try edit(3) { $0[100] ^= 1 }
        let error = #expect(throws: BundleError.self) {
            let reader = try BundleReader(path: first)
            var decoder = FrameDecoder()
            _ = try reader.contents(of: reader.manifest.segments[0].path, with: &decoder)
        }
        // The frame starts before the damage and ends after it.
        guard case .volumes(let faults)? = error, case .damaged(let offset, let last, _) = faults[0].kind
        else {
            Issue.record("\(error.map(String.init(describing:)) ?? "")")
            return
        }
        #expect(faults.count == 1)
        #expect(faults[0].name < name(3) || faults[0].name == name(3) && offset <= 100)
        #expect((last ?? faults[0].name) >= name(3))
    }

    @Test("A malformed list is reported", arguments: ["", "x", "\n"])
    func badLists(text: String) throws {
        try folder.put(text, "a.tar.zst.sha256")
        #expect(message()?.hasPrefix("a.tar.zst.sha256: ") == true)
        #expect(message()?.contains("missing") == false)
    }

    @Test("A volume that is not in the list is reported")
    func extra() throws {
        try folder.put("x", "a.tar.zst.777")
        #expect(message() == "a.tar.zst.777 is not in the list of the volumes")
    }

    @Test("A wrong path of a split bundle is reported with the path of its first volume")
    func wrongPaths() {
        #expect(message(folder(name(2))) == "it is not the first volume of a bundle; pass \(first)")
        #expect(
            message(folder("a.tar.zst")) == "there is no such file, but the bundle is split into volumes; pass \(first)"
        )
        let none = folder("b.tar.zst.001")
        #expect(message(none) == "cannot open \(none): No such file or directory")
        #expect(message(folder("a.tar.zst.444")) == "cannot open \(folder("a.tar.zst.444")): No such file or directory")
    }

    @Test("Volumes with other names are recognized by their first bytes")
    func otherNames() throws {
        for number in 1...5 { _ = rename(folder(name(number)), folder("night.00\(number)")) }
        for number in 6...9 { _ = rename(folder(name(number)), folder("night.00\(number)")) }
        #expect(message(folder("night.001")) == nil)
        #expect(message(folder("night.002")) == "it is not the first volume of a bundle; pass \(folder("night.001"))")
        try folder.put("text", "notes.001")
        try folder.put("text", "notes.002")
        for name in ["notes.001", "notes.002"] {
            #expect(message(folder(name)) == "byte 0: not a bundle (not zstd data)")
        }
    }

    @Test("Reading ends where a volume was shortened, and ignores appended bytes")
    func changing() throws {
        let reader = try BundleReader(path: first)
        let set = try #require(reader.volumes)
        #expect(truncate(folder(name(2)), 5000) == 0)
        #expect(try set.source.bytes(at: 0, count: bytes.count) == bytes)
        #expect(truncate(folder(name(2)), 1000) == 0)
        #expect(try set.source.bytes(at: 0, count: bytes.count) == Array(bytes.prefix(5096)))
        #expect(throws: BundleError.self) { try set.verifyHashes() }
    }

    /// Returns the error that `verify` reports.
    private func verdict() async -> String? {
        if let message = message() { return message }
        do {
            let reader = try BundleReader(path: first)
            try await BundleVerifier(reader, limit: JobLimit(jobs: 1)).verify { _ in }
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("Every changed byte in a volume or in the list is detected", arguments: [true, false])
    func everyChangeIsFound(hasList: Bool) async throws {
        if !hasList { removeList() }
        var random = SeededGenerator(seed: 16)
        let names = folder.names
        for _ in 0..<300 {
            let name = try #require(names.randomElement(using: &random))
            let before = try folder.data(name)
            var after = before
            let place = Int.random(in: 0..<after.count, using: &random)
            after[place] ^= UInt8.random(in: 1...255, using: &random)
            try after.write(to: URL(fileURLWithPath: folder(name)))
            let found = try #require(await verdict(), "\(name) byte \(place)")
            // After a change of the list, all volumes can be reported. Without a list, the volume can be another one.
            #expect(found.contains(name) || !hasList || name == "a.tar.zst.sha256", "\(name) byte \(place): \(found)")
            try before.write(to: URL(fileURLWithPath: folder(name)))
        }
        #expect(await verdict() == nil)
    }
}
