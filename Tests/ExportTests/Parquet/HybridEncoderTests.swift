import TestSupport
import Testing

@testable import Export

/// Tests of the hybrid encoding with bytes from its specification, and with a decoder.
@Suite struct HybridEncoderTests {
    private func encoded(_ runs: [(UInt32, Int)], bitWidth: Int) -> [UInt8] {
        var encoder = HybridEncoder(bitWidth: bitWidth)
        for (value, count) in runs { encoder.append(value, count: count) }
        return encoder.finish()
    }

    @Test("The numbers 0 to 7 are packed as in the example of the specification")
    func packedGroup() {
        #expect(encoded((0...7).map { ($0, 1) }, bitWidth: 3) == [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010])
    }

    @Test("Eight and more equal numbers are a run")
    func run() {
        #expect(encoded([(1, 8)], bitWidth: 1) == [16, 1])
        #expect(encoded([(300, 1000)], bitWidth: 9) == [0xD0, 0x0F, 0x2C, 0x01])
        #expect(encoded([(1, 3), (1, 5)], bitWidth: 1) == [16, 1])
    }

    @Test("The last group is padded with zeros")
    func padding() {
        #expect(encoded([(1, 3)], bitWidth: 1) == [0b11, 0b111])
        #expect(encoded([], bitWidth: 1) == [])
    }

    @Test("Random numbers of all widths are decoded to themselves", arguments: 1...32)
    func roundTrip(bitWidth: Int) {
        var generator = SeededGenerator(seed: UInt64(bitWidth))
        let largest = UInt32.max >> UInt32(32 - bitWidth)
        let runs = (0..<500).map { _ in
            let count = Bool.random(using: &generator) ? 1 : Int.random(in: 1...20, using: &generator)
            return (UInt32.random(in: 0...largest, using: &generator), count)
        }
        let numbers = runs.flatMap { [UInt32](repeating: $0.0, count: $0.1) }
        let decoded = decode(encoded(runs, bitWidth: bitWidth), bitWidth: bitWidth)
        #expect(Array(decoded.prefix(numbers.count)) == numbers)
        #expect(decoded.dropFirst(numbers.count).allSatisfy { $0 == 0 })
        #expect(decoded.count - numbers.count < 8)
    }

    /// Returns the encoded numbers and the padding.
    private func decode(_ bytes: [UInt8], bitWidth: Int) -> [UInt32] {
        var numbers: [UInt32] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var (header, shift) = (0, 0)
            while let byte = rest.popFirst() {
                header |= Int(byte & 0x7F) << shift
                shift += 7
                guard byte & 0x80 != 0 else { break }
            }
            let size = header & 1 == 0 ? (bitWidth + 7) / 8 : header >> 1 * bitWidth
            let contents = rest.prefix(size)
            rest = rest.dropFirst(size)
            func number(at bit: Int, width: Int) -> UInt32 {
                (0..<width).reduce(0) { result, index in
                    let position = bit + index
                    let byte = contents[contents.startIndex + position / 8]
                    return result | UInt32(byte >> UInt8(position % 8) & 1) << UInt32(index)
                }
            }
            if header & 1 == 0 {
                numbers += [UInt32](repeating: number(at: 0, width: bitWidth), count: header >> 1)
            } else {
                numbers += (0..<header >> 1 * 8).map { number(at: $0 * bitWidth, width: bitWidth) }
            }
        }
        return numbers
    }
}
