import Bytes
import Hashing
import Telemetry

/// A list request that is built event by event.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 6 and 9.5.
struct SiftRequest {
    let source: Source
    /// The index of the part of the store that the events belong to.
    let part: Int
    private(set) var payload = Array("{\"data\":[".utf8)
    private(set) var eventCount = 0
    /// The number of values in all events, including their keys.
    private(set) var valueCount = 0
    private(set) var notes = SiftNotes()
    private var clients = ClientTally()
    private var newestTime: UInt64 = 0

    /// The record type of all list requests.
    static let type = "mobile_events"
    /// The payload size, in bytes, at which a request is full.
    ///
    /// The limit ensures that the record of the request fits into a bundle.
    private static let payloadSizeLimit = 64 << 20
    /// The number of values at which a request is full.
    ///
    /// The limit ensures that the record of the request can be read again.
    private static let valueCountLimit = 8 << 20

    /// Creates an empty request, whose payload is expected to have `capacity` bytes.
    init(source: Source, part: Int, capacity: Int = 0) {
        self.source = source
        self.part = part
        // Reserving memory avoids reallocations, which need memory for two copies of a large payload.
        payload.reserveCapacity(min(capacity, Self.payloadSizeLimit))
    }

    mutating func append(_ entry: ArraySlice<UInt8>, valueCount: Int) {
        self.valueCount += valueCount
        if eventCount > 0 { payload.append(UInt8(ascii: ",")) }
        payload += entry
    }

    /// Whether further events belong to another request.
    var isFull: Bool { payload.count > Self.payloadSizeLimit || valueCount > Self.valueCountLimit }

    /// Adds the time and the notes of the event whose entry was appended last.
    mutating func addFacts(time: UInt64, notes: borrowing SiftNotes) {
        eventCount += 1
        newestTime = max(newestTime, time)
        if !notes.isEmpty { self.notes.add(notes) }
    }

    mutating func add(client: String) { clients.count(client) }

    mutating func note(_ subject: SiftNotes.Subject, at location: @autoclosure () -> String) {
        notes.add(subject, at: location())
    }

    /// Returns the record of the request, or `nil` if there are no events.
    consuming func record(app: App?, target: Target?) -> Record? {
        guard eventCount > 0 else { return nil }
        payload += Array("]}".utf8)
        var notes = notes.texts
        let time = Int64(exactly: newestTime).flatMap { Timestamp(milliseconds: $0) }
        if time == nil { notes.append("time-out-of-range newest event time \(newestTime)") }
        var held: [Hold] = []
        if target == nil { held.append(.noTarget) }
        if let hold = clients.hold {
            held.append(hold)
            notes.append("several-clients the first one is taken")
        }
        let id = PayloadHash.id(of: payload)
        return Record(
            system: .sift, type: Self.type, id: id, client: clients.first, time: time, app: app, target: target,
            payload: payload, source: source, notes: notes, held: held)
    }
}

/// The entries of all batches, which are used to omit equal events from queues.
///
/// The SDK saves a queue before it moves the events of the queue to the uploader, and saves the uploader afterwards.
/// Therefore, both files can contain an event. Each entry of a batch replaces one equal event of a queue.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 9.3.
struct SiftBatchEntries {
    private var times: Set<UInt64> = []
    private var countsByDigest: [Digest16: Int] = [:]

    mutating func insert(_ entry: ArraySlice<UInt8>, time: UInt64) {
        times.insert(time)
        countsByDigest[Digest16(of: entry.span), default: 0] += 1
    }

    /// Removes an entry that equals `entry`, or returns `false` if there is none.
    mutating func removeEntry(equalTo entry: ArraySlice<UInt8>, time: UInt64) -> Bool {
        guard times.contains(time) else { return false }
        let digest = Digest16(of: entry.span)
        guard let count = countsByDigest[digest], count > 0 else { return false }
        countsByDigest[digest] = count - 1
        return true
    }
}

/// The notes about changed and omitted values, with the number and the first location of each kind of change.
struct SiftNotes {
    /// The change or omission that a note reports.
    enum Subject: Hashable {
        /// A number that JSON cannot express was removed.
        case nonFiniteNumber
        /// A value of a class without a JSON form was removed.
        case unknownClass
        /// A dictionary entry whose key is not a string was removed.
        case nonStringKey
        /// A dictionary entry with the same key as an earlier entry was removed.
        case duplicateKey
        /// A class of an earlier SDK version was read.
        case legacyClass(CapturedText)
        /// An event was omitted for the reason `reason`.
        case lostEvent(code: CapturedText, reason: CapturedText)
        /// An event in a queue was omitted because a batch also contains it.
        case absorbedEvent
    }

    private var entries: [(subject: Subject, count: Int, location: String)] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Adds `count` occurrences of a subject, and evaluates `location` only for the first one.
    mutating func add(_ subject: Subject, count: Int = 1, at location: @autoclosure () -> String) {
        if let known = entries.firstIndex(where: { $0.subject.isCountedTogether(with: subject) }) {
            entries[known].count += count
        } else {
            entries.append((subject, count, location()))
        }
    }

    /// Adds the notes about an event to these notes.
    mutating func add(_ other: SiftNotes) {
        for entry in other.entries { add(entry.subject, count: entry.count, at: entry.location) }
    }

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// The texts of the notes, which start with their codes.
    var texts: [String] {
        entries.map { subject, count, location in
            "\(subject.code) \(subject.description(forCount: count)) (\(count == 1 ? "" : "first: ")\(location))"
        }
    }
}

extension SiftNotes.Subject {
    fileprivate var code: String {
        switch self {
        case .nonFiniteNumber: "not-finite"
        case .unknownClass: "unknown-class"
        case .nonStringKey: "non-string-key"
        case .duplicateKey: "duplicate-key"
        case .legacyClass: "legacy-class"
        case .lostEvent(let code, _): code.string
        case .absorbedEvent: "absorbed"
        }
    }

    /// Returns whether two subjects share one note because they are equal or are lost events with the same code.
    fileprivate func isCountedTogether(with other: SiftNotes.Subject) -> Bool {
        if case .lostEvent(let code, _) = self, case .lostEvent(let otherCode, _) = other { return code == otherCode }
        return self == other
    }

    fileprivate func description(forCount count: Int) -> String {
        let events = count.counted("event")
        let values = count.counted("value")
        let entryText = count.counted("entry", plural: "entries")
        return switch self {
        case .nonFiniteNumber: "\(values) removed"
        case .unknownClass: "\(values) without a JSON form removed"
        case .nonStringKey: "\(entryText) removed whose key is no text"
        case .duplicateKey: "\(entryText) removed whose key came before"
        case .legacyClass(let name): "\(name) in \(events)"
        case .lostEvent(_, let reason): "\(events) left out: \(reason)"
        case .absorbedEvent: "\(events) left out that a batch has too"
        }
    }
}
