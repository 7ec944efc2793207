/// An encoder that stores small numbers as runs of equal numbers and as groups of eight bit-packed numbers.
///
/// Source: Parquet, "Encodings", section "Run Length Encoding / Bit-Packing Hybrid".
struct HybridEncoder {
    /// The number of values in a group, and the minimum length of an encoded run.
    private static let groupSize = 8
    /// The maximum number of groups after one header, so that the header is a single byte.
    private static let maxGroupCount = 63

    private var bytes: [UInt8] = []
    private let bitWidth: Int
    private var run: (value: UInt32, count: Int) = (0, 0)
    /// The index of the header of the open sequence of groups, or `nil` if no sequence is open.
    private var headerIndex: Int?
    /// The number of complete groups in the open sequence.
    private var groupCount = 0
    /// The number of values in the incomplete group.
    private var pendingCount = 0
    /// The bits of the incomplete group that have not been written.
    private var bits: UInt64 = 0
    private var bitCount = 0

    /// Creates an encoder of numbers less than 2 to the power of `bitWidth`.
    init(bitWidth: Int) { self.bitWidth = bitWidth }

    /// Appends `count` equal numbers.
    mutating func append(_ value: UInt32, count: Int) {
        if value == run.value {
            run.count += count
        } else {
            writeRun()
            run = (value, count)
        }
    }

    /// Returns the encoded numbers.
    consuming func finish() -> [UInt8] {
        writeRun()
        // The last group is padded with zeros.
        while pendingCount > 0 { pack(0) }
        closeGroups()
        return bytes
    }

    private mutating func writeRun() {
        var count = run.count
        while count > 0, pendingCount > 0 || count < Self.groupSize {
            pack(run.value)
            count -= 1
        }
        guard count > 0 else { return }
        closeGroups()
        bytes.append(variableLength: UInt64(count) << 1)
        for shift in stride(from: 0, to: UInt32(bitWidth), by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: run.value >> shift))
        }
    }

    private mutating func pack(_ value: UInt32) {
        if headerIndex == nil {
            headerIndex = bytes.count
            bytes.append(0)
        }
        bits |= UInt64(value) &<< UInt64(bitCount)
        bitCount &+= bitWidth
        while bitCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits &>>= 8
            bitCount &-= 8
        }
        pendingCount += 1
        guard pendingCount == Self.groupSize else { return }
        pendingCount = 0
        groupCount += 1
        if groupCount == Self.maxGroupCount { closeGroups() }
    }

    private mutating func closeGroups() {
        guard let index = headerIndex else { return }
        bytes[index] = UInt8(groupCount) << 1 | 1
        headerIndex = nil
        groupCount = 0
    }
}
