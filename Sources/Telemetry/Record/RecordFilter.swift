/// Which records a command is asked for. A condition that is not given lets all pass.
public struct RecordFilter: Sendable {
    /// The systems wanted.
    public var systems: Set<SystemName> = []
    /// The types wanted.
    public var types: Set<String> = []
    /// The first instant wanted; a record without a time does not pass.
    public var since: Timestamp?
    /// The first instant no longer wanted; a record without a time does not pass.
    public var until: Timestamp?
    /// The clients wanted, in lower case.
    public var clients: Set<String> = []
    /// Whether only records that may be uploaded are wanted.
    public var uploadableOnly = false

    /// Makes a filter that lets everything pass.
    public init() {}

    private var asksForTime: Bool { since != nil || until != nil }
    private var namesValues: Bool { !systems.isEmpty || !types.isEmpty || !clients.isEmpty }

    /// Returns whether a record is wanted, and adds to `findings` which conditions it meets.
    public func passes(_ record: borrowing Record, noting findings: inout FilterFindings) -> Bool {
        guard namesValues || asksForTime || uploadableOnly else { return true }
        let client = clients.isEmpty ? nil : record.client?.lowercased()
        if namesValues { findings.note(record, client: client, of: self) }
        if !systems.isEmpty, !systems.contains(record.system) { return false }
        if !types.isEmpty, !types.contains(record.type) { return false }
        if uploadableOnly, !record.held.isEmpty { return false }
        if !clients.isEmpty, !clients.contains(client ?? "") { return false }
        guard asksForTime else { return true }
        guard let time = record.time else {
            findings.noteWithoutTime()
            return false
        }
        if let since, time < since { return false }
        if let until, time >= until { return false }
        return true
    }
}
