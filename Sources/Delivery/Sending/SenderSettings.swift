import HTTP
import Telemetry

/// How requests are sent.
public struct SenderSettings: Sendable {
    /// Where each system's records go.
    public var endpoints: [SystemName: Endpoint]
    /// Through which proxy.
    public var proxies = ProxyRules()
    /// Whom to trust, and who we are.
    public var identity = TLSIdentity()
    /// How many connections there may be to one endpoint.
    public var connections = 8
    /// How long a connection may take to come up, in seconds.
    public var connectTimeout = 10
    /// How long a server may say nothing, in seconds.
    public var readTimeout = 30
    /// How long a request and its whole answer may take, in seconds.
    public var exchangeTimeout = 120
    /// What the header `User-Agent` says.
    public var agent: String

    /// Makes settings; endpoints that are not given are the documented ones.
    public init(agent: String, endpoints given: [SystemName: Endpoint] = [:], systems: SystemTable) {
        self.agent = agent
        endpoints = given
        for system in systems.all where endpoints[system.name] == nil {
            endpoints[system.name] = Endpoint(system.uploads.endpoint)
        }
    }
}

/// The certificates of encrypted connections, as files in PEM.
public struct TLSIdentity: Sendable {
    /// The authorities to trust instead of the system's.
    public var authorities: String?
    /// Our certificate, with those between it and its authority after it.
    public var certificate: String?
    /// The key of our certificate; by default in the same file.
    public var key: String?

    /// The system's authorities and no certificate.
    public init() {}

    /// Reads the files and finds out whether they can be used.
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
