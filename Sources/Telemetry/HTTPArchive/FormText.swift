import JSONText

/// Percent-encoded text, and the fields of an `application/x-www-form-urlencoded` body.
enum FormText {
    /// Resolves each `%XX`; nil where a percent sign is followed by anything else.
    static func percentDecoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        var bytes = text.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = bytes.next()?.hexadecimalValue, let low = bytes.next()?.hexadecimalValue else {
                    return nil
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    /// The decoded value of a form's first field of some name; nil if there is none or it is malformed.
    static func value(of name: String, in form: [UInt8]) -> [UInt8]? {
        for field in form.split(separator: UInt8(ascii: "&")) {
            let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
            guard field[..<equals].elementsEqual(name.utf8) else { continue }
            return percentDecoded(field[equals...].dropFirst(), plusIsSpace: true)
        }
        return nil
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit of either case.
    var hexadecimalValue: UInt8? {
        if isDigit { return self & 0xF }
        let letter = self | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(letter) ? letter - UInt8(ascii: "a") + 10 : nil
    }
}
