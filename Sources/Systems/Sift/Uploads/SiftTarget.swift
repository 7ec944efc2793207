import Bytes

/// The path that list requests of an account are sent to: `/v3/accounts/<account id>/mobile_events`.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 8.1 and 9.5. The SDK inserts the account id as it is; here
/// it is percent-escaped as one segment of the path.
enum SiftTarget {
    private static let start = Array("/v3/accounts/".utf8)
    private static let end = Array("/mobile_events".utf8)

    /// The path for an account; nil for an id that cannot be a segment of a path: with control characters, or with a part
    /// that is empty, `.` or `..`, which a server that decodes too early would take for another account's path.
    static func path(account: String) -> String? {
        guard account.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        let parts = account.utf8.split(omittingEmptySubsequences: false) { "/\\".utf8.contains($0) }
        guard !parts.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            return nil
        }
        var path = start
        // A segment is escaped like the value of a form: all but unreserved characters.
        PercentEncoding.append(formValue: account.utf8, to: &path)
        return String(decoding: path + end, as: UTF8.self)
    }

    /// The account id that ``path(account:)`` makes a path of; nil for any other path.
    static func account(ofPath path: String) -> String? {
        let bytes = Array(path.utf8)
        guard bytes.count > start.count + end.count, bytes.starts(with: start), bytes.suffix(end.count) == end[...],
            let unescaped = PercentEncoding.decoded(
                bytes.span.extracting(start.count..<bytes.count - end.count), plusIsSpace: false),
            let account = String(validating: unescaped, as: UTF8.self),
            self.path(account: account).map({ Array($0.utf8) }) == bytes
        else { return nil }
        return account
    }
}
