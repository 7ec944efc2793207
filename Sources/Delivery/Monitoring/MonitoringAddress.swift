import FoundationEssentials

/// The address of a check in a monitoring service, such as `https://hc-ping.com/<uuid>`.
///
/// The path is a secret, because everyone who knows it can report jobs.
public struct MonitoringAddress: Sendable, Equatable {
    /// The server of the service.
    let endpoint: Endpoint
    /// The percent-encoded path, without a slash at the end.
    let path: String

    /// The form of an address, for messages.
    public static let form = "an address such as https://example.org/path, without a user, query or fragment"

    /// Parses an `http` or `https` address, or returns `nil` for anything else.
    public init?(_ text: String) {
        guard text.isValidCredential, var parts = URLComponents(string: text), parts.percentEncodedQuery == nil,
            parts.percentEncodedFragment == nil
        else { return nil }
        let path = parts.percentEncodedPath
        parts.percentEncodedPath = ""
        guard let endpoint = parts.string.flatMap(Endpoint.init) else { return nil }
        self.endpoint = endpoint
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Reads the address from a file that only its owner can access and that contains nothing else.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - protectedFolder: A folder that only its owner can access. The permissions of its files are not checked.
    /// - Throws: ``CredentialError`` if the file cannot be read, or does not contain exactly one address.
    public init(file: String, protectedFolder: String? = nil) throws(CredentialError) {
        let bytes = try OperatorFile.secret(in: file, protectedFolder: protectedFolder)
        let lines = bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        guard lines.count == 1, let address = Self(String(decoding: lines[0], as: UTF8.self)) else {
            throw .malformed(file, "the file must contain \(Self.form)")
        }
        self = address
    }
}

extension MonitoringAddress: CustomStringConvertible, CustomReflectable {
    /// The scheme, host and port, so that the path is not printed.
    public var description: String { "\(endpoint)/…" }

    /// An empty mirror, so that `dump` does not print the path.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
