extension Span<UInt8> {
    /// Whether every byte is zero.
    public var isAllZero: Bool { allSatisfy { $0 == 0 } }

    /// Returns an array with the bytes.
    public func copied() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(copying: self)
        return bytes
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
