import Bundle
import Bytes
import Files
import Hashing
import JSONText
import Telemetry

/// A reader of the quarantined items of a bundle, which a corrected parser may understand.
///
/// Each item is read as a file at its path in a capture without other files, by the readers of its kind of store. A part
/// of a file is read as the smallest file that contains it.
///
/// Source: "Quarantined items", section "Reading it again".
struct QuarantineReader {
    private let bundle: BundleReader
    private let input: Int
    private let options: ScanOptions
    private let systems: SystemTable
    /// The journals and other companions of databases in quarantine, by their captures and paths.
    private var companions: [Digest16: QuarantineEntry] = [:]
    /// Whether items left the quarantine, by their files and bytes, because several items can concern the same bytes.
    private var decisions: [Digest16: Bool] = [:]
    private var knownEvents: KnownEvents

    /// Creates a reader of the items in `bundle`, which is the input at the index `input`.
    ///
    /// - Throws: ``BundleError``.
    init(_ bundle: BundleReader, input: Int, _ options: ScanOptions) throws {
        self.bundle = bundle
        self.input = input
        self.options = options
        systems = bundle.systems
        knownEvents = KnownEvents(of: bundle)
        var items = DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: bundle)
        while let item = try items.next() {
            if item.isCompanion { companions[Digest16(item.capture, item.path)] = item }
        }
    }

    /// Reads all items, and calls `consume` with the records in them and with the items that remain in quarantine.
    ///
    /// - Throws: ``BundleError`` if the bytes of an item cannot be read, `FileError` with the operation `spool`,
    ///   `PseudonymError`, and the errors of `consume`.
    mutating func read(_ consume: (ScanOutput) async throws -> Void) async throws {
        var items = DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: bundle)
        while let item = try items.next() {
            let bytes = item.key
            if decisions[bytes] == nil {
                let outputs = item.isCompanion ? [] : try await outputs(of: item)
                // A companion leaves the quarantine together with its database, which comes first.
                decisions[bytes] = !outputs.isEmpty && !outputs.contains { $0.remaining.contains(bytes) }
                for found in outputs { try await consume(found.output) }
            }
            var output = ScanOutput(capture: bundle.path, input: input, writingWith: options)
            if decisions[bytes] == true {
                (output.isReread, output.rereadItemCount) = (true, 1)
            } else {
                output.quarantine(item)
            }
            try await consume(output)
        }
    }

    // MARK: One item

    /// The findings in an item, as contents of the bundle.
    private struct Adopted {
        let output: ScanOutput
        /// The keys of the bytes that were rejected again.
        let remaining: Set<Digest16>
    }

    /// Returns the findings in an item, or an empty array if it contains no record and therefore remains unchanged.
    private mutating func outputs(of item: QuarantineEntry) async throws -> [Adopted] {
        // The preferences that state whether usage data is switched off are not in the quarantine, and the records of a
        // person who has switched it off must not be uploaded.
        guard item.isStored, !item.reject.reason.contains(UsageDataSwitch.offSentence),
            let path = try? MemberPath(Array(item.path.utf8)), let file = try partFile(of: item)
        else { return [] }
        var files = [(path, file.contents)]
        var capture = try await self.capture(files, item)
        let database = capture.stores.first { $0.store.kind == item.store && !$0.store.companionPaths.isEmpty }
        let companions = (database?.store.companionPaths ?? []).compactMap {
            self.companions[Digest16(item.capture, $0)]
        }
        if !companions.isEmpty {
            for companion in companions {
                // A database without its journal can contain rows that were never committed.
                guard companion.isStored, let path = try? MemberPath(Array(companion.path.utf8)) else { return [] }
                files.append((path, try bytes(of: companion)))
            }
            capture = try await self.capture(files, item)
        }
        knownEvents.beginItem()
        let found = try scan(capture, item.store)
        guard found.contains(where: { !$0.entries.isEmpty }) else { return [] }
        for companion in companions { decisions[companion.key] = true }
        var adopted: [Adopted] = []
        for output in found { adopted.append(try adopt(output, from: item, file)) }
        for companion in companions where adopted.contains(where: { $0.remaining.contains(companion.key) }) {
            decisions[companion.key] = false
        }
        return adopted
    }

    /// Returns the file to be read for an item, or `nil` if the item cannot be understood without the rest of its file.
    private func partFile(of item: QuarantineEntry) throws -> PartFile? {
        let bytes = try bytes(of: item)
        guard item.reject.length != nil else { return PartFile(bytes) }
        let format = systems.all.lazy.flatMap(\.stores).first { $0.kinds.contains(item.store) }
        return format?.file(ofPart: bytes, item.reject, of: item.store)
    }

    private func bytes(of item: QuarantineEntry) throws -> [UInt8] {
        var decoder = FrameDecoder()
        return try bundle.contents(of: BundleLayout.quarantineMemberName(sha256: item.sha256), with: &decoder)
    }

    private func capture(_ files: [(MemberPath, [UInt8])], _ item: QuarantineEntry) async throws -> CapturedFolder {
        try await CapturedFolder(
            files: files, path: bundle.path, label: item.capture, systems: systems, limit: options.limit)
    }

    /// Returns the findings in the stores of the given kind, without filters and pseudonyms.
    private func scan(_ capture: CapturedFolder, _ kind: StoreKind) throws -> [ScanOutput] {
        let stores = capture.stores.indices.filter { capture.stores[$0].store.kind == kind }
        let files = stores.map { ($0, 0..<capture.stores[$0].store.fileCount) }
        var plain = ScanOptions(
            quarantineFileLimit: options.quarantineFileLimit, copyFolder: options.copyFolder, limit: options.limit)
        plain.quarantine = options.quarantine
        var outputs: [ScanOutput] = []
        for unit in ScanUnit.split(capture, only: Dictionary(uniqueKeysWithValues: files)) {
            var rest: ScanUnit? = unit
            while let next = rest {
                var output = ScanOutput(capture: capture.label, input: input, writingWith: plain)
                rest = try next.read(plain, into: &output)
                outputs.append(output)
            }
        }
        return outputs
    }

    /// Returns the records, rejects and problems of `found` as contents of the bundle.
    ///
    /// Rejects of the bytes of `item` are omitted, because `item` itself remains in quarantine.
    private mutating func adopt(
        _ found: ScanOutput, from item: QuarantineEntry, _ file: PartFile
    ) throws -> Adopted {
        var output = ScanOutput(capture: bundle.path, input: input, writingWith: options)
        output.isReread = true
        var lines = RecordLines(found.entries.flatMap { found.lines[$0.line] }, knowing: systems)
        let code = item.reject.reason.prefix { $0 != " " }
        while let (record, _) = try lines.next() {
            guard var record = try knownEvents.removeKnownEvents(from: record) else { continue }
            record.source.index = record.source.index.addingSaturated(file.recordIndex)
            record.notes.append("reread \(item.sha256) \(code)")
            try output.add(record)
        }
        var remaining: Set<Digest16> = []
        for reject in found.quarantined {
            if reject.reject.length == nil, reject.path == item.path {
                remaining.insert(item.key)
            } else if companions[Digest16(reject.capture, reject.path)] != nil {
                remaining.insert(reject.key)
            } else {
                output.quarantine(reject.moved(by: (item.reject.length == nil ? 0 : item.reject.offset ?? 0), file))
            }
        }
        for problem in found.problems { output.report(problem) }
        for withdrawal in found.withdrawals { output.report(withdrawal) }
        return Adopted(output: output, remaining: remaining)
    }
}

