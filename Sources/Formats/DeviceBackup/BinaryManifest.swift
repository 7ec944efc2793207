/// An incremental parser for `Manifest.mbdb`, the manifest of iOS 5 to 9.
///
/// ```swift
/// var manifest = BinaryManifest()
/// manifest.feed(bytes)
/// while case .row(let row) = manifest.next() { rows.append(row) }
/// ```
///
/// Source: "iOS backups", section 4.
public struct BinaryManifest: Sendable {
    /// The result of parsing the next record.
    public enum Step: Sendable, Equatable {
        /// A record.
        case row(ManifestRow)
        /// There is no complete record in the bytes so far.
        case needsMore
        /// The file does not begin with the expected signature and version.
        case notAManifest
    }

    /// The signature at the beginning of the file.
    public static let magic = Array("mbdb".utf8)
    private static let header = magic + [5, 0]
    /// The size of the fixed fields after the strings of a record, in bytes.
    private static let fixedFieldsSize = 40

    private var bytes: [UInt8] = []
    /// The index of the next record in the buffer.
    private var recordStart = 0
    private var hasHeader = false

    /// Creates a parser.
    public init() {}

    /// Appends the next bytes of the file.
    public mutating func feed(_ more: [UInt8]) {
        bytes.removeFirst(recordStart)
        recordStart = 0
        bytes += more
    }

    /// Whether unparsed bytes remain or the header is incomplete.
    ///
    /// After ``next()`` returned ``Step/needsMore`` at the end of the file, `true` means that the file is damaged.
    public var hasIncompleteRecord: Bool { recordStart < bytes.count || !hasHeader }

    /// Parses the next record.
    public mutating func next() -> Step {
        if !hasHeader {
            guard bytes.prefix(Self.header.count).elementsEqual(Self.header.prefix(bytes.count)) else {
                return .notAManifest
            }
            guard bytes.count >= Self.header.count else { return .needsMore }
            hasHeader = true
            recordStart = Self.header.count
        }
        var cursor = Cursor(bytes: bytes, position: recordStart)
        guard let row = Self.row(&cursor) else { return .needsMore }
        recordStart = cursor.position
        return .row(row)
    }

    private struct Cursor {
        let bytes: [UInt8]
        var position: Int

        mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= bytes.count - position else { return nil }
            defer { position += count }
            return bytes[position..<position + count]
        }

        mutating func number(_ width: Int) -> UInt64? {
            read(width).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        }

        /// Reads an optional string.
        ///
        /// Returns `.some(nil)` if the string is absent, or `nil` if the string is incomplete.
        mutating func string() -> [UInt8]?? {
            guard let length = number(2) else { return .none }
            guard length != 0xFFFF else { return .some(nil) }
            return read(Int(length)).map { Array($0) }
        }
    }

    /// Reads the record at the cursor, or returns `nil` if the record is incomplete.
    private static func row(_ cursor: inout Cursor) -> ManifestRow? {
        guard let domain = cursor.string(), let path = cursor.string(), cursor.string() != nil, cursor.string() != nil,
            let key = cursor.string(), let numbers = cursor.read(fixedFieldsSize).map({ Array($0) })
        else { return nil }
        let mode = Int(numbers[0]) << 8 | Int(numbers[1])
        let size = numbers[30..<38].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        for _ in 0..<2 * Int(numbers[39]) {
            guard cursor.string() != nil else { return nil }
        }
        return ManifestRow(
            domain: domain ?? [], path: path ?? [], fileID: nil, flags: 0,
            file: .parsed(MBFile(kind: RowKind(mode: mode), size: Int(exactly: size), key: key)))
    }
}
