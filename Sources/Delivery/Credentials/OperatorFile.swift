import Files

/// The functions that read files provided by the operator, such as credentials, certificates and keys.
enum OperatorFile {
    private static let maximumSize = 16 << 20

    /// Returns the contents of the file at `path`, which contains a secret.
    ///
    /// Only the owner may have access to the file, unless it is in `protectedFolder`. Access to that folder is
    /// restricted to the owner, for example because it is the credentials folder that systemd creates.
    static func secret(in path: String, protectedFolder: String?) throws(CredentialError) -> [UInt8] {
        let isProtected =
            protectedFolder.map { !$0.isEmpty && path.hasPrefix($0 + "/") && !path.contains("/../") } ?? false
        return try contents(of: path, isSecret: !isProtected)
    }

    /// Returns the contents of the file at `path`, which must not be accessible to others if `isSecret` is `true`.
    static func contents(of path: String, isSecret: Bool) throws(CredentialError) -> [UInt8] {
        let (isPrivate, contents): (Bool, [UInt8])
        do throws(FileError) {
            let file = try InputFile(path: path)
            (isPrivate, contents) = (file.isPrivate, try file.contents(limit: maximumSize))
        } catch {
            throw .file(error)
        }
        guard isPrivate || !isSecret else { throw .accessibleToOthers(path) }
        return contents
    }
}

/// An error in the credentials that the operator provides.
public enum CredentialError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file cannot be read.
    case file(FileError)
    /// Other users can read or write the file at the path, although it contains a secret.
    case accessibleToOthers(String)
    /// The file does not have the documented format. The values are its path and the reason.
    case malformed(String, String)
    /// The environment variable with this name does not contain a valid key.
    case invalidVariable(String)

    /// A one-line message that contains no part of a credential.
    public var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .accessibleToOthers(let path): "\(path): other users can read or change the secret in this file"
        case .malformed(let path, let fault): "\(path): \(fault)"
        case .invalidVariable(let name): "\(name) must be printable ASCII text without spaces"
        }
    }

    /// A suggestion for how to resolve the error, or `nil` if there is no specific one.
    public var remedy: String? {
        switch self {
        case .accessibleToOthers(let path):
            "run chmod 600 \(path), and replace the secret if other users may have read it"
        default: nil
        }
    }
}
