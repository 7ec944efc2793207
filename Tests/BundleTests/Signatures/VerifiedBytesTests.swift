import Files
import Foundation
import TestSupport
import Testing

@testable import Bundle

/// Tests of bytes that cannot be read after they have changed.
@Suite struct VerifiedBytesTests {
    private let folder: TemporaryFolder
    private let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    init() throws { folder = try TemporaryFolder() }

    private func verify(_ source: ByteSource) throws -> (ByteSource, [UInt8]) {
        var seen: [UInt8] = []
        let verified = try VerifiedBytes(source, path: "a") { block in
            seen.append(copying: block)
            return true
        }
        return (ByteSource(verified), seen)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000]) func bytesEqualTheSource(count: Int) throws {
        let bytes = Array(bytes.prefix(count))
        let (verified, seen) = try verify(ByteSource(bytes))
        #expect(seen == bytes)
        #expect(verified.count == count)
        for (offset, wanted) in [(0, 300_000), (1, 10), (65_530, 20), (count / 2, 70_000), (count, 1)] {
            #expect(try verified.bytes(at: offset, count: wanted) == Array(bytes.dropFirst(offset).prefix(wanted)))
        }
    }

    @Test(arguments: [0, 70_000, 199_999]) func changedByteIsDetected(offset: Int) throws {
        let path = folder("a")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let (verified, _) = try verify(ByteSource(try InputFile(path: path)))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: [bytes[offset] ^ 1])
        #expect(throws: FileError(changedFileAt: "a")) { try verified.bytes(at: offset, count: 1) }
        // The other blocks can still be read.
        let other = offset < 100_000 ? 150_000 : 0
        #expect(try verified.bytes(at: other, count: 5) == Array(bytes[other..<other + 5]))
    }

    @Test func truncatedFileIsDetected() throws {
        let path = folder("a")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let (verified, _) = try verify(ByteSource(try InputFile(path: path)))
        #expect(truncate(path, 100_000) == 0)
        #expect(throws: FileError(changedFileAt: "a")) { try verified.bytes(at: 150_000, count: 1) }
    }

    @Test func unverifiedBlockCannotBeRead() throws {
        let verified = ByteSource(try VerifiedBytes(ByteSource(bytes), path: "a") { _ in false })
        #expect(try verified.bytes(at: 0, count: 1) == [bytes[0]])
        #expect(throws: FileError(changedFileAt: "a")) { try verified.bytes(at: 70_000, count: 1) }
    }
}
