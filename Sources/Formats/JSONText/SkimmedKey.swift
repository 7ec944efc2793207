/// A key that a text in pieces spells, as far as it matters.
struct SkimmedKey: Sendable {
    /// Keys longer than this are not asked for.
    private static let longest = 256

    private var bytes: [UInt8] = []

    /// Forgets the key, keeps the memory.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a part of the key as it is spelled.
    mutating func append(_ part: Span<UInt8>) {
        if bytes.count <= Self.longest { bytes.append(copying: part) }
    }

    /// The key with its escapes resolved; one that is malformed is not asked for.
    var resolved: [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        guard let document = try? JSONDocument(quoted) else { return [] }
        return document.bytes(of: document.root).copied()
    }
}

extension JSONSkimmer {
    /// Begins to read a key, which decides what becomes of its value.
    mutating func beginKey() {
        isKey = true
        key.removeAll()
        role = frames.last?.role ?? .skipped
        keep(UInt8(ascii: "\""))
        state = .string
    }

    /// Keeps a part of a key where keys are asked for.
    mutating func keepKey(_ bytes: Span<UInt8>) {
        switch role {
        case .outlined, .way: key.append(bytes)
        case .skipped, .kept, .elements: break
        }
    }

    /// Chooses the role of the value of a key.
    mutating func endKey() {
        isKey = false
        switch role {
        case .kept: append(UInt8(ascii: ":"))
        case .skipped, .elements: break
        case .outlined(let members): endKey(among: members)
        case .way(let depth): endKey(onWay: depth)
        }
    }

    private mutating func endKey(among members: [(key: JSONKey, outline: JSONOutline)]) {
        let name = key.resolved
        guard let member = members.first(where: { $0.key.utf8 == name }) else {
            role = .skipped
            return
        }
        let last = frames.count - 1
        if !frames[last].isFirst { append(UInt8(ascii: ",")) }
        frames[last].isFirst = false
        append("\"".utf8.span)
        append(member.key.utf8.span)
        append("\":".utf8.span)
        role = member.outline.members.map { .outlined($0) } ?? .kept
    }

    private mutating func endKey(onWay depth: Int) {
        guard path.indices.contains(depth) else { return }
        let name = key.resolved
        let isLast = depth == path.count - 1
        if path[depth].utf8 == name {
            role = isLast ? .elements : .way(depth + 1)
        } else if isLast, let wanted = neighbors.first(where: { $0.utf8 == name }) {
            start(.whole)
            neighbor = wanted
        } else {
            role = .skipped
        }
    }
}
