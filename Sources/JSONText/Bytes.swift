extension Span<UInt8> {
    /// Less than, equal to or greater than 0, as these bytes sort before, with or after the others.
    public func ordered(against other: Span<UInt8>) -> Int {
        let shared = Swift.min(count, other.count)
        var index = 0
        while index < shared {
            let mine = self[index]
            let others = other[index]
            if mine != others { return Int(mine) - Int(others) }
            index += 1
        }
        return count - other.count
    }

    /// Whether the bytes are the same.
    public func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index < count {
            if self[index] != other[index] { return false }
            index += 1
        }
        return true
    }

    /// Whether the bytes are the UTF-8 of a text.
    public func equals(_ text: String) -> Bool {
        equals(text.utf8.span)
    }

    /// The bytes as an array of their own.
    public func copied() -> [UInt8] {
        [UInt8](capacity: count) { output in
            for index in indices { output.append(self[index]) }
        }
    }
}

extension [UInt8] {
    /// Appends the bytes of a span.
    public mutating func append(copying bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }
}

extension String {
    /// The text of UTF-8 bytes; what is malformed becomes U+FFFD.
    public init(readingUTF8 bytes: Span<UInt8>) {
        if let valid = try? UTF8Span(validating: bytes) {
            self.init(copying: valid)
        } else {
            self.init(decoding: bytes.copied(), as: UTF8.self)
        }
    }
}
