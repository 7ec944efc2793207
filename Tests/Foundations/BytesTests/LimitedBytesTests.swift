import Bytes
import Testing

@Suite struct LimitedBytesTests {
    @Test func bytesUpToTheLimitAreKept() {
        var bytes = LimitedBytes(byteLimit: 5)
        bytes.append(1)
        bytes.append([2, 3].span)
        bytes.append([4, 5].span)
        #expect(bytes.bytes == [1, 2, 3, 4, 5])
        #expect(!bytes.isTooLong)
        bytes.removeLast()
        #expect(bytes.bytes == [1, 2, 3, 4])
    }

    @Test func bytesBeyondTheLimitDiscardAll() {
        var bytes = LimitedBytes(byteLimit: 3)
        bytes.append([1, 2, 3].span)
        bytes.append(4)
        #expect(bytes.bytes.isEmpty)
        #expect(bytes.isTooLong)
        bytes.append(5)
        #expect(bytes.bytes.isEmpty)
        bytes.removeAll()
        bytes.append([6].span)
        #expect(bytes.bytes == [6])
        #expect(!bytes.isTooLong)
    }
}
