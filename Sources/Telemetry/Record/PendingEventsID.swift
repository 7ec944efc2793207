extension UUIDText {
    /// Returns an id for a record of pending events, derived from the events, the type and the client.
    ///
    /// This derivation is necessary because no format document defines an id for pending events.
    package static func ofPendingEvents(_ events: [UInt8], type: String, client: String?) -> String {
        nameBased("pingferry:pending:\(client ?? ""):\(type):\(PayloadHash.hex(of: events))")
    }
}
