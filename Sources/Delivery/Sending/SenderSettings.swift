import HTTP
import Telemetry

/// The settings for sending requests.
public struct SenderSettings: Sendable {
    /// The servers that receive uploads, by type.
    public var servers: ServerTable
    /// The rules that select a proxy.
    public var proxies = ProxyRules()
    /// The trusted certificate authorities and the client certificate.
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

    /// Creates settings with the endpoints in `given`, and the documented endpoints of all other systems.
    public init(agent: String, endpoints given: [SystemName: Endpoint] = [:], systems: SystemTable) {
        self.agent = agent
        servers = ServerTable(given: given, of: systems)
    }
}

/// The certificate files for encrypted connections, in PEM format.
public struct TLSIdentity: Sendable {
    /// The path of a file with trusted certificate authorities, or `nil` to use the authorities of the system.
    public var certificateAuthoritiesPath: String?
    /// The path of a file with the client certificate and its intermediate certificates, or `nil` to send none.
    public var certificate: String?
    /// The path of a file with the private key of the client, or `nil` if the certificate file contains the key.
    public var key: String?

    /// Creates an identity that uses the system's certificate authorities and no client certificate.
    public init() {}

    /// Reads the certificate and key files, and checks that they can be used.
    func read() throws(CredentialError) -> HTTPIdentity {
        var identity = HTTPIdentity()
        if let certificateAuthoritiesPath {
            identity.authorities = try Self.certificates(certificateAuthoritiesPath)
        }
        if let certificate {
            identity.certificate = (try Self.certificates(certificate), try Self.privateKey(key ?? certificate))
        }
        do throws(HTTPIdentity.CheckError) {
            try identity.check()
        } catch {
            switch error {
            case .authorities: throw .malformed(certificateAuthoritiesPath ?? "", Self.noCertificates)
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
