/// Where the symbolic links of an archive would lead if it were extracted.
extension SpooledTree {
    /// A hostile archive has links with parts without end: what takes more steps counts as unknown.
    private static let mostSteps = 256
    /// More links that lead to each other are a loop, as on Linux.
    private static let mostLinks = 40

    /// Where a symbolic link leads.
    /// - Parameter path: the path of the link.
    /// - Returns: nil if it is none.
    func target(ofLink path: [UInt8], below start: Int) -> LinkTarget? {
        let parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard let name = parts.last, let way = folders(along: parts.dropLast(), below: start),
            let text = link(named: name, in: way[way.count - 1])
        else { return nil }
        var found = destination(of: text, way)
        let isEnclosing = LinkWords(text, in: Array(parts.dropLast())).isEnclosing
        if found == .folder, isEnclosing { found = .enclosingFolder }
        return LinkTarget(path: String(decoding: text, as: UTF8.self), destination: found)
    }

    /// The folders that a path goes through, the first one being where it starts; nil if there are no such folders.
    private func folders(along parts: some Sequence<[UInt8]>, below start: Int) -> [Int]? {
        var way = [start]
        for part in parts {
            guard let folder = try? folder(at: part, below: way[way.count - 1]) else { return nil }
            way.append(folder)
        }
        return way
    }

    /// What is at the end of a link, over other links on its way.
    /// - Parameter folders: those that the link lies in, the outermost first.
    private func destination(of text: [UInt8], _ folders: [Int]) -> LinkTarget.Destination {
        guard let parts = Self.parts(of: text) else { return .unknown }
        var way = folders
        // What is still to be gone, the next part last.
        var rest = Array(parts.reversed())
        var links = 1
        var hasClimbed = false
        for _ in 0..<Self.mostSteps {
            guard let part = rest.popLast() else { return .folder }
            if part.elementsEqual("..".utf8) {
                way.removeLast()
                hasClimbed = true
                guard !way.isEmpty else { return .unknown }
                continue
            }
            switch kind(named: part, in: way[way.count - 1]) {
            // What lay beside the folder that was packed is no member.
            case nil: return hasClimbed && way.count == 1 ? .unknown : .nothing
            case .file, .special: return rest.isEmpty ? .file : .nothing
            case .folder:
                guard let next = try? folder(at: part, below: way[way.count - 1]) else { return .nothing }
                way.append(next)
            case .link:
                guard let parts = link(named: part, in: way[way.count - 1]).flatMap(Self.parts) else { return .unknown }
                links += 1
                guard links <= Self.mostLinks else { return .nothing }
                rest += parts.reversed()
            }
        }
        return .unknown
    }

    /// The parts of what stands in a link, without empty ones and dots; nil if it leads out of any archive, or nowhere that
    /// is known.
    private static func parts(of text: [UInt8]) -> [[UInt8]]? {
        let slash = UInt8(ascii: "/")
        guard !text.isEmpty, text.first != slash else { return nil }
        return text.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }.map { Array($0) }
    }
}
