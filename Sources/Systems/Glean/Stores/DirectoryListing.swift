import Files
import Telemetry

/// Lists the folders of a data directory, and tells what does not belong there.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 2 and 10.
enum DirectoryListing {
    /// The folders that hold pings or events, by the bytes of their names. They are claimed, so that nobody else looks at them.
    static func folders(in look: inout FolderLook) -> [GleanDirectory.Folder] {
        let names = look.folders.sorted { $0.lexicographicallyPrecedes($1) }
        return names.compactMap { name in
            let text = String(decoding: name, as: UTF8.self)
            if text == GleanStores.databases { look.claim(folder: name) }
            guard let contents = GleanDirectory.Contents(folder: text) else { return nil }
            look.claim(folder: name)
            return folder(
                contents, at: look.path(of: name), prefix: name + [UInt8(ascii: "/")], in: &look)
        }
    }

    /// A folder with its files in order; nil if it cannot be read, which is told.
    /// - Parameter prefix: the folder's name and a slash; empty for the folder that is looked at.
    static func folder(
        _ contents: GleanDirectory.Contents, at path: String, prefix: [UInt8], in look: inout FolderLook
    ) -> GleanDirectory.Folder? {
        do throws(FileError) {
            let folder = try look.tree.folder(at: path)
            var entries = try folder.entries()
            entries.sort()
            let device = look.excluded.isEmpty ? nil : try folder.device()
            var files: [UInt32] = []
            for index in 0..<entries.count {
                let name = entries.name(index)
                guard isWanted(name, in: contents) else { continue }
                if let device, look.excluded.contains(FileIdentity(device: device, inode: entries.inode(index))) {
                    look.tell(leftOut: look.path(of: prefix + name))
                    continue
                }
                let isLink = entries.kind(index) == .link
                let target = isLink ? look.tree.target(ofLink: name, inFolder: path)?.shownPath : nil
                if let problem = problem(with: name, entries.kind(index), in: contents, leadingTo: target) {
                    look.tell(problem, of: prefix + name)
                    // Nobody looks into a folder below one that is claimed.
                    if prefix.isEmpty, entries.kind(index) == .folder { look.claim(folder: name) }
                } else {
                    files.append(UInt32(index))
                }
            }
            // Every data directory has a folder for unfinished pings, and hardly ever one in it.
            guard contents != .pings(.unfinished) || !files.isEmpty else { return nil }
            return GleanDirectory.Folder(
                contents: contents, prefix: prefix, entries: entries, files: files, path: path)
        } catch {
            look.tell(unreadable: path, error)
            return nil
        }
    }

    /// Whether an entry is anything to the SDK: hidden ones are not [G18], and in `tmp` only those that have the name of a
    /// ping [G21].
    private static func isWanted(_ name: [UInt8], in contents: GleanDirectory.Contents) -> Bool {
        guard name.first != UInt8(ascii: ".") else { return false }
        return contents != .pings(.unfinished) || GleanName.digits(ofUUID: name.span) != nil
    }

    /// What is wrong with an entry; nil if it is a file that may be read.
    private static func problem(
        with name: [UInt8], _ kind: FolderEntries.Kind, in contents: GleanDirectory.Contents, leadingTo target: String?
    ) -> Problem? {
        let code = contents == .events ? "G56" : nil
        let wanted = contents == .events ? "an events file" : "a ping file"
        switch kind {
        case .file:
            guard contents == .events, !GleanName.isPing(name.span) else { return nil }
            return Problem("G56", "not read: not the name of a ping")
        case .folder: return Problem(code ?? "G19", "not read: a folder where \(wanted) should be")
        case .link:
            let words = "not followed, where \(wanted) should be; give that as a capture of its own"
            return Problem(code ?? "G20", "symbolic link\(target.map { " to \($0)" } ?? "") \(words)", isLoss: true)
        case .special:
            return Problem(code ?? "G20", "not read: a pipe, a socket or a device where \(wanted) should be")
        }
    }
}
