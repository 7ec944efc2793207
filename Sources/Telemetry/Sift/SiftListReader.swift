import JSONText
import PropertyList

/// Reads the lists of events of one archive into requests; an event that cannot be read never costs the others.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 9.1 to 9.3, and "Keyed archives: container, object graph,
/// hostile input", D.3.
struct SiftListReader {
    /// Bounds of what an archive may expand to.
    private enum Limit {
        /// Bytes of the entry of one event.
        static let eventBytes = 16 << 20
        /// More lost events than these are counted, not listed.
        static let problems = 1000
        /// Bytes of requests for each byte of the archive, and so many for a small one.
        static let growth = 8
        static let freeBytes = 16 << 20
    }

    var archive: SiftArchive
    /// What became of the events.
    private(set) var counts = SiftCounts()
    /// The requests that are full, and the one that is being written last.
    private(set) var requests: [SiftRequest] = []
    /// What there is to report.
    private(set) var problems: [Problem] = []
    /// The codes of the events that were left out, with how many, in the order in which they came up.
    private(set) var losses: [(code: String, count: Int)] = []
    /// The time of the newest event that has one within the range of RFC 3339.
    private(set) var newest: Int64 = 0
    /// The dictionary of the newest device properties.
    private(set) var newestProperties: (time: Int64, pairs: KeyedPairs)?
    private var writer: SiftEventWriter
    private var client: (node: PropertyListNode, text: String)?
    /// How many values and bytes more may come out of the archive.
    private var values: Int
    private var bytes: Int
    private let byteCount: Int

    init(_ archive: SiftArchive, byteCount: Int) {
        self.archive = archive
        self.byteCount = byteCount
        let root = archive.archive.document.root
        writer = SiftEventWriter(values: SiftValueWriter(SiftEventBounds(root, outerDepth: 0)))
        values = archive.archive.document.expansionLimit
        bytes = Limit.growth * byteCount + Limit.freeBytes
    }

    /// Reads a list into a request, or several if it is too large for one.
    ///
    /// - Parameters:
    ///   - depth: the level of the list in its archive, the root being 1.
    ///   - name: how reports call the list.
    ///   - source: where the events of the list are found.
    ///   - entries: the entries of the batches: those of a batch are put in, those of a queue are looked up.
    /// - Throws: `budget-exceeded` if the whole archive is to be refused.
    mutating func read(
        _ list: KeyedElements, depth: Int, named name: String, source: Source, file: Int,
        entries: inout SiftBatchEntries
    ) throws(PropertyListError) {
        counts.pending += list.count
        // Different events take up more than that in the file; so many are a few, over and over.
        guard list.count <= values / SiftEventBounds.leastValues else {
            throw PropertyListError(
                .budgetExceeded, at: archive.archive.document.offset(of: archive.archive.document.root),
                "a list of \(list.count) events in a file of \(byteCount) bytes")
        }
        // A queue is all of its file, a batch a part of it; requests are about as long as the archive.
        let capacity = source.store == .siftQueue ? byteCount : 0
        var request = SiftRequest(source: source, file: file, capacity: capacity)
        for position in 0..<list.count {
            if request.payload.count > SiftRequest.sizeLimit {
                requests.append(request)
                request = SiftRequest(source: source, file: file)
            }
            let start = request.payload.count
            do throws(PropertyListError) {
                try add(position, of: list, depth: depth, to: &request, entries: &entries)
            } catch {
                spend(request.payload.count - start)
                request.payload.removeLast(request.payload.count - start)
                guard values >= 0, bytes >= 0 else { throw error }
                lose(position, named: name, error, noting: &request)
            }
        }
        requests.append(request)
    }

