import Bytes
import JSONText
import PropertyList

/// What a row says of its file: the keyed archive of an `MBFile` in the column `file`.
///
/// Source: "iOS backups", section 3.
public struct MBFile: Sendable, Equatable {
    /// What the file is, by its mode; nil if there is no usable one.
    public let kind: RowKind?
    /// The size in bytes that the manifest tells, which may be wrong; nil if it is none.
    public let size: Int?
    /// The key as it is stored, with its class in front; nil if there is none.
    public let key: [UInt8]?

    /// The most bytes of such an archive.
    public static let sizeLimit = 1 << 20
    /// Real ones have four levels.
    private static let depthLimit = 32
}

extension MBFile {
    /// Reads the archive; nil if the bytes are none.
    public init?(archive bytes: [UInt8]) {
        let limits = PropertyListLimits(length: Self.sizeLimit, depth: Self.depthLimit)
        // The system writes no key twice, so that a repeated one is a sign of damage.
        guard let list = try? PropertyListDocument(bytes, limits: limits), list.repeatedKeys == nil,
            let top = list.value(of: "$top", in: list.root), let root = list.value(of: "root", in: top),
            let file = list.referred(root), list.kind(of: file) == .dictionary
        else { return nil }
        kind = list.integer("Mode", in: file).flatMap { RowKind(mode: $0) }
        size = list.integer("Size", in: file).flatMap { $0 >= 0 ? $0 : nil }
        key = list.value(of: "EncryptionKey", in: file).flatMap { list.keyBytes(of: $0) }
    }
}

extension PropertyListDocument {
    /// The object of the archive that a reference names; nil if it names none. Anything else is itself.
    fileprivate func referred(_ node: PropertyListNode) -> PropertyListNode? {
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

    /// The data of a key: in the member itself or behind references, alone or in a dictionary under `NS.data`.
    fileprivate func keyBytes(of member: PropertyListNode) -> [UInt8]? {
        guard var node = referred(member) else { return nil }
        if kind(of: node) == .dictionary {
            guard let data = value(of: "NS.data", in: node).flatMap({ referred($0) }) else { return nil }
            node = data
        }
        return kind(of: node) == .data ? payload(of: node).copied() : nil
    }
}

/// What a row of a manifest stands for.
public enum RowKind: Sendable, Equatable {
    case file, folder, link

    /// By the mode of the file (`st_mode`); nil for anything else.
    public init?(mode: Int) {
        switch mode & 0xF000 {
        case 0x8000: self = .file
        case 0x4000: self = .folder
        case 0xA000: self = .link
        default: return nil
        }
    }

    /// By the column `flags`; nil for anything else.
    public init?(flags: Int) {
        switch flags {
        case 1: self = .file
        case 2: self = .folder
        case 4: self = .link
        default: return nil
        }
    }
}
