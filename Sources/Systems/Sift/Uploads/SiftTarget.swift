import Bytes

/// The path for list requests of an account, `/v3/accounts/<account id>/mobile_events`.
///
/// The account id is percent-encoded as one path segment, although the SDK itself inserts it unchanged.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 8.1 and 9.5.
enum SiftTarget {
    private static let pathPrefix = Array("/v3/accounts/".utf8)
    private static let pathSuffix = Array("/mobile_events".utf8)

    /// Returns the path for an account, or `nil` if the account id cannot be a path segment.
    ///
    /// An account id must not contain control characters. Its parts between slashes must not be empty, `.` or `..`,
    /// because a server that decodes the path could treat it as the path of another account.
    static func path(account: String) -> String? {
        guard account.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        let parts = account.utf8.split(omittingEmptySubsequences: false) { "/\\".utf8.contains($0) }
        guard !parts.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            return nil
        }
        var path = pathPrefix
        // The account id is encoded like a form value, so that only unreserved characters remain unescaped.
        PercentEncoding.append(formValue: account.utf8, to: &path)
        return String(decoding: path + pathSuffix, as: UTF8.self)
    }

    /// Returns the account id in a path created by ``path(account:)``, or `nil` for any other path.
    static func account(ofPath path: String) -> String? {
        let bytes = Array(path.utf8)
        guard bytes.count > pathPrefix.count + pathSuffix.count, bytes.starts(with: pathPrefix),
            bytes.suffix(pathSuffix.count) == pathSuffix[...],
            let unescaped = PercentEncoding.decoded(
                bytes.span.extracting(pathPrefix.count..<bytes.count - pathSuffix.count), plusIsSpace: false),
            let account = String(validating: unescaped, as: UTF8.self),
            self.path(account: account).map({ Array($0.utf8) }) == bytes
        else { return nil }
        return account
    }
}
