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

    private var isSelective: Bool {
        uploadableOnly || since != nil || until != nil || !systems.isEmpty || !types.isEmpty || !clients.isEmpty
    }

    /// Whether a record is wanted.
    public func passes(_ record: borrowing Record) -> Bool {
        guard isSelective else { return true }
        if !systems.isEmpty, !systems.contains(record.system) { return false }
        if !types.isEmpty, !types.contains(record.type) { return false }
        if uploadableOnly, !record.held.isEmpty { return false }
        if let since, record.time.map({ $0 < since }) ?? true { return false }
        if let until, record.time.map({ $0 >= until }) ?? true { return false }
        if !clients.isEmpty, !clients.contains(record.client?.lowercased() ?? "") { return false }
        return true
    }
}
