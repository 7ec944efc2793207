/// The names of selected entries of a folder.
///
/// Each name is created on access, which saves memory for folders with millions of entries.
public struct FileNames: RandomAccessCollection, Sendable {
    /// All entries of the folder.
    public let entries: FolderEntries
    private var entryIndices: [UInt32] = []

    /// Creates an empty collection of names of `entries`.
    public init(of entries: FolderEntries) {
        self.entries = entries
    }

    /// Adds the name of the entry at index `entry`.
    public mutating func append(_ entry: Int) { entryIndices.append(UInt32(entry)) }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of names.
    public var endIndex: Int { entryIndices.count }
    /// The bytes of the name at `index`.
    public subscript(index: Int) -> [UInt8] { entries.name(entryIndex(at: index)) }

    /// Calls `body` with the bytes of the name at `index`, without copying them.
    public func withName<Output>(_ index: Int, _ body: (Span<UInt8>) -> Output) -> Output {
        entries.withName(entryIndex(at: index), body)
    }

    /// Returns whether one of the names is equal to `text`.
    public func contains(named text: String) -> Bool {
        indices.contains { index in entries.hasName(text, at: entryIndex(at: index)) }
    }

    /// Returns the index in ``entries`` of the entry whose name is at `index` in this collection.
    public func entryIndex(at index: Int) -> Int { Int(entryIndices[index]) }
}
