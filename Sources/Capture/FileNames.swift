import Files

/// The names of some of the entries of a folder, each made when it is asked for: a million arrays would cost more than
/// what they hold.
struct FileNames: RandomAccessCollection, Sendable {
    /// All entries of the folder.
    let entries: FolderEntries
    private var places: [UInt32] = []

    init(of entries: FolderEntries) {
        self.entries = entries
    }

    mutating func append(_ entry: Int) { places.append(UInt32(entry)) }

    var startIndex: Int { 0 }
    var endIndex: Int { places.count }
    subscript(index: Int) -> [UInt8] { entries.name(entry(index)) }

    /// The place of a name among the entries.
    func entry(_ index: Int) -> Int { Int(places[index]) }
}
