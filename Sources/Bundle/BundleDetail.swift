import Bytes
import CLibrary
import Files
import JSONText
import Telemetry

/// A value that is stored as one line in a list of a bundle, such as a problem.
public protocol BundleDetail {
    /// Creates a value from a line without its line feed, or returns `nil` if the line is malformed.
    init?(json bytes: [UInt8], knowing systems: SystemTable)
    /// The value as canonical JSON, which is stored as the line.
    var json: CanonicalObject { get }

    /// Returns whether `line`, which could not be parsed, contains a name that is not in `systems`.
    static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool
}

extension BundleDetail {
    /// Returns `false`.
    ///
    /// This default is for lists in which an unknown name does not make a line malformed.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool { false }
}

extension ClientSummary: BundleDetail {}
extension LocatedProblem: BundleDetail {}
extension Withdrawal: BundleDetail {
    /// Returns whether `line` contains a system or a kind of withdrawal that this version does not know.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool {
        guard let fields = try? JSONFields(line), let system = fields.text("system"), let code = fields.text("code")
        else { return false }
        return systems.name(system) == nil || Reason(rawValue: code) == nil
    }
}
extension QuarantineEntry: BundleDetail {
    /// Returns whether `line` contains a kind of store that is not in `systems`.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool {
        guard let store = (try? JSONFields(line))?.text("store") else { return false }
        return systems.storeKind(store) == nil
    }
}

// MARK: - Reading

/// A cursor that reads the entries of a list of a bundle, one after another.
///
/// Only one member of the list is in memory at a time, because a list can have millions of entries.
///
///     var problems = DetailCursor<LocatedProblem>(BundleLayout.problems, of: reader)
///     while let problem = try problems.next() { show(problem) }
public struct DetailCursor<Entry: BundleDetail>: ~Copyable {
    private let reader: BundleReader
    private var decoder = FrameDecoder()
    private var remainingMemberNames: ArraySlice<String>
    /// The name of the member that is being read, or an empty string before the first one.
    private var memberName = ""
    private var contents: [UInt8] = []
    private var lineCursor = LineCursor()

    /// Creates a cursor at the start of a list of details, such as ``BundleLayout/problems``.
    public init(_ list: String, of reader: BundleReader) {
        self.reader = reader
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

// MARK: - Writing

/// Lines that are stored until all records of a bundle have been written.
///
/// If there are many lines, they are moved from memory to an unnamed file.
public struct DetailSpill: Sendable {
    /// The number of lines.
    public private(set) var count = 0
    private let folder: String
    private let bufferLimit: Int
    private var file: SpoolFile?
    /// The size of the file in bytes.
    ///
    /// The file always contains whole lines.
    private var fileSize = 0
    private var buffer: [UInt8] = []

    /// The size, in bytes, of the header of each line, which contains the length and the tag of the line.
    private static let headerSize = 16

    /// Creates an empty list that moves lines to a file in `folder` when `bufferLimit` bytes are in memory.
    public init(folder: String, bufferLimit: Int = 1 << 20) {
        self.folder = folder
        self.bufferLimit = bufferLimit
    }

    /// Adds a line and its tag, and returns the position of the line for ``entry(at:)``.
    ///
    /// `line` has no line feed. `tag` is a number that is stored with the line.
    @discardableResult
    public mutating func append(_ line: [UInt8], tag: Int = 0) throws(FileError) -> Int {
        if buffer.count >= bufferLimit { try flush() }
        let position = fileSize + buffer.count
        for number in [line.count, tag] {
            for shift in stride(from: 0, to: 64, by: 8) { buffer.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        buffer += line
        count += 1
        return position
    }

    /// Returns the line and the tag at `position`, which ``append(_:tag:)`` returned.
    public func entry(at position: Int) throws(FileError) -> (line: [UInt8], tag: Int) {
        let header = try bytes(at: position, count: Self.headerSize)
        let line = try bytes(at: position + Self.headerSize, count: Self.number(in: header, at: 0))
        return (line, Self.number(in: header, at: 8))
    }

    /// Calls `body` with each line and its tag, in order.
    public func forEach(_ body: (_ line: ArraySlice<UInt8>, _ tag: Int) throws -> Void) throws {
        var window: [UInt8] = []
        var position = 0
        var next = 0
        let end = fileSize + buffer.count
        while true {
            let left = window.count - position
            let length = left < Self.headerSize ? 0 : Self.number(in: window, at: position)
            if left >= Self.headerSize, left - Self.headerSize >= length {
                let start = position + Self.headerSize
                try body(window[start..<start + length], Self.number(in: window, at: position + 8))
                position = start + length
            } else {
                guard next < end else { return }
                let missing = max(bufferLimit, Self.headerSize + length) - left
                // A read must not cross the end of the file, because the following bytes are in memory.
                let stop = next < fileSize ? min(fileSize, next + missing) : min(end, next + missing)
                window.removeFirst(position)
                window += try bytes(at: next, count: stop - next)
                (position, next) = (0, stop)
            }
        }
    }

    private mutating func flush() throws(FileError) {
        let file: SpoolFile
        if let present = self.file { file = present } else { file = try SpoolFile(in: folder) }
        self.file = file
        try file.write(buffer.span, at: fileSize)
        fileSize += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Returns `count` bytes at `position`.
    ///
    /// The bytes must be either all in the file or all in memory.
    private func bytes(at position: Int, count: Int) throws(FileError) -> [UInt8] {
        guard position < fileSize, let file else {
            let start = position - fileSize
            return Array(buffer[start..<start + count])
        }
        let bytes = try [UInt8](capacity: count) { output throws(FileError) in
            try file.read(at: position, upTo: count, into: &output)
        }
        guard bytes.count == count else { throw FileError(.spool, folder, code: EIO) }
        return bytes
    }

    private static func number(in bytes: [UInt8], at offset: Int) -> Int {
        (0..<8).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
}

/// A builder that divides a list into members of at most 4 MiB.
///
/// Each member consists of whole lines. A member with a single line can be larger.
///
/// Source: "Bundle", "The file".
struct DetailMemberBuilder {
    /// A complete member.
    struct Member: Equatable {
        let name: String
        let contents: [UInt8]
    }

    private let listName: String
    private let sizeGoal: Int
    private var number = 1
    private var contents: [UInt8] = []

    init(_ listName: String, sizeGoal: Int = BundleLayout.maxListMemberSize) {
        self.listName = listName
        self.sizeGoal = sizeGoal
    }

    /// Adds `line`, which has no line feed.
    ///
    /// Returns the previous member if `line` starts a new one, or `nil` if `line` was added to the current member.
    mutating func add(_ line: some Collection<UInt8>) -> Member? {
        var closed: Member?
        if !contents.isEmpty, contents.count + line.count + 1 > sizeGoal {
            closed = currentMember
            number += 1
            contents.removeAll(keepingCapacity: true)
        }
        contents += line
        contents.append(UInt8(ascii: "\n"))
        return closed
    }

    /// The member that lines are added to.
    var currentMember: Member {
        Member(name: BundleLayout.listMemberName(of: listName, number: number), contents: contents)
    }
}
