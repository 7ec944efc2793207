import Bytes
import JSONText
import Telemetry

/// A cursor that reads the entries of a list of a bundle, one after another.
///
/// Only one member of the list is in memory at a time, because a list can have millions of entries.
///
///     var problems = try DetailCursor<LocatedProblem>(BundleLayout.problems, of: reader)
///     while let problem = try problems.next() { show(problem) }
public struct DetailCursor<Entry: BundleDetail>: ~Copyable {
    private let reader: BundleReader
    private var decoder: FrameDecoder
    private var remainingMemberNames: ArraySlice<String>
    /// The name of the member that is being read, or an empty string before the first one.
    private var memberName = ""
    private var contents: [UInt8] = []
    private var lineCursor = LineCursor()

    /// Creates a cursor at the start of a list of details, such as ``BundleLayout/problems``.
    public init(_ list: String, of reader: BundleReader) throws(BundleError) {
        self.reader = reader
        decoder = try BundleReader.makeDecoder()
        remainingMemberNames =
            reader.manifest.otherMembers.map(\.path).filter { BundleLayout.listName(ofMember: $0) == list }[...]
    }

    /// Returns the next entry, or `nil` at the end of the list.
    public mutating func next() throws(BundleError) -> Entry? {
        guard let line = try nextLine() else { return nil }
        return try entry(line)
    }

    /// Reads the next line of the list, and returns whether it equals `expected`, a line without its line feed.
    ///
    /// Comparing lines takes less time than parsing them.
    ///
    /// - Throws: ``BundleError`` if the next line differs from `expected` and is not a valid entry.
    mutating func isNext(_ expected: [UInt8]) throws(BundleError) -> Bool {
        guard let line = try nextLine() else { return false }
        if line.isTerminated, contents.span.extracting(line.range).equals(expected.span) { return true }
        _ = try entry(line)
        return false
    }

    private mutating func nextLine() throws(BundleError) -> LineCursor.Line? {
        while true {
            let contents = contents
            if let line = lineCursor.next(in: contents.span) { return line }
            guard let next = remainingMemberNames.popFirst() else { return nil }
            (self.contents, lineCursor) = (try reader.contents(of: next, with: &decoder), LineCursor())
            memberName = next
        }
    }

    private func entry(_ line: LineCursor.Line) throws(BundleError) -> Entry {
        guard line.isTerminated else {
            throw .badRecord(member: memberName, line: lineCursor.count, reason: "no line feed at the end")
        }
        let text = Array(contents[line.range])
        guard let entry = Entry(json: text, knowing: reader.systems), entry.json.bytes == text else {
            if Entry.hasUnknownName(text, knowing: reader.systems) {
                throw .unknownName(
                    member: memberName, line: lineCursor.count,
                    reason: "the store is unknown to this version of the program")
            }
            throw .badRecord(member: memberName, line: lineCursor.count, reason: "not a valid line of this list")
        }
        return entry
    }
}
