import Files
import Hashing

/// Returns a line for each path in `tree` with its kind and, for a file, the number and the hash of its bytes or a read
/// error.
public func listing(of tree: SpooledTree) throws -> [String] {
    var lines: [String] = []
    try list(Folder(rootOf: tree), [], &lines)
    return lines
}

private func list(_ root: borrowing Folder, _ path: [UInt8], _ lines: inout [String]) throws {
    let folder = try root.folder(at: String(decoding: path, as: UTF8.self))
    for entry in try folder.entries() {
        let below = path + (path.isEmpty ? [] : [UInt8(ascii: "/")]) + entry.name
        lines.append("\(entry.kind) \(below) \(entry.kind == .file ? try contents(of: below, in: root) : "")")
        switch entry.kind {
        // A folder whose name is not UTF-8 cannot be opened by its path.
        case .folder where (try? UTF8Span(validating: below.span)) != nil: try list(root, below, &lines)
        case .link: lines.append("  to \(String(describing: root.target(ofLink: below)))")
        default: continue
        }
    }
}

private func contents(of file: [UInt8], in root: borrowing Folder) throws -> String {
    do throws(FileError) {
        let source = try root.source(file)
        return "\(source.count) bytes \(ContentHash(of: try source.bytes(at: 0, count: source.count)).hex)"
    } catch {
        return "\(error)"
    }
}
