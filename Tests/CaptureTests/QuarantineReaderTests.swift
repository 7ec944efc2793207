import Bundle
import Bytes
import Files
import Glibc
import JSONText
import Mozilla
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests of reading quarantined items again.
///
/// A table of systems whose readers reject everything takes the place of a program whose parsers lack a rule. Its bundle
/// is read again with the known systems, and compared with a bundle of the capture.
@Suite struct QuarantineReaderTests {
    /// The bundles of a capture: made directly, with the rules withheld, and after reading again once and twice.
    private struct Bundles {
        let direct, withheld, new, again: BundleContents

        init(of path: String) async throws {
            direct = try await BundleContents(of: .folder(path, Systems.table))
            withheld = try await BundleContents(of: .folder(path, WithheldSystem.table))
            new = try await BundleContents(of: .bundle(withheld.bytes))
            again = try await BundleContents(of: .bundle(new.bytes))
        }
    }

    /// The captures that are folders.
    private static let captures = Result {
        let sets = try SiftFixtures.sets.map {
            FixtureCase(name: $0, path: "\(try SiftFixtures.path)/\($0)", oraclePath: "")
        }
        return try ["mozilla", "glean", "leanplum", "adjust"].flatMap { try Fixtures.cases(in: $0) }.filter {
            access("\($0.path)/.", R_OK) == 0
        } + sets
    }

    @Test(
        "Files and parts that a program could not read are read again as in the capture",
        arguments: try captures.get())
    func equality(fixture: FixtureCase) async throws {
        let bundles = try await Bundles(of: fixture.path)
        #expect(bundles.again.records == bundles.new.records)
        #expect(bundles.again.quarantined == bundles.new.quarantined)
        let hasLeft =
            bundles.new.records != bundles.withheld.records || bundles.new.quarantined != bundles.withheld.quarantined
        #expect(bundles.new.parents == (hasLeft ? [bundles.withheld.digest] : []))
        // The items of a person who has switched off usage data stay in quarantine.
        if bundles.withheld.isWithoutConsent { return }
        // Files with credentials are only listed, and a folder of events can be recognized only with the folders beside it.
        let listed = bundles.withheld.paths { !$0.isStored && $0.reject.reason.code == "X0" }
        let unrecognized = bundles.new.paths { $0.store == StoreKind("glean-pending-events") }
        #expect(bundles.new.uploads() == bundles.direct.uploads(except: listed))
        #expect(try bundles.new.events(except: unrecognized) == bundles.direct.events(except: unrecognized))
        // The bytes that the full program rejects are still in quarantine. Others are only in files and lines without a record.
        #expect(bundles.new.quarantinedPaths.isSuperset(of: bundles.direct.quarantinedPaths))
        for item in bundles.new.quarantined
        where !bundles.direct.quarantinedPaths.contains("\(item.store) \(item.path)") {
            let isRead = bundles.direct.records.contains { $0.source.path == item.path }
            #expect(!isRead || listed.union(unrecognized).contains(item.path), "\(item)")
        }
        let isNoted = bundles.new.records.filter { $0.notes.contains { $0.hasPrefix("reread ") } }.allSatisfy {
            $0.notes.last?.wholeMatch(of: /reread [0-9a-f]{64} X0/) != nil
        }
        #expect(isNoted)
    }

    @Test("All kinds of stores whose bytes are kept are read again")
    func kinds() async throws {
        var kinds: Set<StoreKind> = []
        for fixture in try Self.captures.get() where kinds != withheldKinds {
            let contents = try await BundleContents(of: .folder(fixture.path, WithheldSystem.table))
            kinds.formUnion(contents.quarantined.filter { $0.reject.reason.code == "X0" && $0.isStored }.map(\.store))
        }
        #expect(kinds == withheldKinds)
    }

    @Test("The items of a person who has switched off usage data stay in quarantine")
    func optOut() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        for isOff in [true, false] {
            try folder.putPropertyList(
                "Library/Preferences/org.mozilla.ios.XRViewer.plist", ["useAnalytics": !isOff])
            let withheld = try await BundleContents(of: .folder(folder.path, WithheldSystem.table))
            let new = try await BundleContents(of: .bundle(withheld.bytes))
            #expect(new.quarantined.count { $0.store == .mozillaPingFile } == (isOff ? 1 : 0))
            #expect(new.records.count == (isOff ? 0 : 1))
            #expect(new.quarantined.allSatisfy { $0.reject.reason.contains(UsageDataSwitch.offSentence) == isOff })
        }
    }
}

/// The kinds of stores whose readers reject everything.
private let withheldKinds: Set<StoreKind> = Set(
    [
        "mozilla-ping-file", "mozilla-ping-array", "mozilla-pending-events", "mozilla-values", "glean-ping-file",
        "glean-pending-events", "sift-uploader", "sift-queue", "leanplum-plist", "leanplum-sqlite",
    ].map { StoreKind($0) })

