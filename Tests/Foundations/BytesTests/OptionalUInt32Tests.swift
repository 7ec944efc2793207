import Bytes
import Testing

@Suite struct OptionalUInt32Tests {
    @Test("an optional number is returned unchanged", arguments: [nil, 0, 1, UInt32.max - 1] as [UInt32?])
    func value(number: UInt32?) {
        #expect(OptionalUInt32(number).value == number)
    }

    @Test("an optional number occupies four bytes")
    func size() {
        #expect(MemoryLayout<OptionalUInt32>.stride == 4)
    }
}
