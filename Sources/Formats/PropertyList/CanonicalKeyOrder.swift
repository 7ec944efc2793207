import JSONText

/// Members of dictionaries in the order of the UTF-8 bytes of their keys.
extension PropertyListDocument {
    /// The positions of the members of a dictionary. Of keys that are equal once U+FFFD stands for lone surrogates, it has
    /// the last one alone.
    func canonicalOrder(of members: PropertyListMembers) -> [Int] {
        let sorted = sortedByUTF8((0..<members.count).map { ($0, key(at: $0, of: members)) })
        return sorted.indices.compactMap { index in
            let isRepeated = index + 1 < sorted.count && sorted[index + 1].utf8 == sorted[index].utf8
            return isRepeated ? nil : sorted[index].position
        }
    }

    /// Keys, with their positions, in canonical order; equal ones by their positions.
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
