/// A property list in the binary form, made from XML or from a binary one that repeats keys.
struct RewrittenPropertyList {
    let bytes: [UInt8]
    /// The offset in the source of each object.
    let places: [UInt32]
    /// The repeated keys that were removed, or `nil` if there were none.
    let repeats: RepeatedKeys?
}

/// The keys that dictionaries repeat.
struct RepeatedKeys {
    /// The number of keys beside the first of its kind in each dictionary.
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
    /// Reports repeated keys.
    init(_ repeats: RepeatedKeys) {
        let words = repeats.count == 1 ? "a repeated key" : "\(repeats.count) repeated keys"
        self.init(.duplicateKey, at: repeats.offset, "\(words), of which the first value counts")
    }
}
