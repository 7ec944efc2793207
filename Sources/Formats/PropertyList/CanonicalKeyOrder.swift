import JSONText

/// Methods that sort the members of dictionaries by the UTF-8 bytes of their keys.
extension PropertyListDocument {
    /// Returns the positions of a dictionary's members in canonical order.
    ///
    /// If several keys are equal, only the position of the last equal key is included.
    func canonicalOrder(of members: PropertyListMembers) -> [Int] {
        let sorted = sortedByUTF8((0..<members.count).map { ($0, key(at: $0, of: members)) })
        return sorted.indices.compactMap { index in
            // Keys that differ only in lone surrogates are equal, because U+FFFD replaces these surrogates.
            let isRepeated = index + 1 < sorted.count && sorted[index + 1].utf8 == sorted[index].utf8
            return isRepeated ? nil : sorted[index].position
        }
    }

    /// Returns the UTF-8 bytes of the keys with their positions, sorted in canonical order.
    ///
    /// Equal keys are sorted by position.
    func sortedByUTF8(
        _ keys: [(position: Int, key: PropertyListNode)]
    ) -> [(position: Int, utf8: [UInt8])] {
        let texts = keys.map { entry in
            var utf8: [UInt8] = []
            appendUTF8(of: entry.key, to: &utf8)
            return (position: entry.position, utf8: utf8)
        }
        return texts.sorted { left, right in
            let order = left.utf8.span.ordered(against: right.utf8.span)
            return order == 0 ? left.position < right.position : order < 0
        }
    }
}
