extension ByteSource {
    /// The size of a chunk, in bytes.
    private static let chunkSize = 1 << 20

    /// Copies the bytes to an unnamed temporary file on the disk of `folder`.
    public func copied(to folder: String) throws(FileError) -> SpoolFile {
        let copy = try SpoolFile(in: folder)
        try forEachChunk { bytes, offset throws(FileError) in try copy.write(bytes.span, at: offset) }
        return copy
    }

    /// Calls `body` with each chunk of the bytes in `range` and with the offset of the chunk in the source.
    ///
    /// If `range` is `nil`, all bytes are read.
    public func forEachChunk(
        in range: Range<Int>? = nil, _ body: ([UInt8], Int) throws(FileError) -> Void
    ) throws(FileError) {
        let range = range ?? 0..<count
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = try bytes(at: offset, count: min(Self.chunkSize, range.upperBound - offset))
            guard !bytes.isEmpty else { return }
            try body(bytes, offset)
            offset += bytes.count
        }
    }
}
