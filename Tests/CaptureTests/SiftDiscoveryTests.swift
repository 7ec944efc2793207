import Capture
import Files
import Foundation
import Telemetry
import TestSupport
import Testing

/// Tests of the detection of the folder of Sift's SDK.
@Suite struct SiftDiscoveryTests {
    private let caches = "Library/Caches/sift-v0_0_1"

    private func copy(_ set: String, to place: String, in folder: CaptureFolder) throws {
        let source = "\(try SiftFixtures.path)/\(set)/\(caches)"
        let target = place.isEmpty ? folder.path : "\(folder.path)/\(place)"
        try tool(["mkdir", "-p", target])
        try tool(["cp", "-R", "\(source)/.", target])
    }

    @Test(
        "The folder is recognized by its name or by its contents",
        arguments: ["Library/Caches/sift-v0_0_1", "a/b/sift-v0_0_1", "x/renamed", ""])
    func places(place: String) async throws {
        let folder = try CaptureFolder()
        try copy("current", to: place, in: folder)
        let capture = try await folder.open()
        #expect(capture.stores.map(\.path) == [place])
        #expect(try await ReadCapture(capture).records.count == 5)
    }

    @Test("A folder of another library with the same file names is ignored")
    func otherLibrary() async throws {
        let folder = try CaptureFolder()
        try folder.put("uploader", "not ours")
        try folder.put("sift", "bplist00 NSKeyedArchiver and so on")
        try folder.put("queues/a", "x")
        #expect(try await folder.open().stores.isEmpty)
    }

    @Test("An empty folder or one with only some of its files causes no error")
    func empty() async throws {
        let folder = try CaptureFolder()
        try folder.makeFolder("\(caches)/queues")
        let capture = try await folder.open()
        #expect(capture.stores.map { $0.store.parts.map(\.path) } == [[caches]])
        let found = try await ReadCapture(capture)
        #expect(found.records.isEmpty && found.quarantined.isEmpty && found.problems.isEmpty)
    }

    @Test("The uploader precedes the queues, which are sorted by their identifiers")
    func order() async throws {
        let capture = try await CapturedFolder(
            path: "\(try SiftFixtures.path)/edge", label: "edge", limit: JobLimit(jobs: 2))
        #expect(
            capture.stores.flatMap(\.store.parts).map(\.path.utf8.count)
                == ["uploader", "queues/a queue/with slash", "queues/sift-default", "queues/ünïcode"]
                .map { "\(caches)/\($0)".utf8.count })
        #expect(capture.stores.map(\.store.fileCount) == [6])
    }

    @Test("The container identifies the app")
    func container() async throws {
        let folder = try CaptureFolder()
        try copy("gen1-0.1.2", to: caches, in: folder)
        try folder.putPropertyList(
            ".com.apple.mobile_container_manager.metadata.plist", ["MCMMetadataIdentifier": "com.example.shop"])
        let found = try await ReadCapture(folder.open())
        #expect(found.records.map(\.app) == Array(repeating: App(id: "com.example.shop"), count: 3))
    }

    @Test(
        "A single file is recognized by its path or its contents",
        arguments: [
            ("sift-v0_0_1/queues/sift-default", "sift-default", 1), ("sift-v0_0_1/uploader", "uploader", 2),
            ("elsewhere/copy", "copy", 1), ("elsewhere/batches.bin", "batches.bin", 2),
        ])
    func singleFile(place: String, name: String, records: Int) async throws {
        let folder = try CaptureFolder()
        try copy("current", to: "sift-v0_0_1", in: folder)
        try folder.makeFolder("elsewhere")
        try tool(["cp", "\(folder.path)/sift-v0_0_1/queues/sift-default", "\(folder.path)/elsewhere/copy"])
        try tool(["cp", "\(folder.path)/sift-v0_0_1/uploader", "\(folder.path)/elsewhere/batches.bin"])
        let capture = try #require(try CapturedFolder(file: "\(folder.path)/\(place)", label: "file"))
        let found = try await ReadCapture(capture)
        #expect(found.records.map(\.source.path) == Array(repeating: name, count: records))
        #expect(found.records.allSatisfy { $0.held == [.noTarget] })
    }

    @Test("A file that is not an archive of the SDK is not a capture", arguments: ["settings.plist", "note.txt"])
    func otherFile(name: String) async throws {
        let folder = try CaptureFolder()
        try tool(["cp", "\(try SiftFixtures.path)/mixed/\(caches)/queues/\(name)", folder.path])
        #expect(try CapturedFolder(file: "\(folder.path)/\(name)", label: "file") == nil)
    }

    @Test("Keys that cannot be read are listed by their hash only")
    func keys() async throws {
        let folder = try CaptureFolder()
        try copy("current", to: caches, in: folder)
        let keys = Array("bplist00 beaconKey f3b9demo01".utf8)
        try folder.put("\(caches)/sift", keys)
        let found = try await ReadCapture(folder.open())
        #expect(found.quarantined.map(\.path) == ["\(caches)/sift"])
        #expect(found.quarantined.map(\.isStored) == [false])
        #expect(found.quarantined.map(\.sha256) == [PayloadHash.hex(of: keys)])
        #expect(found.records.allSatisfy { $0.held == [.noTarget] })
    }

    @Test("A key archive is never copied, regardless of its name", arguments: ["uploader", "queues/sift"])
    func misplacedKeys(name: String) async throws {
        let folder = try CaptureFolder()
        try copy("current", to: caches, in: folder)
        let keys = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(SiftFixtures.path)/current/\(caches)/sift")))
        try folder.put("\(caches)/\(name)", keys)
        let found = try await ReadCapture(folder.open())
        #expect(found.quarantined.map(\.path) == ["\(caches)/\(name)"])
        #expect(found.quarantined.map(\.isStored) == [false])
    }

    @Test("Links among the queues are reported and not followed, and hidden files are ignored")
    func links() async throws {
        let folder = try CaptureFolder()
        try copy("current", to: caches, in: folder)
        try folder.link("\(caches)/queues/more", to: "/")
        try folder.link("\(caches)/queues/again", to: "sift-default")
        try folder.put("\(caches)/queues/.dat.nosync0001", "left over")
        let found = try await ReadCapture(folder.open())
        #expect(found.records.count == 5)
        #expect(found.quarantined.isEmpty)
        #expect(
            found.problems.map { "\($0.problem.code) \($0.path)" }
                == ["link \(caches)/queues/again", "link \(caches)/queues/more"])
    }

    @Test("One job yields the same bytes as several jobs")
    func jobs() async throws {
        let path = "\(try SiftFixtures.path)/gen4-2.1.0"
        #expect(try await ReadCapture(path: path, jobs: 1).lines == ReadCapture(path: path, jobs: 8).lines)
    }

    @Test("The records of two copies of a container are kept once")
    func copies() async throws {
        let folder = try CaptureFolder()
        for name in ["one", "two"] { try copy("gen3-1.0.1", to: "\(name)/\(caches)", in: folder) }
        let found = try await ReadCapture(folder.open())
        #expect(found.duplicates == 5)
    }
}