    private mutating func add(
        _ position: Int, of list: KeyedElements, depth: Int, to request: inout SiftRequest,
        entries: inout SiftBatchEntries
    ) throws(PropertyListError) {
        let stored = try archive.archive.element(at: position, of: list)
        writer.values.notes.removeAll()
        writer.values.event = position
        writer.values.keyBytes = 0
        writer.values.bounds = SiftEventBounds(stored, outerDepth: depth)
        let event = try writer.event(stored, in: &archive)
        if request.events > 0 { request.payload.append(UInt8(ascii: ",")) }
        let start = request.payload.count
        writer.values.outputLimit = start + Limit.eventBytes
        let facts = try writer.write(event, of: &archive, to: &request.payload)
        let entry = request.payload[start...]
        guard values >= writer.values.bounds.values, bytes >= entry.count + writer.values.keyBytes else {
            throw archive.error(.budgetExceeded, at: stored, "an archive that expands to too much")
        }
        if request.source.store == .siftUploader {
            entries.insert(entry, time: event.time)
        } else if entries.absorb(entry, time: event.time) {
            counts.absorbed += 1
            request.note(.absorbed, at: "event \(position)")
            spend(entry.count)
            request.payload.removeLast(request.payload.count - start + (request.events > 0 ? 1 : 0))
            return
        }
        spend(entry.count)
        accept(event, facts, into: &request)
    }

    /// Takes what an event came to off what the archive may come to.
    private mutating func spend(_ bytes: Int) {
        values -= writer.values.bounds.values
        self.bytes -= bytes + writer.values.keyBytes
    }

    private mutating func accept(
        _ event: SiftEventWriter.Event, _ facts: SiftEventWriter.Facts, into request: inout SiftRequest
    ) {
        counts.emitted += 1
        request.accept(time: event.time, notes: writer.values.notes)
        if let node = facts.client { request.accept(client: text(ofClient: node)) }
        guard let time = Int64(exactly: event.time), Timestamp(milliseconds: time) != nil else { return }
        newest = max(newest, time)
        if let pairs = facts.deviceProperties, time >= newestProperties?.time ?? 0 { newestProperties = (time, pairs) }
    }

    /// The text of an installation id: mostly the one before.
    private mutating func text(ofClient node: PropertyListNode) -> String {
        if let client, archive.archive.document.text(node, equals: client.node) { return client.text }
        let text = archive.archive.document.string(of: node)
        client = (node, text)
        return text
    }

    private mutating func lose(
        _ position: Int, named name: String, _ error: PropertyListError, noting request: inout SiftRequest
    ) {
        let code = error.code.rawValue
        if error.code == .eventSkipped { counts.skipped += 1 } else { counts.lost += 1 }
        request.note(.lost(code: code, reason: error.reason), at: "event \(position)")
        if let known = losses.firstIndex(where: { $0.code == code }) {
            losses[known].count += 1
        } else {
            losses.append((code, 1))
        }
        report(code, "event \(position) of \(name) left out: \(error.reason) at byte \(error.offset)")
    }

    /// Reports something, up to a number of times.
    mutating func report(_ code: String, _ text: String) {
        if problems.count < Limit.problems { problems.append(Problem(code, text)) }
    }

    /// Counts a list that is none.
    mutating func loseList(_ error: PropertyListError, named name: String) {
        losses.append((error.code.rawValue, 1))
        report(error.code.rawValue, "\(name) left out: \(error.reason) at byte \(error.offset)")
    }

    /// How reports call what was left out of the archive.
    var reason: String {
        losses.map { "\($0.code) \($0.count) left out" }.joined(separator: ", ")
    }

    /// Looks at the last event that the queue accepted, which is not pending: its time, and its device properties if
    /// they are the newest. One that cannot be read is of no consequence.
    /// - Returns: the time, if it is within the range of RFC 3339, and the key of the entry, if there is one.
    mutating func readLastEvent() -> (time: Int64?, key: String?) {
        for key in ["lastEvent", "last_event"] {
            guard let stored = try? archive.entry(key) else { continue }
            guard let event = try? writer.event(stored, in: &archive),
                let milliseconds = Int64(exactly: event.time), Timestamp(milliseconds: milliseconds) != nil
            else { return (nil, key) }
            if milliseconds > newestProperties?.time ?? -1,
                let pairs = try? writer.deviceProperties(of: event.node, in: &archive)
            {
                newestProperties = (milliseconds, pairs)
            }
            return (milliseconds, key)
        }
        return (nil, nil)
    }
}
