import Capture
import Files
import Foundation
import Parallel
import Telemetry
import TestSupport
import Testing

/// How a folder of Sift's SDK is found.
@Suite struct SiftDiscoveryTests {
    private let caches = "Library/Caches/sift-v0_0_1"

    private func copy(_ set: String, to place: String, in folder: CaptureFolder) throws {
        let source = "\(try SiftFixtures.path)/\(set)/\(caches)"
        let target = place.isEmpty ? folder.path : "\(folder.path)/\(place)"
        try tool(["mkdir", "-p", target])
        try tool(["cp", "-R", "\(source)/.", target])
    }

    @Test(
        "the folder is known by its name, or by what is in it",
        arguments: ["Library/Caches/sift-v0_0_1", "a/b/sift-v0_0_1", "x/renamed", ""])
    func places(place: String) async throws {
        let folder = try CaptureFolder()
        try copy("current", to: place, in: folder)
        let capture = try await folder.open()
        #expect(capture.stores.map(\.path) == [place])
        #expect(try await ReadCapture(capture).records.count == 5)
    }

    @Test("a folder of somebody else with the same file names is left alone")
    func stranger() async throws {
        let folder = try CaptureFolder()
        try folder.put("uploader", "not ours")
        try folder.put("sift", "bplist00 NSKeyedArchiver and so on")
        try folder.put("queues/a", "x")
        #expect(try await folder.open().stores.isEmpty)
    }

    @Test("an empty folder, or one with a part of its files, is no error")
    func empty() async throws {
        let folder = try CaptureFolder()
        try folder.makeFolder("\(caches)/queues")
        let capture = try await folder.open()
        #expect(capture.stores.map { $0.store.parts.map(\.path) } == [[caches]])
        let found = try await ReadCapture(capture)
        #expect(found.records.isEmpty && found.quarantined.isEmpty && found.problems.isEmpty)
    }

    @Test("the uploader comes first, then the queues by their identifiers")
    func order() async throws {
        let capture = try await CapturedFolder(
            path: "\(try SiftFixtures.path)/edge", label: "edge", limit: JobLimit(jobs: 2))
        #expect(
            capture.stores.flatMap(\.store.parts).map(\.path.utf8.count)
                == ["uploader", "queues/a queue/with slash", "queues/sift-default", "queues/ünïcode"]
                .map { "\(caches)/\($0)".utf8.count })
        #expect(capture.stores.map(\.store.fileCount) == [6])
    }

    @Test("the container tells the app")
    func container() async throws {
        let folder = try CaptureFolder()
        try copy("gen1-0.1.2", to: caches, in: folder)
        try folder.putPropertyList(
            ".com.apple.mobile_container_manager.metadata.plist", ["MCMMetadataIdentifier": "com.example.shop"])
        let found = try await ReadCapture(folder.open())
        #expect(found.records.map(\.app) == Array(repeating: App(id: "com.example.shop"), count: 3))
    }

    @Test(
        "a single file is known by its place or its contents",
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

    @Test("a file that is no archive of the SDK is no capture", arguments: ["settings.plist", "note.txt"])
    func otherFile(name: String) async throws {
        let folder = try CaptureFolder()
        try tool(["cp", "\(try SiftFixtures.path)/mixed/\(caches)/queues/\(name)", folder.path])
        #expect(try CapturedFolder(file: "\(folder.path)/\(name)", label: "file") == nil)
    }

    @Test("the keys are listed by their hash alone when they cannot be read")
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

    @Test("a key archive is not copied under any name", arguments: ["uploader", "queues/sift"])
    func misplacedKeys(name: String) async throws {
        let folder = try CaptureFolder()
        try copy("current", to: caches, in: folder)
        let keys = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(SiftFixtures.path)/current/\(caches)/sift")))
        try folder.put("\(caches)/\(name)", keys)
        let found = try await ReadCapture(folder.open())
        #expect(found.quarantined.map(\.path) == ["\(caches)/\(name)"])
        #expect(found.quarantined.map(\.isStored) == [false])
    }

    @Test("links among the queues are told and not followed, hidden files ignored")
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

    @Test("one job finds what many find, byte for byte")
    func jobs() async throws {
        let path = "\(try SiftFixtures.path)/gen4-2.1.0"
        #expect(try await ReadCapture(path: path, jobs: 1).lines == ReadCapture(path: path, jobs: 8).lines)
    }

    @Test("two copies of a container come out once")
    func copies() async throws {
        let folder = try CaptureFolder()
        for name in ["one", "two"] { try copy("gen3-1.0.1", to: "\(name)/\(caches)", in: folder) }
        let found = try await ReadCapture(folder.open())
        #expect(found.duplicates == 5)
    }
}
