import Telemetry

/// A list request that is put together event by event.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 6 and 9.5.
struct SiftRequest {
    let source: Source
    /// The index of the part of the store that its events belong to.
    let part: Int
    private(set) var payload = Array("{\"data\":[".utf8)
    private(set) var events = 0
    private(set) var notes = SiftNotes()
    private var clients = ClientTally()
    private var newest: UInt64 = 0

    /// The type of all uploads of the system.
    static let type = "mobile_events"
    /// A request is closed when it has this many bytes, so that a record fits into a bundle and is read within bounds.
    static let sizeLimit = 64 << 20

    /// - Parameter capacity: how many bytes it may come to, if that is known.
    init(source: Source, part: Int, capacity: Int = 0) {
        self.source = source
        self.part = part
        // Growing step by step would hold a large payload twice.
        payload.reserveCapacity(min(capacity, Self.sizeLimit))
    }

    /// Appends the entry of an event.
    mutating func append(_ entry: ArraySlice<UInt8>) {
        if events > 0 { payload.append(UInt8(ascii: ",")) }
        payload += entry
    }

    /// Counts an event whose entry was appended.
    mutating func accept(time: UInt64, notes: borrowing SiftNotes) {
        events += 1
        newest = max(newest, time)
        if !notes.isEmpty { self.notes.add(notes) }
    }

    /// Counts the id of the installation that an event came from.
    mutating func accept(client: String) { clients.count(client) }

    mutating func note(_ subject: SiftNotes.Subject, at place: @autoclosure () -> String) {
        notes.add(subject, at: place())
    }

    /// The record; nil if there are no events.
    /// - Parameter target: where the account's requests go.
    consuming func record(app: App?, target: Target?) -> Record? {
        guard events > 0 else { return nil }
        payload += Array("]}".utf8)
        var notes = notes.texts
        let time = Int64(exactly: newest).flatMap { Timestamp(milliseconds: $0) }
        if time == nil { notes.append("time-out-of-range newest event time \(newest)") }
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

/// The entries of the batches, each of which takes the place of one equal event of a queue: a queue is saved before its
/// events are handed over, the uploader after it.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 9.3.
struct SiftBatchEntries {
    private var times: Set<UInt64> = []
    private var counts: [PayloadDigest: Int] = [:]

    /// Appends a finished entry of a batch.
    mutating func insert(_ entry: ArraySlice<UInt8>, time: UInt64) {
        times.insert(time)
        counts[PayloadDigest(entry), default: 0] += 1
    }

    /// Removes an equal entry; false if there is none.
    mutating func absorb(_ entry: ArraySlice<UInt8>, time: UInt64) -> Bool {
        guard times.contains(time) else { return false }
        let digest = PayloadDigest(entry)
        guard let count = counts[digest], count > 0 else { return false }
        counts[digest] = count - 1
        return true
    }
}
