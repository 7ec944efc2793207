import Bytes

/// What stands in front of the header of a member, for what has no room in it.
struct ToldOfMember {
    private var name: [UInt8]?
    private var target: [UInt8]?
    private var size: Int?
    /// The kinds of the headers that were read. Other readers differ in what several of one kind mean.
    private var kinds: Set<UInt8> = []

    /// Whether no header was read.
    var isEmpty: Bool { kinds.isEmpty }

    /// Keys of records that change nothing which is wanted of a member.
    private static let harmlessKeys: Set<[UInt8]> = Set(
        [
            "mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "comment", "LIBARCHIVE.creationtime",
            "SCHILY.dev", "SCHILY.ino", "SCHILY.nlink", "SCHILY.fflags",
        ].map { Array($0.utf8) })
    /// What the keys of further attributes begin with.
    private static let attributes = ["LIBARCHIVE.xattr.", "SCHILY.xattr.", "SCHILY.acl."]

    /// Reads the contents of an entry that describes the next one. Rejects fields that are unknown, repeated, or no text.
    mutating func take(_ contents: [UInt8], as kind: UInt8) throws(UnsupportedTar) {
        guard kinds.insert(kind).inserted else { throw UnsupportedTar() }
        switch kind {
        case TarEntry.Kind.longName: try Self.set(&name, to: Array(contents.prefix { $0 != 0 }))
        case TarEntry.Kind.longTarget: try Self.set(&target, to: Array(contents.prefix { $0 != 0 }))
        default:
            let all = PaxRecords(contents)
            guard all.isWhole else { throw UnsupportedTar() }
            for record in all.records { try take(record) }
        }
    }

    private mutating func take(_ record: PaxRecords.Record) throws(UnsupportedTar) {
        if record.key.elementsEqual("path".utf8) {
            try Self.set(&name, to: try Self.text(record.value))
        } else if record.key.elementsEqual("linkpath".utf8) {
            try Self.set(&target, to: try Self.text(record.value))
        } else if record.key.elementsEqual("size".utf8) {
            guard size == nil, let number = PaxRecords.number(record.value) else { throw UnsupportedTar() }
            size = number
        } else {
            guard
                Self.harmlessKeys.contains(Array(record.key))
                    || Self.attributes.contains(where: { record.key.starts(with: $0.utf8) })
            else { throw UnsupportedTar() }
        }
    }

    /// A path in an extended header, which is UTF-8. Other readers compose its characters.
    private static func text(_ value: ArraySlice<UInt8>) throws(UnsupportedTar) -> [UInt8] {
        let bytes = Array(value)
        guard !bytes.contains(0), bytes.isTextInEveryNormalForm else { throw UnsupportedTar() }
        return bytes
    }

    /// Sets a path. Other readers differ in what an empty one means.
    private static func set(_ place: inout [UInt8]?, to value: [UInt8]) throws(UnsupportedTar) {
        guard place == nil, !value.isEmpty else { throw UnsupportedTar() }
        place = value
    }

    /// Returns the member that a header at `offset` in the archive describes, together with the fields read before.
    func member(_ entry: TarEntry, at offset: Int) throws(UnsupportedTar) -> PlainTar.Member {
        let kind: PlainTar.Member.Kind
        switch entry.kind {
        case TarEntry.Kind.file: kind = .file
        case TarEntry.Kind.folder: kind = .folder
        case TarEntry.Kind.symbolicLink: kind = .link
        default: throw UnsupportedTar()
        }
        let name = name ?? entry.name
        let target = target ?? entry.target
        let size = size ?? entry.size
        // Folders and links have no contents; old programs marked a folder by a slash alone. Other readers differ in what
        // an empty name in the header itself means.
        guard !entry.name.isEmpty, kind == .file ? name.last != UInt8(ascii: "/") : size == 0,
            kind == .link || target.isEmpty
        else { throw UnsupportedTar() }
        return PlainTar.Member(kind: kind, name: name, target: target, size: size, offset: offset)
    }
}
