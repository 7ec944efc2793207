import Bytes
import Files
import Hashing
import JSONText

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
    private static let maxSignatureSize = 64 << 10
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

// MARK: - Results of a verification

/// The signer of a bundle.
public struct Signer: Sendable, Equatable {
    /// The name of the signer in the list of allowed signers, such as `ines@example.org`.
    public let principal: String
    /// The description of the key as `ssh-keygen` prints it, such as `ED25519 key SHA256:…`.
    public let keyDescription: String

    /// The signer as canonical JSON.
    public var json: CanonicalObject { ["key": keyDescription, "principal": principal] }
}

/// The reason why a signature is not accepted.
public enum SignatureError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no signature at the given path.
    case missing(String)
    /// The file at the given path is not exactly one signature.
    case notASignature(String)
    /// The key of the signature at the given path does not belong to an allowed signer.
    case unknownSigner(String)
    /// `ssh-keygen` rejects the signature at the given path for the given reason.
    case rejected(String, reason: String)
    /// `ssh-keygen` cannot be run.
    case program(ProgramError)
    /// A file cannot be read.
    case file(FileError)

    /// A description in one line without a full stop.
    public var description: String {
        switch self {
        case .missing(let path): "not signed: there is no \(path)"
        case .notASignature(let path): "\(path) does not contain exactly one SSH signature"
        case .unknownSigner(let path): "\(path) was not made by any of the allowed signers"
        case .rejected(let path, let reason): "\(path) is not valid: \(reason)"
        case .program(let error): error.description
        case .file(let error): error.description
        }
    }

    /// A hint on how to resolve the error, or `nil` if no hint is available.
    public var remedy: String? {
        switch self {
        case .missing, .notASignature:
            "ask the packer to sign the bundle: ssh-keygen -Y sign -n \(AllowedSigners.namespace) -f KEY BUNDLE"
        case .unknownSigner: "do not use the bundle; if you trust the owner of the key, add it to the list of signers"
        case .rejected: "do not use the bundle; ask the packer about the signature, and check the list of signers"
        case .program(.missing): "install OpenSSH's ssh-keygen (openssh-client)"
        case .program(.notStarted), .file: nil
        }
    }
}

// MARK: - Output and formats of ssh-keygen

/// A parser for the output of `ssh-keygen`.
///
/// The output is used to describe keys and errors. A signature is valid only if the exit status is 0.
enum KeygenOutput {
    /// The maximum length, in characters, of a reason in messages.
    private static let maxReasonLength = 300

    /// Returns the description of the key of a valid signature, or `nil` if `ssh-keygen` does not report the signature
    /// of `principal` as good.
    ///
    /// An example of the parsed line is `Good "pingferry-bundle" signature for ines@example.org with ED25519 key
    /// SHA256:…`.
    static func keyDescription(in result: ProgramResult, for principal: String) -> String? {
        guard result.status == 0 else { return nil }
        let start = "Good \"\(AllowedSigners.namespace)\" signature for \(principal) with "
        return ProgramResult.lines(of: result.output).first { $0.hasPrefix(start) }.map {
            String($0.dropFirst(start.count))
        }
    }

    /// The messages of `ssh-keygen` that do not state why a signature is invalid.
    private static let genericMessages = ["Could not verify signature.", "No principal matched."]

    /// Returns the most specific reason why a signature is invalid, or `nil` if `ssh-keygen` reports no reason.
    static func failureReason(in result: ProgramResult) -> String? {
        let messages = (ProgramResult.lines(of: result.output) + ProgramResult.lines(of: result.errors)).filter {
            !genericMessages.contains($0)
        }
        return messages.last.map { String($0.prefix(maxReasonLength)) }
    }
}

/// The format of a signature file, which is base64 text between a begin marker and an end marker.
///
/// Source: OpenSSH's PROTOCOL.sshsig, "Armored format".
enum SignatureArmor {
    private static let beginMarker = Array("-----BEGIN SSH SIGNATURE-----\n".utf8)
    private static let endMarker = Array("-----END SSH SIGNATURE-----".utf8)

    /// Returns whether `bytes` are exactly one signature, ignoring line breaks at the end.
    static func isSingleSignature(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while let last = rest.last, last == 0x0a || last == 0x0d { rest.removeLast() }
        guard rest.starts(with: beginMarker), rest.count > beginMarker.count + endMarker.count,
            rest.suffix(endMarker.count) == endMarker[...]
        else { return false }
        return rest.dropFirst(beginMarker.count).dropLast(endMarker.count).allSatisfy(isBase64OrLineBreak)
    }

    private static func isBase64OrLineBreak(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte.isOne(of: "+/=\n\r")
    }
}

// MARK: - Verified bytes

/// Bytes that are compared with stored hashes whenever they are read.
///
/// Reading bytes that have changed throws an error.
struct VerifiedBytes: ByteProvider {
    /// The size, in bytes, of a block with a separate hash.
    static let blockSize = 64 << 10

    let count: Int
    private let source: ByteSource
    private let path: String
    private let hashes: [ContentHash]

    /// Calls `body` with each block of a source until `body` returns `false`, and stores the hash of each block.
    init(_ source: ByteSource, path: String, _ body: (Span<UInt8>) throws -> Bool) throws {
        self.source = source
        self.path = path
        var hashes: [ContentHash] = []
        var offset = 0
        while offset < source.count {
            let bytes = try source.bytes(at: offset, count: min(Self.blockSize, source.count - offset))
            guard !bytes.isEmpty else { throw FileError(changedFileAt: path) }
            hashes.append(ContentHash(of: bytes))
            guard try body(bytes.span) else { break }
            offset += bytes.count
        }
        self.hashes = hashes
        count = source.count
    }

    func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        var offset = offset
        while offset < count, !output.isFull {
            let number = offset / Self.blockSize
            let block = try block(number)
            offset += output.append(fittingPrefixOf: block.span.extracting((offset - number * Self.blockSize)...))
        }
    }

    /// Returns `true`, because every read is verified.
    func isUnchanged(checkingPath checksPath: Bool) -> Bool { true }

    private func block(_ number: Int) throws(FileError) -> [UInt8] {
        let start = number * Self.blockSize
        let bytes = try source.bytes(at: start, count: min(Self.blockSize, count - start))
        guard number < hashes.count, ContentHash(of: bytes) == hashes[number] else {
            throw FileError(changedFileAt: path)
        }
        return bytes
    }
}
