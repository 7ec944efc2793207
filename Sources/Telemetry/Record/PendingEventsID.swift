extension UUIDText {
    /// Returns the id of a record of events that are in no ping yet, and so in no document that has an id.
    package static func ofPendingEvents(_ events: [UInt8], type: String, client: String?) -> String {
        nameBased("pingferry:pending:\(client ?? ""):\(type):\(PayloadHash.hex(of: events))")
    }
}
