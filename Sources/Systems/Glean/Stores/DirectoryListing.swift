import Files
import Telemetry

/// The functions that list the files of a data directory and report unexpected entries.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 2 and 10.
enum DirectoryListing {
    /// Returns the folders of pings and events, sorted by name, and claims them and the folder of the databases.
    static func folders(in directory: inout InspectedFolder) -> [GleanDirectory.Folder] {
        let names = directory.folders.sorted { $0.lexicographicallyPrecedes($1) }
        return names.compactMap { name in
            let text = String(decoding: name, as: UTF8.self)
            if text == GleanStores.databasesFolderName {
                directory.claim(folder: name)
                reportSpecialFiles(inFolder: name, of: &directory)
            }
            guard let contents = GleanDirectory.Contents(folder: text) else { return nil }
            directory.claim(folder: name)
            return folder(
                contents, at: directory.path(of: name), pathPrefix: name + [UInt8(ascii: "/")], in: &directory)
        }
    }

    /// Lists the files of the folder at `path` by name.
    ///
    /// Reports an error and returns `nil` if the folder cannot be read. Also returns `nil` if a folder of unfinished
    /// pings contains no files to be read.
    ///
    /// `pathPrefix` is the name of the folder and a slash, or empty if `directory` is the folder itself.
    static func folder(
        _ contents: GleanDirectory.Contents, at path: String, pathPrefix: [UInt8], in directory: inout InspectedFolder
    ) -> GleanDirectory.Folder? {
        do throws(FileError) {
            let folder = try directory.tree.folder(at: path)
            var entries = try folder.entries()
            entries.sort()
            let device = directory.excluded.isEmpty ? nil : try folder.device()
            var fileIndexes: [UInt32] = []
            for index in 0..<entries.count {
                let name = entries.name(index)
                guard entries.kind(index) == .special || isRelevant(name, in: contents) else { continue }
                if let device,
                    directory.excluded.contains(FileIdentity(device: device, inode: entries.inode(at: index)))
                {
                    directory.report(leftOut: directory.path(of: pathPrefix + name))
                    continue
                }
                let isLink = entries.kind(index) == .link
                let target = isLink ? directory.tree.target(ofLink: name, inFolder: path)?.shownPath : nil
                if let problem = problem(with: name, entries.kind(index), in: contents, leadingTo: target) {
                    directory.report(problem, of: pathPrefix + name)
                    // A folder inside a claimed folder is not searched, so it need not be claimed.
                    if pathPrefix.isEmpty, entries.kind(index) == .folder { directory.claim(folder: name) }
                } else {
                    fileIndexes.append(UInt32(index))
                }
            }
            // The folder of unfinished pings is usually empty, and is omitted then.
            guard contents != .pings(.unfinishedPings) || !fileIndexes.isEmpty else { return nil }
            return GleanDirectory.Folder(
                contents: contents, pathPrefix: pathPrefix, entries: entries, fileIndexes: fileIndexes, path: path)
        } catch {
            directory.report(unreadable: path, error)
            return nil
        }
    }

    /// Reports the pipes, sockets and devices in the subfolder `name`, which is claimed and not searched.
    private static func reportSpecialFiles(inFolder name: [UInt8], of directory: inout InspectedFolder) {
        let path = directory.path(of: name)
        // An error is reported when a file in the folder is read.
        guard let entries = try? directory.tree.folder(at: path).entries() else { return }
        for index in 0..<entries.count where entries.kind(index) == .special {
            let entryPath = "\(path)/\(String(decoding: entries.name(index), as: UTF8.self))"
            directory.report(SkippedEntry(path: entryPath, isLink: false))
        }
    }

    /// Returns whether the entry `name` of a folder must be considered.
    ///
    /// Hidden entries are ignored (case G18), as are entries of `tmp` that are not named like a ping (case G21).
    private static func isRelevant(_ name: [UInt8], in contents: GleanDirectory.Contents) -> Bool {
        guard name.first != UInt8(ascii: ".") else { return false }
        return contents != .pings(.unfinishedPings) || GleanName.digits(ofUUID: name.span) != nil
    }

    /// Returns the problem with an entry, or `nil` if the entry is a file that must be read.
    private static func problem(
        with name: [UInt8], _ kind: FolderEntries.Kind, in contents: GleanDirectory.Contents, leadingTo target: String?
    ) -> Problem? {
        let code = contents == .events ? "G56" : nil
        let expected = contents == .events ? "an events file" : "a ping file"
        switch kind {
        case .file:
            guard contents == .events, !GleanName.isPingName(name.span) else { return nil }
            return Problem("G56", "not read: not the name of a ping")
        case .folder: return Problem(code ?? "G19", "not read: a folder where \(expected) should be")
        case .link:
            let advice = "not followed, where \(expected) should be; give that as a capture of its own"
            return Problem(code ?? "G20", "symbolic link\(target.map { " to \($0)" } ?? "") \(advice)", isLoss: true)
        case .special:
            return Problem(code ?? "G20", "not read: a pipe, a socket or a device where \(expected) should be")
        }
    }
}
