import Bytes
import Testing

/// Optional numbers in four bytes.
@Suite struct OptionalUInt32Tests {
    @Test("a number, or none, is returned as given", arguments: [nil, 0, 1, UInt32.max - 1] as [UInt32?])
    func value(number: UInt32?) {
        #expect(OptionalUInt32(number).value == number)
    }

    @Test("an optional number takes four bytes")
    func size() {
        #expect(MemoryLayout<OptionalUInt32>.stride == 4)
    }
}
