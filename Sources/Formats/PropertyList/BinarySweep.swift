import JSONText

/// A check in two sweeps over the table of objects, for files that are as all writers make them: every object is good,
/// reached or not, and containers stand before the containers that they hold, so that none contains itself.
extension BinaryCheck {
    /// Whether nothing is wrong. If not, the sweep does not know whether it matters: a walk has to find out.
    mutating func passes(_ bytes: Span<UInt8>) -> Bool {
        guard !layout.sharesOffsets else { return false }
        // For each object the number of its levels; 0 for a container that was not looked at.
        var levels = [UInt16](repeating: 0, count: layout.objectCount)
        var places = levels.mutableSpan
        guard checkScalars(bytes, levels: &places) else { return false }
        for number in (0..<places.count).reversed() where places[number] == 0 {
            guard let count = countLevels(of: number, in: bytes, levels: places.span), count <= depthLimit else {
                return false
            }
            places[number] = UInt16(count)
        }
        return true
    }

    /// Checks all scalars, and gives each one level.
    private mutating func checkScalars(_ bytes: Span<UInt8>, levels: inout MutableSpan<UInt16>) -> Bool {
        // Before this place no scalar without a count reaches the table.
        let safeEnd = layout.tableOffset - 17
        for number in levels.indices {
            let offset = Int(layout.offset(of: number, in: bytes))
            switch bytes[offset] {
            case 0xA0...0xAF, 0xC0...0xDF: continue
            case 0x80...0x83, 0x10...0x13, 0x22, 0x23, 0x33, 0x08, 0x09:
                guard offset <= safeEnd else { fallthrough }
            default:
                guard (try? checkScalar(at: offset, in: bytes)) != nil else { return false }
            }
            levels[number] = 1
        }
        return true
    }

    /// How many levels a container has of whose values the levels are known; nil if something is wrong with it.
    private mutating func countLevels(of number: Int, in bytes: Span<UInt8>, levels: Span<UInt16>) -> Int? {
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
        let end = start + extent.count * size
        while start < end {
            let value = bytes.bigEndian(at: start, width: size)
            guard value < UInt64(levels.count) else { return nil }
            let count = levels[Int(truncatingIfNeeded: value)]
            guard count > 0 else { return nil }
            height = max(height, count)
            start &+= size
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
        // A repeated key has to be removed, which the walk does.
        return (try? keys.repeatedKeys(of: members, layout: layout, in: bytes, allowance: &allowance))?.isEmpty ?? false
    }
}
