import Foundation
import TestSupport

/// A test authority and the certificates that it has signed, as PEM files.
struct Certificates {
    let folder: TemporaryFolder
    var authority: String { folder("authority.pem") }

    init() throws {
        folder = try TemporaryFolder()
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=Test authority", "-keyout", folder("authority.key"), "-out", authority)
    }

    /// Creates a key and a certificate for `names`, such as `IP:127.0.0.1`.
    ///
    /// An expired certificate is signed in the past, because newer versions of OpenSSL sign none that ends before it begins.
    func make(_ name: String, names: String = "IP:127.0.0.1", isExpired: Bool = false) throws -> (
        certificate: String, key: String
    ) {
        let (key, request, certificate) = (folder("\(name).key"), folder("\(name).csr"), folder("\(name).pem"))
        try openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)", "-keyout",
            key, "-out", request)
        let extensions = try folder.put("subjectAltName=\(names)\n", "\(name).ext")
        let clock = isExpired ? ["env"] + clockVariables("2020-01-01 12:00:00").map { "\($0)=\($1)" } : []
        try tool(
            clock + [
                "openssl", "x509", "-req", "-in", request, "-CA", authority, "-CAkey", folder("authority.key"), "-days",
                "2", "-extfile", extensions, "-out", certificate,
            ])
        return (certificate, key)
    }

    private func openssl(_ arguments: String...) throws { try tool(["openssl"] + arguments) }
}
