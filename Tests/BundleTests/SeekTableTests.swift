import Files
import Testing

@testable import Bundle

@Suite struct SeekTableTests {
    private let table = SeekTable([
        SeekTable.Entry(compressedSize: 20, contentSize: 512, checksum: 0x0102_0304),
        SeekTable.Entry(compressedSize: 30, contentSize: 1024, checksum: 0xffff_ffff),
    ])

    @Test func bytesMatchTheFormat() {
        let expected: [UInt8] =
            [0x5e, 0x2a, 0x4d, 0x18, 33, 0, 0, 0] + [20, 0, 0, 0, 0, 2, 0, 0, 4, 3, 2, 1]
            + [30, 0, 0, 0, 0, 4, 0, 0, 255, 255, 255, 255] + [2, 0, 0, 0, 0x80, 0xb1, 0xea, 0x92, 0x8f]
        #expect(table.encoded() == expected)
    }

    @Test func roundTrip() throws {
        #expect(try SeekTable(decoding: table.encoded(), frameByteCount: 50) == table)
        let source = ByteSource([UInt8](repeating: 1, count: 50) + table.encoded())
        #expect(try SeekTable.read(from: source) == table)
        #expect(try SeekTable(decoding: SeekTable([]).encoded(), frameByteCount: 0) == SeekTable([]))
    }

    @Test(arguments: [49, 51, 0, Int.max, -1])
    func sizesMustAddUp(frameByteCount: Int) {
        #expect(throws: FrameError.self) {
            try SeekTable(decoding: table.encoded(), frameByteCount: frameByteCount)
        }
    }

    @Test func damageOutsideTheChecksumsAndContentSizesIsRejected() {
        let bytes = table.encoded()
        // The reader compares content sizes and checksums with the frames.
        let free = Set([12..<20, 24..<32].joined())
        for index in bytes.indices where !free.contains(index) {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(bit)
                #expect(throws: FrameError.self) {
                    try SeekTable(decoding: flipped, frameByteCount: 50)
                }
            }
        }
    }

    @Test func truncatedTablesAreRejected() {
        let bytes = table.encoded()
        for count in 0..<bytes.count {
            #expect(throws: FrameError.self) {
                try SeekTable(decoding: Array(bytes.prefix(count)), frameByteCount: 50)
            }
            #expect(throws: ContainerError.self) {
                try SeekTable.read(from: ByteSource(Array(bytes.prefix(count))))
            }
        }
    }

    @Test(arguments: [
        [UInt8](repeating: 255, count: 4), [0, 0, 16, 0], [1, 0, 16, 0], [3, 0, 0, 0],
    ])
    func impossibleCountsAreRejected(count: [UInt8]) {
        var bytes = [UInt8](repeating: 1, count: 50) + table.encoded()
        bytes.replaceSubrange(bytes.count - 9..<bytes.count - 5, with: count)
        #expect(throws: ContainerError.self) { try SeekTable.read(from: ByteSource(bytes)) }
    }
}
