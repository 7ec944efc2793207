import Bytes

// Patterns that detect ids in strings and numbers. A value with an id is not kept, even if it has a permitted form.
//
// Source: "Pseudonyms", section "Guarantees".
extension Span<UInt8> {
    /// Whether part of the string resembles an id, a token, a serial number or a network address.
    var mayContainID: Bool { hasLongRun || hasSerialNumber || hasIPAddress }

    /// Whether a decimal number has as many digits before its decimal point as an id of a phone or of its SIM card.
    ///
    /// An IMEI and an IMSI have 15 digits, and the number of a SIM card has 19 or 20. If the number has an exponent
    /// that is not negative, the digits after the decimal point are counted, too.
    var mayBePhoneID: Bool {
        let end = indices.first { self[$0] | 0x20 == UInt8(ascii: "e") } ?? count
        let isScaled = end + 1 < count && self[end + 1] != UInt8(ascii: "-")
        let point = indices.first { self[$0] == UInt8(ascii: ".") } ?? end
        let digits = (0..<(isScaled ? end : point)).count { self[$0].isDigit }
        return digits == 15 || digits > 18
    }

    /// Whether the string contains 15 consecutive digits, or 12 hexadecimal digits that include both letters and
    /// numerals, or 20 hexadecimal digits.
    ///
    /// Separators between digits are ignored, so that a UUID, a hardware address and a grouped IMEI are found.
    private var hasLongRun: Bool {
        var (digits, letters) = (0, 0)
        for index in 0...count {
            let byte = index < count ? self[index] : UInt8(ascii: " ")
            if byte.isDigit {
                digits += 1
            } else if byte.hexadecimalValue != nil {
                letters += 1
            } else if !"-_.:".utf8.contains(byte) {
                (digits, letters) = (0, 0)
            }
            let length = digits + letters
            if digits >= 15 || length >= 20 || length >= 12 && digits > 0 && letters > 0 { return true }
        }
        return false
    }

    /// Whether the string contains 12 consecutive letters and digits in at least four alternating groups of letters and
    /// digits, as a serial number or a part of a token does.
    private var hasSerialNumber: Bool {
        var (count, changes) = (0, 0)
        for index in indices {
            guard self[index].isLetter || self[index].isDigit else {
                (count, changes) = (0, 0)
                continue
            }
            count += 1
            if count > 1, self[index].isDigit != self[index - 1].isDigit { changes += 1 }
            if count >= 12, changes >= 3 { return true }
        }
        return false
    }

    /// Whether the string contains a run of four or more numbers from 0 to 255, as in an IPv4 address.
    ///
    /// The numbers are separated by dots, hyphens or underscores.
    private var hasIPAddress: Bool {
        var start = 0
        for end in 0...count where end == count || !(self[end].isDigit || self[end].isAddressSeparator) {
            var run = start..<end
            while let first = run.first, self[first].isAddressSeparator { run.removeFirst() }
            while let last = run.last, self[last].isAddressSeparator { run.removeLast() }
            if extracting(run).isIPv4Address { return true }
            start = end + 1
        }
        return false
    }

    private var isIPv4Address: Bool {
        var parts = 0
        var value = 0
        var digits = 0
        for index in indices {
            if self[index].isAddressSeparator {
                guard digits > 0 else { return false }
                (parts, value, digits) = (parts + 1, 0, 0)
                continue
            }
            guard self[index].isDigit, digits < 3 else { return false }
            value = value * 10 + Int(self[index] & 0xF)
            digits += 1
            guard value <= 255 else { return false }
        }
        return parts >= 3 && digits > 0
    }
}

extension UInt8 {
    fileprivate var isAddressSeparator: Bool { ".-_".utf8.contains(self) }
}
