extension UUIDText {
    /// Returns the id of a record of pending events.
    ///
    /// They are not in a ping yet, so no document defines an id.
    package static func ofPendingEvents(_ events: [UInt8], type: String, client: String?) -> String {
        nameBased("pingferry:pending:\(client ?? ""):\(type):\(PayloadHash.hex(of: events))")
    }
}
