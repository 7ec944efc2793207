extension UUIDText {
    /// Returns the id of a record of pending events.
    ///
    /// No document defines such an id.
    package static func ofPendingEvents(_ events: [UInt8], type: String, client: String?) -> String {
        nameBased("pingferry:pending:\(client ?? ""):\(type):\(PayloadHash.hex(of: events))")
    }
}
