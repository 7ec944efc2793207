import Files

/// The allowed signers of bundles, in the format of `ssh-keygen`.
///
/// `ssh-keygen` verifies signatures. A signature is accepted only if `ssh-keygen` reads all bytes of the bundle, exits
/// with status 0 and reports a good signature of an allowed signer.
///
/// A signature has the SSHSIG format and the namespace `pingferry-bundle`. It covers the bytes of the bundle, or of all
/// volumes in order. The signature is stored beside the bundle as `NAME.tar.zst.sig`.
///
/// ```swift
/// let signers = try AllowedSigners(allowed: list, revoked: nil, environment: environment)
/// let bundle = try BundleReader(BundleFile(path: path), knowing: Systems.table, signedBy: signers)
/// let principal = bundle.signer?.principal
/// ```
///
/// Source: `ssh-keygen(1)`, "ALLOWED SIGNERS"; OpenSSH's PROTOCOL.sshsig.
public struct AllowedSigners: Sendable {
    /// The namespace of signatures, which prevents signatures of other data from being accepted for a bundle.
    public static let namespace = "pingferry-bundle"
    /// Returns the default path of the signature of the bundle at `bundle`.
    ///
    /// Pass the path of the bundle without a volume number.
    public static func signaturePath(of bundle: String) -> String { "\(bundle).sig" }

    /// The maximum size of a signature in bytes.
    ///
    /// Most signatures have fewer than 1,000 bytes. With a certificate, they have a few thousand.
    static let maxSignatureSize = 64 << 10
    /// The maximum number of signers that are tried if several signers have the key of a signature.
    ///
    /// The number is limited, because `ssh-keygen` must read the whole bundle for each signer.
    private static let maxPrincipalCount = 16

    private let signersPath: String
    private let revokedKeysPath: String?
    private let keygen: InstalledProgram
    private let environment: [String: String]

    /// Locates `ssh-keygen` and checks that the files at `allowed` and `revoked` can be opened.
    ///
    /// `allowed` is the path of the list of allowed signers. `revoked` is the path of a list of revoked keys or of a
    /// key revocation list, or `nil` if no keys are revoked. `ssh-keygen` receives only the search path, the home
    /// folder and the time zone of `environment`.
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
        signersPath = allowed
        revokedKeysPath = revoked
        self.environment = environment.filter { ["PATH", "HOME", "TZ"].contains($0.key) }
            .merging(["LC_ALL": "C"]) { $1 }
    }

    /// Verifies the signature of a bundle.
    ///
    /// `path` is the path of the bundle in errors, and `signature` is the path of the signature.
    ///
    /// - Returns: The verified bytes and the signer. Reading the bytes later throws an error if they have changed.
    public func verify(
        _ source: ByteSource, path: String, signature: String
    ) throws(SignatureError) -> (ByteSource, Signer) {
        try Self.checkArmor(signature)
        do {
            var failure = SignatureError.unknownSigner(signature)
            for principal in try principals(forSignatureAt: signature) {
                let (bytes, result) = try runVerification(source, path: path, signature, by: principal)
                if let bytes, let keyDescription = KeygenOutput.keyDescription(in: result, for: principal) {
                    return (ByteSource(bytes), Signer(principal: principal, keyDescription: keyDescription))
                }
                failure = .rejected(signature, reason: KeygenOutput.failureReason(in: result) ?? fallbackReason)
            }
            throw failure
        } catch let error as SignatureError {
            throw error
        } catch let error as ProgramError {
            throw .program(error)
        } catch let error as FileError {
            throw .file(error)
        } catch {
            throw .rejected(signature, reason: "\(error)")
        }
    }

    /// The reason that is reported if `ssh-keygen` rejects a signature without a message.
    private var fallbackReason: String {
        guard let revokedKeysPath else { return "ssh-keygen reported no reason" }
        return "the key is revoked, or \(revokedKeysPath) is not a list of keys"
    }

    /// Checks that the file is only one signature, because `ssh-keygen` ignores all bytes after the first signature.
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

    /// Returns the names of at most `maxPrincipalCount` allowed signers that have the key of the signature.
    private func principals(forSignatureAt signature: String) throws -> [String] {
        let result = try keygen.run(
            ["-Y", "find-principals", "-s", signature, "-f", signersPath], environment: environment)
        guard result.status == 0 else {
            guard let reason = KeygenOutput.failureReason(in: result) else {
                throw SignatureError.unknownSigner(signature)
            }
            throw SignatureError.rejected(signature, reason: reason)
        }
        return Array(ProgramResult.lines(of: result.output).prefix(Self.maxPrincipalCount))
    }

    /// Runs `ssh-keygen` to verify the signature as a signature of the signer `principal`.
    ///
    /// Returns the result, and the verified bytes, or `nil` instead of the bytes if `ssh-keygen` has not read all of
    /// them.
    private func runVerification(
        _ source: ByteSource, path: String, _ signature: String, by principal: String
    ) throws -> (VerifiedBytes?, ProgramResult) {
        var arguments = ["-Y", "verify", "-f", signersPath, "-I", principal, "-n", Self.namespace, "-s", signature]
        if let revokedKeysPath { arguments += ["-r", revokedKeysPath] }
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
