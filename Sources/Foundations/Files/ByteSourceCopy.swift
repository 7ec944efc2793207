extension ByteSource {
    /// How many bytes are taken at once.
    private static let step = 1 << 20

    /// The bytes in a private file without a name.
    public func copied(to folder: String) throws(FileError) -> SpoolFile {
        let copy = try SpoolFile(in: folder)
        try forEachStep { bytes, offset throws(FileError) in try copy.write(bytes.span, at: offset) }
        return copy
    }

    /// Hands out the bytes of a part, or all bytes, a step at a time.
    public func forEachStep(
        in range: Range<Int>? = nil, _ body: ([UInt8], Int) throws(FileError) -> Void
    ) throws(FileError) {
        let range = range ?? 0..<count
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = try bytes(at: offset, count: min(Self.step, range.upperBound - offset))
            guard !bytes.isEmpty else { return }
            try body(bytes, offset)
            offset += bytes.count
        }
    }
}