extension QuarantineEntry {
    fileprivate var isCompanion: Bool { CapturedText(reject.reason) == Reject.companionReason }

    /// The hash of the file and of the quarantined bytes.
    fileprivate var key: Digest16 { Digest16(capture, path, sha256) }

    /// Returns the entry with the offset that it has in the original file, in which `file` begins at `offset`.
    fileprivate func moved(by offset: Int, _ file: PartFile) -> QuarantineEntry {
        var item = self
        item.reject.offset = reject.offset.map { max(0, $0 - file.part.lowerBound).addingSaturated(offset) }
        return item
    }
}

extension Digest16 {
    fileprivate init(_ texts: String...) {
        var hash = SHA256()
        for text in texts { hash.update(lengthPrefixed: text.utf8.span) }
        self.init(hash)
    }
}

// MARK: - Events

/// The events in the list requests of a bundle, because of which a file that is read again yields no event twice.
///
/// The bundle contains the intact events of a file that is in quarantine because of other events. Equal events in one
/// file are different events.
private struct KnownEvents {
    private let bundle: BundleReader
    /// The number of times that an event occurs, or `nil` until it is needed.
    private var counts: [Digest16: Int]?
    /// The number of times that an event occurs in the current item.
    private var own: [Digest16: Int] = [:]
    private var document = JSONDocument()

