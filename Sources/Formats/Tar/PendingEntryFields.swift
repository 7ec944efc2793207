import Bytes

/// The fields of a member that are stored in preceding entries because they do not fit into its header.
struct PendingEntryFields {
    private var name: [UInt8]?
    private var target: [UInt8]?
    private var size: Int?
    /// The kinds of the added entries.
    ///
    /// A kind must not be repeated, because readers interpret repeated entries differently.
    private var kinds: Set<UInt8> = []

    /// Whether no entry was added.
    var isEmpty: Bool { kinds.isEmpty }

    /// The keys of pax records that do not affect the path, target or size.
    private static let ignoredKeys: Set<[UInt8]> = Set(
        [
            "mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "comment", "LIBARCHIVE.creationtime",
            "SCHILY.dev", "SCHILY.ino", "SCHILY.nlink", "SCHILY.fflags",
        ].map { Array($0.utf8) })
    /// The prefixes of the keys of extended attributes, which are ignored.
    private static let ignoredPrefixes = ["LIBARCHIVE.xattr.", "SCHILY.xattr.", "SCHILY.acl."]

    /// Adds the fields of an entry that describes the next entry.
    ///
    /// - Throws: ``UnsupportedTar`` if a field is unknown, repeated or malformed.
    mutating func add(_ contents: [UInt8], from kind: UInt8) throws(UnsupportedTar) {
        guard kinds.insert(kind).inserted else { throw UnsupportedTar() }
        switch kind {
        case TarEntry.Kind.longName: try Self.set(&name, to: Array(contents.prefix { $0 != 0 }))
        case TarEntry.Kind.longTarget: try Self.set(&target, to: Array(contents.prefix { $0 != 0 }))
        default:
            let all = PaxRecords(contents)
            guard all.isWellFormed else { throw UnsupportedTar() }
            for record in all.records { try add(record) }
        }
    }

    private mutating func add(_ record: PaxRecords.Record) throws(UnsupportedTar) {
        if record.key.elementsEqual("path".utf8) {
            try Self.set(&name, to: try Self.text(record.value))
        } else if record.key.elementsEqual("linkpath".utf8) {
            try Self.set(&target, to: try Self.text(record.value))
        } else if record.key.elementsEqual("size".utf8) {
            guard size == nil, let number = PaxRecords.number(record.value) else { throw UnsupportedTar() }
            size = number
        } else {
            guard
                Self.ignoredKeys.contains(Array(record.key))
                    || Self.ignoredPrefixes.contains(where: { record.key.starts(with: $0.utf8) })
            else { throw UnsupportedTar() }
        }
    }

    /// Returns a path from an extended header.
    ///
    /// The path must be in Normalization Form C, because other readers convert it to that form.
    private static func text(_ value: ArraySlice<UInt8>) throws(UnsupportedTar) -> [UInt8] {
        let bytes = Array(value)
        guard !bytes.contains(0), bytes.isComposedText else { throw UnsupportedTar() }
        return bytes
    }

    /// Sets a path, or throws an error if it is set already or `value` is empty.
    ///
    /// Readers interpret repeated and empty paths differently.
    private static func set(_ field: inout [UInt8]?, to value: [UInt8]) throws(UnsupportedTar) {
        guard field == nil, !value.isEmpty else { throw UnsupportedTar() }
        field = value
    }

    /// Returns the member that results from the fields and from the header at `offset` in the archive.
    func member(_ entry: TarEntry, at offset: Int) throws(UnsupportedTar) -> TarParser.Member {
        let kind: TarParser.Member.Kind
        switch entry.kind {
        case TarEntry.Kind.file: kind = .file
        case TarEntry.Kind.folder: kind = .folder
        case TarEntry.Kind.symbolicLink: kind = .link
        default: throw UnsupportedTar()
        }
        let name = name ?? entry.name
        let target = target ?? entry.target
        let size = size ?? entry.size
        // Folders and links must not have contents. In archives of old programs, a file whose name ends with a slash is
        // a folder. An empty name in the header is interpreted differently by different readers.
        guard !entry.name.isEmpty, kind == .file ? name.last != UInt8(ascii: "/") : size == 0,
            kind == .link || target.isEmpty
        else { throw UnsupportedTar() }
        return TarParser.Member(kind: kind, name: name, target: target, size: size, offset: offset)
    }
}
