/// Percent-encoding of text in addresses and forms. Source: RFC 3986, section 2.
enum PercentEncoding {
    /// A stored path with query: what may stand in an address stays, encoded bytes too; the rest is encoded.
    static func path(_ text: String) -> String {
        encoded(text.utf8) { isUnreserved($0) || "!$&'()*+,;=:@/?%".utf8.contains($0) }
    }

    /// Appends a value of a form: everything but unreserved characters is encoded, a space as `%20`.
    ///
    /// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3.
    static func append(formValue value: some Collection<UInt8>, to output: inout [UInt8]) {
        append(value, to: &output, keeping: isUnreserved)
    }

    private static func encoded(_ bytes: some Collection<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var output: [UInt8] = []
        append(bytes, to: &output, keeping: isKept)
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(
        _ bytes: some Collection<UInt8>, to output: inout [UInt8], keeping isKept: (UInt8) -> Bool
    ) {
        output.reserveCapacity(output.count + bytes.count + bytes.count / 2)
        for byte in bytes {
            if isKept(byte) {
                output.append(byte)
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(hexDigit(byte >> 4))
                output.append(hexDigit(byte & 0xF))
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
