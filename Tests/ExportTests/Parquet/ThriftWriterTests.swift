import Testing

@testable import Export

/// Tests of the compact protocol of Thrift with bytes from its specification.
@Suite struct ThriftWriterTests {
    @Test(
        "Numbers have groups of seven bits",
        arguments: [
            (0, [0]), (127, [0x7F]), (128, [0x80, 0x01]), (50399, [0xDF, 0x89, 0x03]),
            (UInt64.max, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
        ] as [(UInt64, [UInt8])])
    func variableLength(number: UInt64, expected: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.append(variableLength: number)
        #expect(bytes == expected)
    }

    @Test(
        "Signed numbers are zigzag encoded",
        arguments: [
            (0, [0]), (-1, [1]), (1, [2]), (-2, [3]), (2_147_483_647, [0xFE, 0xFF, 0xFF, 0xFF, 0x0F]),
            (-2_147_483_648, [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
        ] as [(Int, [UInt8])])
    func zigzag(number: Int, expected: [UInt8]) {
        var writer = ThriftWriter()
        writer.addElement(int32: number)
        #expect(writer.bytes == expected)
    }

    @Test("The header of a field contains the difference from the previous number if it is at most 15")
    func fieldHeaders() {
        var writer = ThriftWriter()
        writer.addElement { fields in
            fields.add(1, int32: 1)
            fields.add(16, true)
            fields.add(32, false)
            fields.add(33, string: "ab")
        }
        #expect(writer.bytes == [0x15, 2, 0xF1, 0x02, 0x40, 0x18, 2, 97, 98, 0])
    }

    @Test("The field numbers of a nested structure begin at 0 and do not affect the outer ones")
    func nestedStructures() {
        var writer = ThriftWriter()
        writer.addElement { outer in
            outer.add(2) { $0.add(1, int64: -1) }
            outer.add(3, int32: 3)
        }
        #expect(writer.bytes == [0x2C, 0x16, 1, 0, 0x15, 6, 0])
    }

    @Test(
        "The header of a list contains the number of elements if it is less than 15",
        arguments: [(0, [0x19, 0x05]), (14, [0x19, 0xE5]), (15, [0x19, 0xF5, 15]), (200, [0x19, 0xF5, 0xC8, 0x01])])
    func lists(count: Int, header: [UInt8]) {
        var writer = ThriftWriter()
        writer.addElement { fields in
            fields.add(1, listOf: .int32, count: count) { list in
                for _ in 0..<count { list.addElement(int32: 0) }
            }
        }
        #expect(writer.bytes == header + [UInt8](repeating: 0, count: count) + [0])
    }
}
