/// A property list in the binary form, converted from XML or from a binary file that repeats keys.
struct RewrittenPropertyList {
    let bytes: [UInt8]
    /// The source offset of each object.
    let sourceOffsets: [UInt32]
    /// The repeated keys that were removed, or `nil` if there were none.
    let repeats: RepeatedKeys?
}

/// A summary of the keys that are repeated within dictionaries of a file.
struct RepeatedKeys {
    /// The number of keys that repeat an earlier key of their dictionary.
    let count: Int
    /// The offset of the first dictionary that repeats a key.
    let offset: Int
}

extension RepeatedKeys? {
    /// Adds the `count` repeated keys of the dictionary at `offset`.
    mutating func add(_ count: Int, at offset: Int) {
        self = RepeatedKeys(count: (self?.count ?? 0) + count, offset: min(self?.offset ?? offset, offset))
    }
}

extension PropertyListError {
    /// Creates the error that reports repeated keys.
    init(_ repeats: RepeatedKeys) {
        let words = repeats.count == 1 ? "a repeated key" : "\(repeats.count) repeated keys"
        self.init(.duplicateKey, at: repeats.offset, "\(words), of which the first value counts")
    }
}
