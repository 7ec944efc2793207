import Bytes
import Hashing
import JSONText
import PropertyList

/// An unvalidated row of a backup manifest.
public struct ManifestRow: Sendable, Equatable {
    /// The stored properties of the file.
    public enum File: Sendable, Equatable {
        /// The keyed archive in the column `file`, which is parsed on demand.
        ///
        /// The archive is `nil` if the file is not in an app container, or if the column is too large or does not
        /// contain data.
        case archive([UInt8]?)
        /// The properties that were read from a record of a manifest of iOS 9 or earlier.
        case parsed(MBFile)
    }

    /// The domain that contains the file.
    public let domain: [UInt8]
    /// The path of the file in the domain, which is empty for the root of the domain.
    public let path: [UInt8]
    /// The name of the file in the backup, or `nil` in a manifest of iOS 9 or earlier, which has no such column.
    public let fileID: [UInt8]?
    /// The value of the column `flags`, or 0 if there is no such column or its value is not an integer.
    public let flags: Int
    /// The stored properties of the file.
    public let file: File

    /// Creates a row.
    public init(domain: [UInt8], path: [UInt8], fileID: [UInt8]?, flags: Int, file: File) {
        self.domain = domain
        self.path = path
        self.fileID = fileID
        self.flags = flags
        self.file = file
    }

    /// The properties of the file, or `nil` if they are malformed.
    public var details: MBFile? {
        switch file {
        case .archive(let bytes): bytes.flatMap { MBFile(archive: $0) }
        case .parsed(let file): file
        }
    }
}

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

    /// The maximum number of nested levels in an archive.
    ///
    /// Real archives have 4 levels.
    private static let depthLimit = 32
}

extension MBFile {
    /// Parses the keyed archive, or returns `nil` if it is malformed.
    public init?(archive bytes: [UInt8]) {
        let limits = PropertyListLimits(length: InputLimits.backupFilePropertiesSize, depth: Self.depthLimit)
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

/// The identifier of a file in a backup, which is the SHA-1 digest of its domain, a hyphen and its path.
///
/// Source: "iOS backups", section 2.1.
public struct FileID: Sendable, Hashable {
    /// The 20 bytes of the digest.
    public let bytes: [UInt8]

    /// The size of an identifier, in bytes.
    public static let size = 20

    /// Computes the identifier of the file at a path in a domain.
    public init(domain: [UInt8], path: [UInt8]) {
        bytes = SHA1.hash(domain + "-".utf8 + path)
    }

    /// Parses a file name of 40 lowercase hexadecimal digits, or returns `nil` for any other name.
    public init?(_ name: [UInt8]) {
        guard name.count == 2 * Self.size, !name.contains(where: { $0.lowercased != $0 }) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: name.count, by: 2) {
            guard let high = name[index].hexadecimalValue, let low = name[index + 1].hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    /// The file name, which consists of 40 hexadecimal digits.
    public var name: String { bytes.hex }
    /// The name of the folder that contains the file since iOS 10, which consists of the first two digits of ``name``.
    public var folder: String { bytes.prefix(1).hex }
}

/// The domain of an app container in a backup.
///
/// Source: "iOS backups", sections 3 and 6.
public struct BackupDomain: Sendable, Hashable {
    /// The kinds of containers.
    public enum Kind: Sendable, CaseIterable {
        case app, group, plugin

        /// The prefix of the names of domains of this kind.
        public var prefix: String {
            switch self {
            case .app: "AppDomain-"
            case .group: "AppDomainGroup-"
            case .plugin: "AppDomainPlugin-"
            }
        }
    }

    /// The kind of the container.
    public let kind: Kind
    /// The bundle identifier, or the identifier of the group or plugin.
    @CapturedText public private(set) var identifier: String

    /// The maximum length of the name of a domain, in bytes.
    static let nameLengthLimit = 255

    /// Parses the name of a domain, or returns `nil` if the domain does not belong to an app container.
    public init?(name: String) {
        guard let kind = Kind.allCases.first(where: { name.utf8.starts(with: $0.prefix.utf8) }),
            name.utf8.count > kind.prefix.utf8.count
        else { return nil }
        self.kind = kind
        identifier = String(name.utf8.dropFirst(kind.prefix.utf8.count)) ?? ""
    }

    /// The name of the domain.
    public var name: String { kind.prefix + identifier }

    /// Returns whether an unknown domain probably belongs to an app container, but has a name with a damaged prefix.
    ///
    /// A name is damaged if its start differs from a prefix in at most ``damagedCharacterLimit`` characters. A prefix
    /// without an identifier is damaged too.
    static func isDamaged(name: [UInt8]) -> Bool {
        Kind.allCases.contains { kind in
            let prefix = kind.prefix.utf8
            return name.count >= prefix.count && zip(name, prefix).count(where: { $0 != $1 }) <= damagedCharacterLimit
        }
    }

    /// The maximum number of damaged characters in a prefix that is still recognized.
    ///
    /// Every system domain name differs from every prefix in more characters than this.
    private static let damagedCharacterLimit = 2
}

/// The domain of a row of a manifest, regardless of its path.
public enum RowDomain: Sendable, Equatable {
    /// A domain of the system, which is ignored.
    case system
    /// No domain, because the name is invalid or damaged.
    case invalid
    /// The domain of an app container.
    case app(BackupDomain)

    /// Classifies a domain by its name.
    public init(name bytes: [UInt8]) {
        let name = String(decoding: bytes, as: UTF8.self)
        guard bytes.count <= BackupDomain.nameLengthLimit, name.utf8.elementsEqual(bytes), bytes.isValidComponent else {
            self = .invalid
            return
        }
        guard let domain = BackupDomain(name: name) else {
            self = BackupDomain.isDamaged(name: bytes) ? .invalid : .system
            return
        }
        self = .app(domain)
    }
}

extension ManifestRow {
    /// Whether the path is valid in an app container.
    ///
    /// The path of the container itself is empty.
    public var hasValidPath: Bool {
        if path.isEmpty { return true }
        guard path.count <= InputLimits.pathSize, (try? UTF8Span(validating: path.span)) != nil else { return false }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= InputLimits.pathDepth && parts.allSatisfy(\.isValidComponent)
    }
}

extension Collection<UInt8> {
    /// Whether the bytes are a valid name of a folder or file.
    fileprivate var isValidComponent: Bool {
        !isEmpty && !elementsEqual(".".utf8) && !elementsEqual("..".utf8) && !contains(0)
            && !contains(UInt8(ascii: "/"))
    }
}
