import Files
import Testing

@testable import Capture
@testable import Hashing

/// Tests of random access to encrypted files.
///
/// Cases B14 and B29 of "iOS backups".
@Suite struct DecryptedBytesTests {
    private static let key = CipherKey((0..<32).map { UInt8($0) })

    private func padded(_ plain: [UInt8]) -> [UInt8] {
        let count = 16 - plain.count % 16
        return plain + [UInt8](repeating: UInt8(count), count: count)
    }

    private func encrypted(_ blocks: [UInt8]) throws -> ByteSource {
        ByteSource(try #require(Self.key?.encrypt(blocks)))
    }

    private func message(_ source: ByteSource) throws -> String? {
        let key = try #require(Self.key)
        do throws(FileError) {
            _ = try DecryptedBytes.unpadded(source, key: key, path: "x")
            return nil
        } catch {
            return error.description
        }
    }

    @Test("The padding determines the length", arguments: [0, 1, 15, 16, 17, 31, 32, 1 << 20, 1 << 20 + 5])
    func lengths(_ count: Int) throws {
        let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let source = ByteSource(
            try DecryptedBytes.unpadded(encrypted(padded(plain)), key: try #require(Self.key), path: "x"))
        #expect(source.count == count)
        #expect(try source.bytes(at: 0, count: count + 50) == plain)
    }

    @Test("A part equals the same range of the whole, whatever its start and end are")
    func parts() throws {
        let plain = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let source = ByteSource(
            try DecryptedBytes.unpadded(encrypted(padded(plain)), key: try #require(Self.key), path: "x"))
        for start in 0...100 {
            for count in [1, 15, 16, 17, 33, 200] {
                #expect(try source.bytes(at: start, count: count) == Array(plain.dropFirst(start).prefix(count)))
            }
        }
    }

    @Test("Incomplete blocks and invalid padding yield no bytes")
    func faults() throws {
        for count in [0, 1, 15, 17] {
            let words = try #require(try message(ByteSource([UInt8](repeating: 1, count: count))))
            let size = count == 1 ? "1 byte" : "\(count) bytes"
            #expect(words == "B29 the encrypted file has \(size), which is not a multiple of the block size")
        }
        for end in [[UInt8(0)], [17], [2, 3, 3], [16]] {
            let blocks = [UInt8](repeating: 9, count: 32 - end.count) + end
            #expect(try message(encrypted(blocks)) == "B29 the padding of the encrypted file is invalid")
        }
    }
}
