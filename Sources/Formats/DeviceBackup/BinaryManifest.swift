/// Reads `Manifest.mbdb`, the manifest of iOS 5 to 9, as its bytes come.
///
/// Source: "iOS backups", section 4.
///
/// ```swift
/// var manifest = BinaryManifest()
/// manifest.feed(bytes)
/// while case .row(let row) = manifest.next() { rows.append(row) }
/// ```
public struct BinaryManifest: Sendable {
    /// What comes next.
    public enum Step: Sendable, Equatable {
        /// A record.
        case row(ManifestRow)
        /// The bytes are used up; there may be more.
        case needsMore
        /// The magic or the version is another one.
        case notAManifest
    }

    /// The bytes that a file begins with.
    public static let magic = Array("mbdb".utf8)
    private static let header = magic + [5, 0]
    /// The numbers behind the strings of a record.
    private static let numbersSize = 40

    private var bytes: [UInt8] = []
    /// Where the next record begins.
    private var start = 0
    private var hasHeader = false

    /// Begins before the first byte.
    public init() {}

    /// Takes the bytes that follow.
    public mutating func feed(_ more: [UInt8]) {
        bytes.removeFirst(start)
        start = 0
        bytes += more
    }

    /// Whether bytes are left that are no whole record: behind the last one that means damage.
    public var hasRest: Bool { start < bytes.count || !hasHeader }

    /// The next record.
    public mutating func next() -> Step {
        if !hasHeader {
            guard bytes.prefix(Self.header.count).elementsEqual(Self.header.prefix(bytes.count)) else {
                return .notAManifest
            }
            guard bytes.count >= Self.header.count else { return .needsMore }
            hasHeader = true
            start = Self.header.count
        }
        var cursor = Cursor(bytes: bytes, position: start)
        guard let row = Self.row(&cursor) else { return .needsMore }
        start = cursor.position
        return .row(row)
    }

    private struct Cursor {
        let bytes: [UInt8]
        var position: Int

        mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= bytes.count - position else { return nil }
            defer { position += count }
            return bytes[position..<position + count]
        }

        mutating func number(_ width: Int) -> UInt64? {
            take(width).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        }

        /// A string; `.some(nil)` for none.
        mutating func string() -> [UInt8]?? {
            guard let length = number(2) else { return .none }
            guard length != 0xFFFF else { return .some(nil) }
            return take(Int(length)).map { Array($0) }
        }
    }

    /// A whole record; nil if it is longer than the bytes that are there.
    private static func row(_ cursor: inout Cursor) -> ManifestRow? {
        guard let domain = cursor.string(), let path = cursor.string(), cursor.string() != nil, cursor.string() != nil,
            let key = cursor.string(), let numbers = cursor.take(numbersSize).map({ Array($0) })
        else { return nil }
        let mode = Int(numbers[0]) << 8 | Int(numbers[1])
        let size = numbers[30..<38].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        for _ in 0..<2 * Int(numbers[39]) {
            guard cursor.string() != nil else { return nil }
        }
        return ManifestRow(
            domain: domain ?? [], path: path ?? [], fileID: nil, flags: 0,
            file: .read(MBFile(kind: RowKind(mode: mode), size: Int(exactly: size), key: key)))
    }
}
