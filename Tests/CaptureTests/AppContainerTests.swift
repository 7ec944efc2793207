import Foundation
import Mozilla
import Telemetry
import Testing

@testable import Capture

/// Tests of the container that a store belongs to, and the app that owns it.
@Suite struct AppContainerTests {
    private static let metadata = ".com.apple.mobile_container_manager.metadata.plist"

    private func applicationIDs(_ folder: CaptureFolder) async throws -> [String?] {
        try await ReadCapture(folder.open()).records.map { $0.app?.id }
    }

    @Test("Metadata names the app of a container, in binary and XML property lists", arguments: [true, false])
    func metadata(binary: Bool) async throws {
        let folder = try CaptureFolder()
        for (number, id) in ["org.mozilla.ios.Focus", "org.mozilla.ios.Klar"].enumerated() {
            try folder.putPropertyList(
                "\(number)/\(Self.metadata)", ["MCMMetadataIdentifier": id, "MCMMetadataUUID": "x"], binary: binary)
            try folder.put("\(number)/\(corePings)/-t-1.json", CaptureFolder.ping(number))
        }
        try folder.put("2/\(corePings)/-t-1.json", CaptureFolder.ping(2))
        #expect(try await applicationIDs(folder) == ["org.mozilla.ios.Focus", "org.mozilla.ios.Klar", nil])
        let capture = try await folder.open()
        #expect(capture.stores.map(\.container.path) == ["0", "1", "2"])
    }

    @Test("Stores of one container belong together, even with a store of another container between them")
    func storesOfOneContainer() async throws {
        let folder = try CaptureFolder()
        for (path, id) in [("x", "org.mozilla.ios.Focus"), ("x/Kid", "org.mozilla.ios.Klar")] {
            try folder.putPropertyList("\(path)/\(Self.metadata)", ["MCMMetadataIdentifier": id])
        }
        try folder.put("x/Documents/MozTelemetry-core.json", "[\(CaptureFolder.ping(1))]")
        try folder.put("x/Kid/\(corePings)/-t-2.json", CaptureFolder.ping(2))
        let caches = "x/Library/Caches/MozTelemetry-Default-core"
        try folder.put("\(caches)/-t-3.json", CaptureFolder.ping(3))
        let stores = try await folder.open().stores
        #expect(stores.map(\.path) == ["x/Documents/MozTelemetry-core.json", "x/Kid/\(corePings)", caches])
        #expect(stores.map(\.container.path) == ["x", "x/Kid", "x"])
        #expect(stores.map(\.container.identifier).map { $0 ?? "" }.map { $0.suffix(4) } == ["ocus", "Klar", "ocus"])
        #expect(stores.map(\.containerNumber) == [0, 1, 0])
        let neighbors = stores.map { store in store.neighbors.stores.map(\.path) }
        #expect(neighbors == [[stores[0].path, caches], [stores[1].path], [stores[0].path, caches]])
        #expect(stores[0].neighbors.store(at: caches)?.path == caches)
        #expect(stores[0].neighbors.store(at: stores[1].path) == nil)
    }

    @Test("Metadata can be in the root of the capture")
    func metadataInTheRoot() async throws {
        let folder = try CaptureFolder()
        try folder.putPropertyList(Self.metadata, ["MCMMetadataIdentifier": "org.mozilla.ios.Focus"])
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping())
        #expect(try await applicationIDs(folder) == ["org.mozilla.ios.Focus"])
    }

    @Test("Metadata in the root of an archive applies to that archive only")
    func metadataInAnArchive() async throws {
        let klar = try PropertyListSerialization.data(
            fromPropertyList: ["MCMMetadataIdentifier": "org.mozilla.ios.Klar"], format: .xml, options: 0)
        let memberWithMetadata = TestArchive.Member.file(Self.metadata, String(decoding: klar, as: UTF8.self))
        let folder = try CaptureFolder()
        try folder.putPropertyList(Self.metadata, ["MCMMetadataIdentifier": "org.mozilla.ios.Focus"])
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("named.zip", try TestArchive("zip", [memberWithMetadata, .ping(2)]).bytes)
        try folder.put("unnamed.zip", try TestArchive("zip", [.ping(3)]).bytes)
        let stores = try await folder.open().stores
        #expect(stores.map(\.container.path) == ["", "named.zip!", "unnamed.zip!"])
        #expect(stores.map(\.container.identifier) == ["org.mozilla.ios.Focus", "org.mozilla.ios.Klar", nil])
    }

    @Test("Metadata with other contents names no app")
    func otherMetadata() async throws {
        let folder = try CaptureFolder()
        try folder.put("0/\(Self.metadata)", "no property list")
        try folder.putPropertyList("1/\(Self.metadata)", ["MCMMetadataIdentifier": 7])
        try folder.putPropertyList("2/\(Self.metadata)", ["x": "org.mozilla.ios.Focus"])
        for number in 0...2 { try folder.put("\(number)/\(corePings)/-t-1.json", CaptureFolder.ping(number)) }
        #expect(try await applicationIDs(folder) == [nil, nil, nil])
    }

    @Test("Folders named like backup domains identify the containers")
    func domains() async throws {
        let folder = try CaptureFolder()
        try folder.put("AppDomain-org.mozilla.ios.Focus/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("AppDomain-/\(corePings)/-t-1.json", CaptureFolder.ping(2))
        try folder.put("AppDomainGroup-group.org.mozilla.ios.Firefox/\(corePings)/-t-1.json", CaptureFolder.ping(3))
        let capture = try await folder.open()
        #expect(
            capture.stores.map(\.container.identifier) == [
                nil, "org.mozilla.ios.Focus", "group.org.mozilla.ios.Firefox",
            ])
        #expect(capture.stores.map(\.container.kind) == [.app, .app, .group])
        #expect(try await applicationIDs(folder) == [nil, "org.mozilla.ios.Focus", nil])
    }

    @Test("Metadata takes precedence over the name of the folder")
    func metadataAndDomain() async throws {
        let folder = try CaptureFolder()
        try folder.putPropertyList(
            "AppDomain-org.mozilla.ios.Focus/\(Self.metadata)", ["MCMMetadataIdentifier": "org.mozilla.ios.Klar"])
        try folder.put("AppDomain-org.mozilla.ios.Focus/\(corePings)/-t-1.json", CaptureFolder.ping())
        #expect(try await applicationIDs(folder) == ["org.mozilla.ios.Klar"])
    }

    @Test("Pending events borrow values only from their own container")
    func borrowedValues() async throws {
        let folder = try CaptureFolder()
        let events = #"[0,"action","foreground","app"]"#
        try folder.put("a/Documents/eventArray-MozTelemetry-Default-core.json", events)
        try folder.put("b/Documents/eventArray-MozTelemetry-Default-core.json", events)
        try folder.put("b/Library/Caches/MozTelemetry-Default-core/-t-1.json", CaptureFolder.ping())
        let records = try await ReadCapture(folder.open()).records.filter { $0.source.store == .mozillaPendingEvents }
        #expect(records.map(\.client) == [nil, "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083"])
        #expect(records.map { $0.notes.map(\.code) } == [[], ["PE"]])
    }
}
