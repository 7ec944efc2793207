import Files
import Processes

/// Those whose signatures are taken, as lists that `ssh-keygen` reads. All cryptography is its: we hand it the bytes and
/// believe its exit status.
///
/// A signature is SSHSIG over the bytes of a bundle (of volumes: over all of them in their order) for the namespace
/// `pingferry-bundle`, and lies beside it as `NAME.tar.zst.sig`.
///
/// ```swift
/// let signers = try Signers(allowed: list, revoked: nil, environment: environment)
/// let bundle = try BundleReader(BundleFile(path: path), knowing: Systems.table, signedBy: signers)
/// let principal = bundle.signer?.principal
/// ```
///
/// Source: `ssh-keygen(1)`, "ALLOWED SIGNERS"; OpenSSH's PROTOCOL.sshsig.
public struct Signers: Sendable {
    /// What signatures have to be made for, so that those of other things are not taken for a bundle's.
    public static let namespace = "pingferry-bundle"
    /// Where the signature of a bundle lies.
    /// - Parameter bundle: the path of the bundle: of volumes, without the number.
    public static func signaturePath(of bundle: String) -> String { "\(bundle).sig" }

    /// In bytes. A signature has some hundred bytes; one with a certificate, some thousand.
    private static let maxSignatureSize = 64 << 10
    /// A key may belong to several signers; each is a run over all bytes.
    private static let maxPrincipals = 16

    private let allowed: String
    private let revoked: String?
    private let keygen: InstalledProgram
    private let environment: [String: String]

    /// Finds `ssh-keygen` and looks at the lists.
    /// - Parameters:
    ///   - allowed: the path of a list in the format of `allowed_signers`.
    ///   - revoked: the path of a list of keys that are not taken any more, or of a key revocation list.
    ///   - environment: this program's own. `ssh-keygen` gets nothing of it but the folders of programs, the home folder and
    ///     the time zone, in which it reads `valid-before`.
    public init(allowed: String, revoked: String?, environment: [String: String]) throws(SignatureError) {
        do throws(FileError) {
            for path in [allowed, revoked].compactMap(\.self) { _ = try InputFile(path: path) }
        } catch {
            throw .file(error)
        }
        do throws(ProgramError) {
            keygen = try InstalledProgram("ssh-keygen", searching: environment["PATH"] ?? "")
        } catch {
            throw .program(error)
        }
        self.allowed = allowed
        self.revoked = revoked
        self.environment = environment.filter { ["PATH", "HOME", "TZ"].contains($0.key) }
            .merging(["LC_ALL": "C"]) { $1 }
    }

    /// Has a signature checked.
    /// - Parameters:
    ///   - source: the bytes that it has to be of.
    ///   - path: what messages call them.
    ///   - signature: the path of the signature.
    /// - Returns: the bytes that were checked, which refuse to be read once they have changed, and who signed them.
    public func verify(
        _ source: ByteSource, path: String, signature: String
    ) throws(SignatureError) -> (ByteSource, Signer) {
        try Self.checkArmor(signature)
        do {
            var failure = SignatureError.unknownSigner(signature)
            for principal in try principals(of: signature) {
                let (bytes, result) = try check(source, path: path, signature, by: principal)
                if let bytes, let key = KeygenOutput.key(of: result, principal) {
                    return (ByteSource(bytes), Signer(principal: principal, key: key))
                }
                failure = .refused(signature, reason: KeygenOutput.reason(of: result) ?? fallbackReason)
            }
            throw failure
        } catch let error as SignatureError {
            throw error
        } catch let error as ProgramError {
            throw .program(error)
        } catch let error as FileError {
            throw .file(error)
        } catch {
            throw .refused(signature, reason: "\(error)")
        }
    }

    /// What is meant where `ssh-keygen` refuses a signature without a word.
    private var fallbackReason: String {
        guard let revoked else { return "ssh-keygen does not say why" }
        return "the key is revoked, or \(revoked) is no list of keys"
    }

    /// What `ssh-keygen` leaves unread, such as a second signature, nobody has checked.
    private static func checkArmor(_ path: String) throws(SignatureError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try InputFile(path: path).contents(limit: maxSignatureSize)
        } catch {
            guard !error.isNotFound else { throw .missing(path) }
            throw error.isTooLarge || error.isNotAFile ? .notASignature(path) : .file(error)
        }
        guard SignatureArmor.isSingleSignature(bytes) else { throw .notASignature(path) }
    }

    /// Whose key it is that made the signature, by the list.
    private func principals(of signature: String) throws -> [String] {
        let result = try keygen.run(
            ["-Y", "find-principals", "-s", signature, "-f", allowed], environment: environment)
        guard result.status == 0 else {
            guard let reason = KeygenOutput.reason(of: result) else { throw SignatureError.unknownSigner(signature) }
            throw SignatureError.refused(signature, reason: reason)
        }
        return Array(KeygenOutput.lines(result.output).prefix(Self.maxPrincipals))
    }

    /// Has the bytes checked against the signature.
    /// - Returns: the bytes; nil where `ssh-keygen` did not read them all.
    private func check(
        _ source: ByteSource, path: String, _ signature: String, by principal: String
    ) throws -> (VerifiedBytes?, ProgramResult) {
        var arguments = ["-Y", "verify", "-f", allowed, "-I", principal, "-n", Self.namespace, "-s", signature]
        if let revoked { arguments += ["-r", revoked] }
        var bytes: VerifiedBytes?
        let result = try keygen.run(arguments, environment: environment) { write in
            var isRead = true
            let read = try VerifiedBytes(source, path: path) { block in
                isRead = try write(block)
                return isRead
            }
            if isRead { bytes = read }
        }
        return (bytes, result)
    }
}
