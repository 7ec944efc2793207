extension ByteSource {
    /// The size of a chunk, in bytes.
    private static let step = 1 << 20

    /// Copies the bytes to an unnamed temporary file on the disk of `folder`.
    public func copied(to folder: String) throws(FileError) -> SpoolFile {
        let copy = try SpoolFile(in: folder)
        try forEachChunk { bytes, offset throws(FileError) in try copy.write(bytes.span, at: offset) }
        return copy
    }

    /// Calls `body` with the bytes of `range` and their offsets, one chunk at a time.
    ///
    /// - Parameters:
    ///   - range: The range to read, or `nil` for all bytes.
    ///   - body: Processes a chunk and its offset.
    /// - Throws: `FileError`.
    public func forEachChunk(
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
