import Files

/// Files that an operator gives: credentials, certificates, keys.
enum OperatorFile {
    private static let lengthLimit = 16 << 20

    /// The contents of a file.
    /// - Throws: ``CredentialError``, if others can read or write a file with a secret.
    static func contents(of path: String, isSecret: Bool) throws(CredentialError) -> [UInt8] {
        let (isPrivate, contents): (Bool, [UInt8])
        do throws(FileError) {
            let file = try InputFile(path: path)
            (isPrivate, contents) = (file.isPrivate, try file.contents(limit: lengthLimit))
        } catch {
            throw .file(error)
        }
        guard isPrivate || !isSecret else { throw .accessibleToOthers(path) }
        return contents
    }
}

/// Why credentials cannot be used.
public enum CredentialError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file cannot be read.
    case file(FileError)
    /// Others than the owner can read or write a file with a secret.
    case accessibleToOthers(String)
    /// The file does not have the documented form.
    case malformed(String, String)
    /// A variable of the environment does not hold a key.
    case invalidVariable(String)

    /// One line, without any part of a credential.
    public var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .accessibleToOthers(let path): "\(path): others can read or change the secret in it"
        case .malformed(let path, let fault): "\(path): \(fault)"
        case .invalidVariable(let name): "\(name) is no text of printable ASCII without spaces"
        }
    }

    /// What to do about it.
    public var remedy: String? {
        switch self {
        case .accessibleToOthers(let path): "run chmod 600 \(path), and replace the secret if others may have seen it"
        default: nil
        }
    }
}
