import Bytes
import JSONText
import Telemetry

/// Reads a list of a bundle's details entry by entry, one member at a time: a list may have millions of entries.
///
///     var problems = try DetailCursor<PlacedProblem>(BundleLayout.problems, of: reader)
///     while let problem = try problems.next() { show(problem) }
public struct DetailCursor<Entry: BundleDetail>: ~Copyable {
    private let reader: BundleReader
    private var decoder: FrameDecoder
    private var waiting: ArraySlice<String>
    private var lines: DetailLines<Entry>?

    /// Begins with a list.
    /// - Parameter list: ``BundleLayout/quarantine``, ``BundleLayout/problems`` or ``BundleLayout/clients``.
    /// - Throws: ``BundleError`` if there is not enough memory.
    public init(_ list: String, of reader: BundleReader) throws(BundleError) {
        self.reader = reader
        decoder = try BundleReader.makeDecoder()
        waiting = reader.manifest.members.map(\.path).filter { BundleLayout.list(of: $0) == list }[...]
    }

    /// The next entry; nil at the end.
    /// - Throws: ``BundleError``; `badRecord` for a line that is not as this program writes it.
    public mutating func next() throws(BundleError) -> Entry? {
        while true {
            if let entry = try lines?.next() { return entry }
            guard let member = waiting.popFirst() else { return nil }
            lines = DetailLines(
                try reader.contents(of: member, with: &decoder), member: member, knowing: reader.systems)
        }
    }
}

/// The entries in one member with details, line by line.
private struct DetailLines<Entry: BundleDetail> {
    private let contents: [UInt8]
    private let member: String
    private var cursor = LineCursor()
    private let systems: SystemTable

    init(_ contents: [UInt8], member: String, knowing systems: SystemTable) {
        self.systems = systems
        self.contents = contents
        self.member = member
    }

    mutating func next() throws(BundleError) -> Entry? {
        let contents = contents
        guard let line = cursor.next(in: contents.span) else { return nil }
        guard line.isTerminated else {
            throw .badRecord(member: member, line: cursor.count, reason: "no line feed at the end")
        }
        let text = Array(contents[line.range])
        guard let entry = Entry(json: text, knowing: systems), entry.json.bytes == text else {
            throw .badRecord(member: member, line: cursor.count, reason: "not in the form of this list")
        }
        return entry
    }
}
