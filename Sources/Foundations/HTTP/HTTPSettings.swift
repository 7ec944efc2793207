/// The settings for all requests of a client.
public struct HTTPSettings: Sendable {
    /// The trusted authorities and the client certificate.
    public var identity = HTTPIdentity()
    /// The maximum time to establish a connection, in seconds, including the proxy and the TLS handshake.
    public var connectTimeout = 10
    /// The maximum number of connections that are kept open for reuse.
    public var connections = 8
    /// The lowercase names of the response fields to pass to receivers.
    public var responseFields: [String] = []

    /// Creates the default settings.
    public init() {}
}

/// The certificates for encrypted connections, in the PEM format.
public struct HTTPIdentity: Sendable {
    /// The certificates of the authorities to trust, or `nil` to trust the authorities of the system.
    public var authorities: [UInt8]?
    /// The client certificate, followed by intermediate certificates, and its private key, or `nil` if there is none.
    public var certificate: (chain: [UInt8], key: [UInt8])?

    /// Creates an identity with the authorities of the system and no client certificate.
    public init() {}
}
