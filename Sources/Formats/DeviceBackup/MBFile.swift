import Bytes
import JSONText
import PropertyList

/// The properties of a file in a backup, which the manifest stores as the keyed archive of an `MBFile` object.
///
/// Source: "iOS backups", section 3.
public struct MBFile: Sendable, Equatable {
    /// The kind of the file according to its mode, or `nil` if the mode is missing or unknown.
    public let kind: RowKind?
    /// The size in bytes according to the manifest, which may be wrong, or `nil` if it is missing or invalid.
    public let size: Int?
    /// The wrapped key with its class number, or `nil` if there is none.
    public let key: [UInt8]?

    /// The maximum size of an archive, in bytes.
    public static let sizeLimit = 1 << 20
    /// The maximum number of nested levels in an archive.
    ///
    /// Real archives have 4 levels.
    private static let depthLimit = 32
}

extension MBFile {
    /// Parses the keyed archive, or returns `nil` if it is malformed.
    public init?(archive bytes: [UInt8]) {
        let limits = PropertyListLimits(length: Self.sizeLimit, depth: Self.depthLimit)
        // The system never writes repeated keys, so they indicate damage.
        guard let list = try? PropertyListDocument(bytes, limits: limits), list.repeatedKeys == nil,
            let top = list.value(of: "$top", in: list.root), let root = list.value(of: "root", in: top),
            let file = list.resolve(root), list.kind(of: file) == .dictionary
        else { return nil }
        kind = list.integer("Mode", in: file).flatMap { RowKind(mode: $0) }
        size = list.integer("Size", in: file).flatMap { $0 >= 0 ? $0 : nil }
        key = list.value(of: "EncryptionKey", in: file).flatMap { list.keyBytes(of: $0) }
    }
}

extension PropertyListDocument {
    /// Resolves a reference to an object of the archive, or returns `nil` if the object does not exist.
    ///
    /// Nodes that are not references are returned unchanged.
    fileprivate func resolve(_ node: PropertyListNode) -> PropertyListNode? {
        guard kind(of: node) == .uid else { return node }
        guard let list = value(of: "$objects", in: root) else { return nil }
        let objects = elements(of: list)
        let number = Int(uid(of: node))
        guard number < objects.count else { return nil }
        return element(at: number, of: objects)
    }

    fileprivate func integer(_ key: JSONKey, in node: PropertyListNode) -> Int? {
        guard let found = value(of: key, in: node), kind(of: found) == .integer else { return nil }
        return integer(of: found).signed.map { Int($0) }
    }

    /// Returns the bytes of a key.
    ///
    /// A key is stored as data or as a dictionary with the key `NS.data`, either inline or by reference.
    fileprivate func keyBytes(of member: PropertyListNode) -> [UInt8]? {
        guard var node = resolve(member) else { return nil }
        if kind(of: node) == .dictionary {
            guard let data = value(of: "NS.data", in: node).flatMap({ resolve($0) }) else { return nil }
            node = data
        }
        return kind(of: node) == .data ? payload(of: node).copied() : nil
    }
}

/// The kind of file that a row of a manifest describes.
public enum RowKind: Sendable, Equatable {
    case file, folder, link

    /// Creates a kind from the mode of a file (`st_mode`), or returns `nil` if the mode has any other file type.
    public init?(mode: Int) {
        switch mode & 0xF000 {
        case 0x8000: self = .file
        case 0x4000: self = .folder
        case 0xA000: self = .link
        default: return nil
        }
    }

    /// Creates a kind from the column `flags`, or returns `nil` for an unknown value.
    public init?(flags: Int) {
        switch flags {
        case 1: self = .file
        case 2: self = .folder
        case 4: self = .link
        default: return nil
        }
    }
}
