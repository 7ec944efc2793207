/// What is the same for all requests of a client.
public struct HTTPSettings: Sendable {
    /// Whom to trust, and who we are.
    public var identity = HTTPIdentity()
    /// How long a connection may take to come up, in seconds, encryption and proxies included.
    public var connectTimeout = 10
    /// How many connections are kept to be used again, to all servers together.
    public var connections = 8
    /// The names of those fields of answers that are wanted, in lower case.
    public var wantedFields: [String] = []

    /// Makes settings.
    public init() {}
}

/// The certificates of encrypted connections, in PEM.
public struct HTTPIdentity: Sendable {
    /// The authorities to trust instead of the system's.
    public var authorities: [UInt8]?
    /// Our certificate, with those between it and its authority after it, and its key.
    public var certificate: (chain: [UInt8], key: [UInt8])?

    /// The system's authorities and no certificate.
    public init() {}
}