// MARK: - Bundles

/// The contents of a bundle in memory.
private struct BundleContents {
    enum Origin {
        /// The capture at a path, whose stores are recognized by a table of systems.
        case folder(String, SystemTable)
        /// A bundle whose quarantine is read again.
        case bundle([UInt8])
    }

    let bytes: [UInt8]
    let records: [Record]
    let quarantined: [QuarantineEntry]
    let parents: [String]
    let digest: String

    init(of origin: Origin) async throws {
        var options = ScanOptions()
        let input: CaptureInput
        switch origin {
        case .folder(let path, let systems):
            input = .folder(
                try await CapturedFolder(path: path, label: "capture", systems: systems, limit: JobLimit(jobs: 2)))
        case .bundle(let bytes):
            options.rereadsQuarantine = true
            input = .bundle(try BundleReader(bytes: bytes))
        }
        let maker = BundleMaker(
            CaptureReader([input], options: options), level: 1, toolVersion: "1", quarantineLimit: 1 << 30)
        var written: [UInt8] = []
        _ = try await maker.make(
            hashes: InputHashes(limit: JobLimit(jobs: 2)), labels: ["capture"], systems: Systems.table,
            progress: { _, _ in }, to: { written += $0.copied() })
        let reader = try BundleReader(bytes: written)
        var records: [Record] = []
        for segment in reader.manifest.segments {
            _ = try reader.forEachRecord(of: segment) { record, _, _ in records.append(copy record) }
        }
        var quarantined: [QuarantineEntry] = []
        var items = DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: reader)
        while let item = try items.next() { quarantined.append(item) }
        (bytes, self.records, self.quarantined) = (written, records, quarantined)
        (parents, digest) = (reader.manifest.parents, reader.manifest.digest)
    }

    /// Whether an item is of a person who has switched off usage data.
    var isWithoutConsent: Bool { quarantined.contains { $0.reject.reason.contains(UsageDataSwitch.offSentence) } }

    /// The files in quarantine.
    var quarantinedPaths: Set<String> { Set(quarantined.map { "\($0.store) \($0.path)" }) }

    /// Returns the paths of the items that satisfy `condition`.
    func paths(_ condition: (QuarantineEntry) -> Bool) -> Set<String> { Set(quarantined.filter(condition).map(\.path)) }

    /// Returns the uploads in the records, without what the readers take from other files of the capture.
    func uploads(except paths: Set<String> = []) -> [String] {
        records.filter { !isOfPendingEvents($0) && !paths.contains($0.source.path) }.map { record in
            let name = "\(record.system) \(record.type) \(record.id) \(record.client ?? "") "
            let time = record.time?.description ?? ""
            return "\(name) \(time) \(record.source.path) \(record.source.index) \(PayloadHash.hex(of: record.payload))"
        }.sorted()
    }

    /// Returns the pending events, whose order and client depend on other files and on the intact lines of the same file.
    ///
    /// Events that only mark a restart of an app are omitted, because they make no record.
    func events(except paths: Set<String>) throws -> [String] {
        try records.filter { isOfPendingEvents($0) && !paths.contains($0.source.path) }.flatMap { record in
            let document = try JSONDocument(record.payload)
            let events = try #require(document.value(of: "events", in: document.root))
            return document.elements(of: events).filter { document.text("name", in: $0) != "restarted" }.map { event in
                let text = String(decoding: document.canonicalBytes(of: event), as: UTF8.self)
                return "\(record.type) \(record.source.path) \(text)"
            }
        }.sorted()
    }

    private func isOfPendingEvents(_ record: Record) -> Bool { record.held.contains { $0.code == "pending-events" } }
}

// MARK: - Withheld rules

/// A system whose stores contain only rejects.
private struct WithheldSystem: TelemetrySystem {
    static let table = SystemTable(Systems.table.all.map { WithheldSystem(system: $0) })

    let system: any TelemetrySystem

    var name: SystemName { system.name }
    var stores: [any StoreFormat] { system.stores.map { WithheldFormat(format: $0) } }
    var requests: any RequestFormat { system.requests }
    var uploads: any UploadFormat { system.uploads }
    var vocabulary: (any Vocabulary)? { system.vocabulary }
    var pseudonyms: PseudonymFormat? { system.pseudonyms }
    var rows: (any RowFormat)? { system.rows }
    var sequence: SequenceFormat? { system.sequence }
    var liveTables: (any LiveTableFormat)? { system.liveTables }
    var firstYear: Int { system.firstYear }
    var repeatedIDCode: String { system.repeatedIDCode }
}

private struct WithheldFormat: StoreFormat {
    let format: any StoreFormat

