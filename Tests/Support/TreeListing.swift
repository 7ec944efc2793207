import Files

/// What a tree holds, a line each: paths, what is there, and the bytes of files or why there are none.
public func listing(of tree: SpooledTree) throws -> [String] {
    var lines: [String] = []
    try list(Folder(rootOf: tree), [], &lines)
    return lines
}

private func list(_ root: borrowing Folder, _ path: [UInt8], _ lines: inout [String]) throws {
    let folder = try root.folder(at: String(decoding: path, as: UTF8.self))
    let entries = try folder.entries()
    for index in 0..<entries.count {
        let below = path + (path.isEmpty ? [] : [UInt8(ascii: "/")]) + entries.name(index)
        let kind = entries.kind(index)
        lines.append("\(kind) \(below) \(kind == .file ? try contents(of: below, in: root) : "")")
        switch kind {
        // A name that is no UTF-8 cannot be asked for.
        case .folder where (try? UTF8Span(validating: below.span)) != nil: try list(root, below, &lines)
        case .link: lines.append("  to \(String(describing: root.target(ofLink: below)))")
        default: continue
        }
    }
}

private func contents(of file: [UInt8], in root: borrowing Folder) throws -> String {
    do throws(FileError) {
        let source = try root.source(file)
        return "\(try source.bytes(at: 0, count: source.count))"
    } catch {
        return "\(error)"
    }
}
