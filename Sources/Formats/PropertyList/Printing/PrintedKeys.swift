import JSONText

/// Methods that select and order the members of objects.
extension PropertyListPrinter {
    mutating func openMembers(
        of node: PropertyListNode, source: Int, className: PropertyListNode?, to output: inout [UInt8]
    ) {
        let document = sources[source].document
        let members = document.members(of: node)
        var frame = PrintedFrame(.members(members), source: source, object: node)
        frame.className = className
        if options.sortsKeys {
            let keys = (0..<members.count).map { (position: $0, key: document.key(at: $0, of: members)) }
            frame.order = document.sortedByUTF8(keys).map(\.position)
        }
        open(frame, to: &output)
    }

    /// Opens a dictionary of an archive.
    ///
    /// If all keys are strings, the dictionary is written as an object without repeated keys. If not, it is written as
    /// a list of entries.
    mutating func openPairs(
        _ pairs: KeyedPairs, of object: PropertyListNode, source: Int, to output: inout [UInt8]
    ) {
        var keys: [(position: Int, key: PropertyListNode)] = []
        keys.reserveCapacity(pairs.count)
        for position in 0..<pairs.count {
            guard case .text(let key)? = try? keyValue(position, of: pairs, in: source) else {
                return open(PrintedFrame(.entries(pairs), source: source, object: object), to: &output)
            }
            keys.append((position, key))
        }
        let document = sources[source].document
        let repeated = repeatedKeys(keys, document)
        var frame = PrintedFrame(.pairs(pairs), source: source, object: object)
        if !repeated.isEmpty {
            keys.removeAll { repeated.contains($0.position) }
            frame.order = keys.map(\.position)
            let repeats = RepeatedKeys(count: repeated.count, offset: document.offset(of: object))
            warn(PropertyListError(repeats), isLoss: true)
        }
        if options.sortsKeys { frame.order = document.sortedByUTF8(keys).map(\.position) }
        open(frame, to: &output)
    }

    /// Returns the positions of the keys that equal an earlier key.
    private func repeatedKeys(
        _ keys: [(position: Int, key: PropertyListNode)], _ document: PropertyListDocument
    ) -> Set<Int> {
        var marked = keys.map { (fingerprint: document.fingerprint(of: $0.key), position: $0.position, key: $0.key) }
        marked.sort { ($0.fingerprint, $0.position) < ($1.fingerprint, $1.position) }
        var repeated: Set<Int> = []
        for later in marked.indices.dropFirst() {
            // Different keys rarely have the same fingerprint, so comparing a few predecessors is enough.
            for earlier in max(0, later - Self.maxComparedKeys)..<later
            where marked[earlier].fingerprint == marked[later].fingerprint
                && document.text(marked[earlier].key, equals: marked[later].key)
            {
                repeated.insert(marked[later].position)
            }
        }
        return repeated
    }

    private static let maxComparedKeys = 8
}