    init(of bundle: BundleReader) { self.bundle = bundle }

    /// Begins with the records of another item.
    mutating func beginItem() {
        counts?.merge(own) { max($0, $1) }
        own = [:]
    }

    /// Returns `record` without the events that the bundle contains, or `nil` if no event is left.
    ///
    /// Returns a record of a system without list requests unchanged.
    mutating func removeKnownEvents(from record: Record) throws -> Record? {
        guard let system = bundle.systems[record.system], let list = system.uploads.list else { return record }
        let known = try counts ?? allCounts()
        counts = known
        var events: [Range<Int>] = []
        let ranges = Self.events(of: record, list, in: &document)
        for range in ranges {
            let key = Self.key(of: range, in: record)
            own[key, default: 0] += 1
            if own[key, default: 0] > known[key, default: 0] { events.append(range) }
        }
        guard events.count < ranges.count else { return record }
        guard !events.isEmpty else { return nil }
        var payload = Array("{\"\(list.key)\":[".utf8)
        for (position, range) in events.enumerated() {
            if position > 0 { payload.append(UInt8(ascii: ",")) }
            payload += record.payload[range]
        }
        payload += "]}".utf8
        defer { document.reset() }
        // The time of the request is that of its first event, which can be among the known ones.
        let time = events.first == ranges.first ? record.time : nil
        let upload = CapturedUpload(route: nil, time: time, source: record.source)
        guard (try? document.read(payload)) != nil,
            var rest = try? upload.record(by: system.requests, in: &document)
        else { return record }
        (rest.app, rest.target) = (record.app, record.target)
        return rest
    }

    private mutating func allCounts() throws -> [Digest16: Int] {
        var counts: [Digest16: Int] = [:]
        var document = JSONDocument()
        for segment in bundle.manifest.segments {
            _ = try bundle.forEachRecord(of: segment) { record, _, _ in
                guard let list = bundle.systems[record.system]?.uploads.list else { return }
                for range in Self.events(of: record, list, in: &document) {
                    counts[Self.key(of: range, in: record), default: 0] += 1
                }
            }
        }
        return counts
    }

    /// Returns the ranges of the events in the payload of `record`.
    private static func events(
        of record: borrowing Record, _ list: ListFormat, in document: inout JSONDocument
    ) -> [Range<Int>] {
        defer { document.reset() }
        guard (try? document.read(record.payload)) != nil,
            let events = document.value(of: list.key, .array, in: document.root)
        else { return [] }
        return document.elements(of: events).compactMap { document.sourceRange(of: $0) }
    }

    /// Returns the hash of an event, its system and its capture.
    private static func key(of range: Range<Int>, in record: borrowing Record) -> Digest16 {
        var hash = SHA256()
        hash.update(lengthPrefixed: record.system.description.utf8.span)
        hash.update(lengthPrefixed: record.source.capture.utf8.span)
        hash.update(lengthPrefixed: record.payload.span.extracting(range))
        return Digest16(hash)
    }
}
