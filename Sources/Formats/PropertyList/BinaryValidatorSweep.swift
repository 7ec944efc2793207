import JSONText

/// A fast check that reads the object table twice.
///
/// A file passes if all its objects are valid, including unreachable objects, no dictionary repeats a key, and each
/// container precedes the containers in it. Encoders write objects in this order, which rules out cycles.
extension BinaryValidator {
    /// Returns whether all objects pass the fast check, so that ``walk(_:)`` is not needed.
    mutating func passesSweep(_ bytes: Span<UInt8>) -> Bool {
        guard !layout.sharesOffsets else { return false }
        // The number of levels of each object, or 0 for a container that was not checked yet.
        var levels = [UInt16](repeating: 0, count: layout.objectCount)
        var levelCounts = levels.mutableSpan
        guard checkScalars(bytes, levels: &levelCounts) else { return false }
        for number in (0..<levelCounts.count).reversed() where levelCounts[number] == 0 {
            guard let count = countLevels(of: number, in: bytes, levels: levelCounts.span), count <= depthLimit else {
                return false
            }
            levelCounts[number] = UInt16(count)
        }
        return true
    }

    /// Checks all scalars, sets the number of levels of each scalar to 1, and returns whether all scalars are valid.
    private mutating func checkScalars(_ bytes: Span<UInt8>, levels: inout MutableSpan<UInt16>) -> Bool {
        // A scalar of fixed size that starts at or before this offset ends before the table.
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

    /// Returns the number of levels of a container from the levels of its values, or `nil` if the container is invalid.
    private mutating func countLevels(of number: Int, in bytes: Span<UInt8>, levels: Span<UInt16>) -> Int? {
        let offset = Int(layout.offset(of: number, in: bytes))
        let isDictionary = bytes[offset] >> 4 == 0xD
        let size = layout.referenceSize
        guard let extent = try? extent(at: offset, unit: isDictionary ? 2 * size : size, in: bytes) else { return nil }
        var start = extent.start
        var height: UInt16 = 0
        if isDictionary, extent.count > 0 {
            guard areDistinctKeys(from: start, count: extent.count, in: bytes) else { return nil }
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

    private mutating func areDistinctKeys(from start: Int, count: Int, in bytes: Span<UInt8>) -> Bool {
        let members = PropertyListMembers(start: start, count: count)
        if repeatedKeyFinder.hasChecked(members, layout: layout, in: bytes) { return true }
        for position in 0..<count {
            guard let number = try? reference(at: start + position * layout.referenceSize, in: bytes) else {
                return false
            }
            let kind = bytes[Int(layout.offset(of: number, in: bytes))] >> 4
            guard kind == 5 || kind == 6 else { return false }
        }
        // A repeated key has to be removed. The walk does that.
        return
            (try? repeatedKeyFinder.repeatedKeys(
                of: members, layout: layout, in: bytes, budget: &budget))?.isEmpty ?? false
    }
}
