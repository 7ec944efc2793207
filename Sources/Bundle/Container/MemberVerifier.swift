/// A verifier that checks, in chunks, that decoded bytes consist of the expected header, contents of the expected size,
/// and zero bytes as padding.
struct MemberVerifier {
    private let headerBytes: [UInt8]
    private let contentsEnd: Int
    private let memberSize: Int
    private var position = 0

    init(_ header: TarHeader) {
        headerBytes = header.encoded()
        contentsEnd = TarHeader.blockSize + header.size
        memberSize = header.memberSize
    }

    /// Verifies the next chunk, and returns the range of the chunk that belongs to the contents.
    mutating func verify(_ chunk: Span<UInt8>, at offset: Int) throws(ContainerError) -> Range<Int> {
        let error = ContainerError(at: offset, .unexpectedBytes)
        guard chunk.count <= memberSize - position else { throw error }
        let start = min(max(TarHeader.blockSize - position, 0), chunk.count)
        let end = max(min(contentsEnd - position, chunk.count), start)
        for index in 0..<start where chunk[index] != headerBytes[position + index] { throw error }
        for index in end..<chunk.count where chunk[index] != 0 { throw error }
        position += chunk.count
        return start..<end
    }

    /// Whether all bytes of the member have been verified.
    var isComplete: Bool { position == memberSize }
}
