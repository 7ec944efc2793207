/// The names of some of the entries of a folder, each made when it is asked for: a million arrays would cost more than
/// what they hold.
public struct FileNames: RandomAccessCollection, Sendable {
    /// All entries of the folder.
    public let entries: FolderEntries
    private var places: [UInt32] = []

    /// No names yet of the entries of a folder.
    public init(of entries: FolderEntries) {
        self.entries = entries
    }

    /// Adds a name by its place among the entries.
    public mutating func append(_ entry: Int) { places.append(UInt32(entry)) }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// How many names there are.
    public var endIndex: Int { places.count }
    /// The bytes of a name.
    public subscript(index: Int) -> [UInt8] { entries.name(entry(index)) }

    /// Hands the bytes of a name to a body, without memory of their own.
    public func withName<Output>(_ index: Int, _ body: (Span<UInt8>) -> Output) -> Output {
        entries.withName(entry(index), body)
    }

    /// Whether one of the names is this text.
    public func contains(named text: String) -> Bool {
        indices.contains { index in entries.hasName(entry(index), text) }
    }

    /// The place of a name among the entries.
    public func entry(_ index: Int) -> Int { Int(places[index]) }
}
