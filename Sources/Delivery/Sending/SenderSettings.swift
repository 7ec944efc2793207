import HTTP
import Telemetry

/// The settings for sending requests.
public struct SenderSettings: Sendable {
    /// The server of each system.
    public var endpoints: [SystemName: Endpoint]
    /// The rules that select a proxy.
    public var proxies = ProxyRules()
    /// The trusted authorities and the client certificate.
    public var identity = TLSIdentity()
    /// The maximum number of connections to one endpoint.
    public var connections = 8
    /// The maximum time to establish a connection, in seconds.
    public var connectTimeout = 10
    /// The maximum time without data from the server, in seconds.
    public var readTimeout = 30
    /// The maximum time for a request and its complete answer, in seconds.
    public var exchangeTimeout = 120
    /// The value of the header `User-Agent`.
    public var agent: String

    /// Creates settings, with the documented endpoints of systems for which none is given.
    public init(agent: String, endpoints given: [SystemName: Endpoint] = [:], systems: SystemTable) {
        self.agent = agent
        endpoints = given
        for system in systems.all where endpoints[system.name] == nil {
            endpoints[system.name] = Endpoint(system.uploads.endpoint)
        }
    }
}

/// The certificate files, in PEM format, for encrypted connections.
public struct TLSIdentity: Sendable {
    /// The path of the authorities that replace those of the system.
    public var authorities: String?
    /// The path of the client certificate, followed by its intermediate certificates.
    public var certificate: String?
    /// The path of the client key, or `nil` if the certificate file contains it.
    public var key: String?

    /// Creates an identity with the system's authorities and without a client certificate.
    public init() {}

    /// Reads the files and checks that they can be used.
    func read() throws(CredentialError) -> HTTPIdentity {
        var identity = HTTPIdentity()
        if let authorities { identity.authorities = try Self.certificates(authorities) }
        if let certificate {
            identity.certificate = (try Self.certificates(certificate), try Self.privateKey(key ?? certificate))
        }
        do throws(HTTPIdentity.CheckError) {
            try identity.check()
        } catch {
            switch error {
            case .authorities: throw .malformed(authorities ?? "", Self.noCertificates)
            case .certificate: throw .malformed(key ?? certificate ?? "", "this is not the key of \(certificate ?? "")")
            }
        }
        return identity
    }

    private static let noCertificates = "the file contains no PEM certificates"

    private static func certificates(_ path: String) throws(CredentialError) -> [UInt8] {
        let bytes = try OperatorFile.contents(of: path, isSecret: false)
        let blocks = PEMBlock.blocks(of: bytes).filter(\.isCertificate)
        guard !blocks.isEmpty, blocks.allSatisfy(\.isDERSequence) else { throw .malformed(path, noCertificates) }
        return bytes
    }

    private static func privateKey(_ path: String) throws(CredentialError) -> [UInt8] {
        let bytes = try OperatorFile.contents(of: path, isSecret: true)
        guard PEMBlock.blocks(of: bytes).contains(where: { $0.isUnencryptedKey && $0.isDERSequence }) else {
            throw .malformed(path, "the file contains no PEM private key without a passphrase")
        }
        return bytes
    }
}
