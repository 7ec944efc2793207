import JSONText

/// A check in two sweeps over the table of objects, for files that are as all writers make them: every object is good,
/// reached or not, and containers stand before the containers that they hold, so that none contains itself.
extension BinaryCheck {
    /// Whether nothing is wrong. If not, the sweep does not know whether it matters: a walk has to find out.
    mutating func passes(_ bytes: Span<UInt8>) -> Bool {
        guard !countsBytes, let containers = checkScalars(bytes) else { return false }
        for number in containers.reversed() {
            guard let levels = levels(of: Int(number), in: bytes), levels <= depthLimit else { return false }
            states[Int(number)] = UInt16(levels)
        }
        return true
    }

    /// Checks all scalars, and gives each one level.
    /// - Returns: the numbers of the containers; nil if a scalar is bad.
    private mutating func checkScalars(_ bytes: Span<UInt8>) -> [UInt32]? {
        var containers: [UInt32] = []
        // So far no scalar without a count reaches the table.
        let safeEnd = layout.tableOffset - 17
        for number in 0..<layout.objectCount {
            let offset = Int(layout.offset(of: number, in: bytes))
            switch bytes[offset] {
            case 0xA0...0xAF, 0xC0...0xDF:
                containers.append(UInt32(truncatingIfNeeded: number))
                continue
            case 0x80...0x83, 0x10...0x13, 0x22, 0x23, 0x33, 0x08, 0x09:
                guard offset <= safeEnd else { fallthrough }
            default:
                guard (try? checkScalar(at: offset, in: bytes)) != nil else { return nil }
            }
            states[number] = 1
        }
        return containers
    }

    /// How many levels a container has of whose values the levels are known; nil if something is wrong with it.
    private mutating func levels(of number: Int, in bytes: Span<UInt8>) -> Int? {
        let offset = Int(layout.offset(of: number, in: bytes))
        let isDictionary = bytes[offset] >> 4 == 0xD
        let size = layout.referenceSize
        guard let extent = try? extent(at: offset, unit: isDictionary ? 2 * size : size, in: bytes) else { return nil }
        var start = extent.start
        var height: UInt16 = 0
        if isDictionary, extent.count > 0 {
            guard areKeys(from: start, count: extent.count, in: bytes) else { return nil }
            start += extent.count * size
            height = 1
        }
        for position in 0..<extent.count {
            let value = bytes.bigEndian(at: start + position * size, width: size)
            guard value < UInt64(states.count) else { return nil }
            let levels = states[Int(value)]
            guard levels > 0 else { return nil }
            height = max(height, levels)
        }
        return Int(height) + 1
    }

    private mutating func areKeys(from start: Int, count: Int, in bytes: Span<UInt8>) -> Bool {
        let members = PropertyListMembers(start: start, count: count)
        if keys.knows(members, layout: layout, in: bytes) { return true }
        for position in 0..<count {
            guard let number = try? reference(at: start + position * layout.referenceSize, in: bytes) else {
                return false
            }
            let kind = bytes[Int(layout.offset(of: number, in: bytes))] >> 4
            guard kind == 5 || kind == 6 else { return false }
        }
        return (try? keys.check(members, layout: layout, in: bytes, allowance: &allowance)) != nil
    }
}
