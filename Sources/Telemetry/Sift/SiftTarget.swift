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
        for byte in account.utf8 {
            if isUnreserved(byte) {
                path.append(byte)
            } else {
                path += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 0xF)]
            }
        }
        return String(decoding: path + end, as: UTF8.self)
    }

    /// The account id that ``path(account:)`` makes a path of; nil for any other path.
    static func account(ofPath path: String) -> String? {
        let bytes = Array(path.utf8)
        guard bytes.count > start.count + end.count, bytes.starts(with: start), bytes.suffix(end.count) == end[...],
            let account = unescaped(bytes[start.count..<bytes.count - end.count]),
            self.path(account: account).map({ Array($0.utf8) }) == bytes
        else { return nil }
        return account
    }

    private static func unescaped(_ segment: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = segment
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// RFC 3986, section 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
