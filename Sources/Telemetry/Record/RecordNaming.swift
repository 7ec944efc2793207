import JSONText

extension CanonicalObject {
    /// Creates an object that identifies a record by its system, type, id, client and time.
    public init(naming record: borrowing Record) {
        self.init()
        set("client", string: record.client)
        set("id", string: record.id)
        set("system", string: record.system.description)
        set("time", string: record.time?.description)
        set("type", string: record.type)
    }
}
