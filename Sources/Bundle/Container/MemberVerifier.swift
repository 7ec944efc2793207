/// Checks the decoded bytes of frames against the one member that they must hold, chunk by chunk, and reports
/// which of them are contents. Pure.
struct MemberVerifier {
    private let header: [UInt8]
    private let contentsEnd: Int
    private let total: Int
    private var position = 0

    init(_ header: TarHeader) {
        self.header = header.encoded()
        contentsEnd = TarHeader.blockSize + header.size
        total = header.memberSize
    }

    /// Takes the next chunk.
    ///
    /// - Returns: the part of the chunk that is contents, maybe empty.
    /// - Throws: `unexpectedBytes` at `offset` when the header or the padding is not what it must be, or there is more.
    mutating func verify(_ chunk: Span<UInt8>, at offset: Int) throws(ContainerError) -> Range<Int> {
        let error = ContainerError(at: offset, .unexpectedBytes)
        guard chunk.count <= total - position else { throw error }
        let start = min(max(TarHeader.blockSize - position, 0), chunk.count)
        let end = max(min(contentsEnd - position, chunk.count), start)
        for index in 0..<start where chunk[index] != header[position + index] { throw error }
        for index in end..<chunk.count where chunk[index] != 0 { throw error }
        position += chunk.count
        return start..<end
    }

    /// Whether nothing is missing.
    var isComplete: Bool { position == total }
}