    var kinds: [StoreKind] { format.kinds }
    var absenceFromBackups: String? { format.absenceFromBackups }
    var secretClassNames: [String] { format.secretClassNames }
    var secretKeys: [String] { format.secretKeys }
    var usageDataSettings: [UsageDataSetting] { format.usageDataSettings }

    func mayBelongToStore(_ file: MemberName) -> Bool { format.mayBelongToStore(file) }
    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool { format.isNamedForStore(name, in: store) }
    func store(ofFolder folder: inout InspectedFolder) -> (any Store)? {
        format.store(ofFolder: &folder).map(Self.withheld)
    }
    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
        switch format.stores(ofFile: name, in: &folder) {
        case .unrelated: .unrelated
        case .exclusive(let stores): .exclusive(stores.map(Self.withheld))
        case .shared(let stores): .shared(stores.map(Self.withheld))
        }
    }
    func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? {
        format.store(byContentsOf: name, in: &folder).map(Self.withheld)
    }
    func usageDataState(_ setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState? {
        format.usageDataState(setting, in: contents)
    }

    private static func withheld(_ store: any Store) -> any Store {
        withheldKinds.contains(store.kind) ? WithheldStore(store: store) : store
    }
}

/// A store whose files, or the smallest parts of them that a reader rejects, are put into quarantine.
private struct WithheldStore: Store {
    let store: any Store

    var path: String { store.path }
    var system: SystemName? { store.system }
    var kind: StoreKind { store.kind }
    var parts: [StorePart] { store.parts }
    var companionPaths: [String] { store.companionPaths }
    var folderPath: String { store.folderPath }
    var fileCount: Int { store.fileCount }
    var isReadByOneJob: Bool { store.isReadByOneJob }

    func file(at index: Int) -> StoreFile? { store.file(at: index) }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        WithheldScan(store: store, context: context, remaining: files)
    }
}

private struct WithheldScan: StoreScan {
    let store: any Store
    let context: StoreContext
    var remaining: Range<Int>

    mutating func read(into output: inout ScanOutput) throws -> Bool {
        guard let index = remaining.popFirst() else { return false }
        if let file = store.file(at: index) {
            try reject(file, Self.rejects(of:_:), into: &output)
        } else if store.kind == StoreKind("leanplum-sqlite") {
            for (number, path) in ([store.path] + store.companionPaths).enumerated() {
                let file = StoreFile(name: [], path: path, kind: store.kind)
                let reason = number == 0 ? "X0 withheld" : Reject.companionReason
                try reject(file, { _, _ in [Reject(reason)] }, into: &output)
            }
        }
        return !remaining.isEmpty
    }

    private func reject(
        _ file: StoreFile, _ rejects: ([UInt8], StoreKind) -> [Reject], into output: inout ScanOutput
    ) throws {
        guard let source = try? context.tree.source(at: file.path) else { return }
        let bytes = try source.bytes(at: 0, count: source.count)
        var open = OpenFile(file, contents: .bytes(bytes))
        try output.withFile(&open) { output in
            for reject in rejects(bytes, file.kind) { try output.reject(reject) }
        }
    }

    /// Returns a reject for each line of a file of events, for each element of an array of pings, or for the whole file.
    private static func rejects(of bytes: [UInt8], _ kind: StoreKind) -> [Reject] {
        let whole = [Reject("X0 withheld")]
        switch kind.description {
        case "mozilla-pending-events", "glean-pending-events":
            if kind == .mozillaPendingEvents, let document = try? JSONDocument(bytes),
                document.kind(of: document.root) == .array,
                document.elements(of: document.root).allSatisfy({ document.kind(of: $0) == .array })
            {
                return document.elements(of: document.root).compactMap { document.sourceRange(of: $0) }.map {
                    Reject("X0 withheld", offset: $0.lowerBound, length: $0.count)
                }
            }
            let isEnd = { (byte: UInt8) in byte.isBlank || byte == UInt8(ascii: ",") }
            return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
                let start = line.drop(while: isEnd)
                let part = start.dropLast(start.reversed().prefix(while: isEnd).count)
                return part.isEmpty ? nil : Reject("X0 withheld", offset: part.startIndex, length: part.count)
            }
        case "mozilla-ping-file", "mozilla-ping-array":
            guard let document = try? JSONDocument(bytes), document.kind(of: document.root) == .array else {
                return whole
            }
            return document.elements(of: document.root).enumerated().map { index, element in
                var range = document.sourceRange(of: element)
                if let text = range, document.kind(of: element) == .string {
                    range = text.lowerBound - 1..<text.upperBound + 1
                }
                return Reject("X0 withheld (element \(index))", offset: range?.lowerBound, length: range?.count)
            }
        default: return whole
        }
    }
}
