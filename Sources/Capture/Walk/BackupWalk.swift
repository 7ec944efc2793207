import DeviceBackup
import Files
import Parallel
import Telemetry

/// The backups that a walk finds are opened and walked like the folders that they stand for.
extension StoreWalk {
    /// Opens the backups that were found since the last call, and walks them. Throws an error if the capture is itself a backup
    /// that cannot be read.
    /// - Parameter archive: The prefix of the archive in the capture that contains the backups, or an empty string.
    mutating func walkBackups(
        in tree: inout FileTree, archive: String, _ rereading: ArchiveRereading?, limit: JobLimit
    ) async throws {
        let paths = foundBackups.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        foundBackups = []
        guard !paths.isEmpty else { return }
        var manifests: [OpenedManifest] = []
        for path in paths {
            let place = BackupPlace(label: label, path: path, in: self.path, archive: archive)
            let opening = BackupOpening(place: place, spool: spool, passwords: passwords)
            do throws(BackupError) {
                manifests.append(try opening.open(folder(of: place, in: tree), names: StoreNames(formats: formats)))
            } catch {
                try take(error, at: place)
            }
        }
        let members = try await reread(manifests, archive, rereading)
        for manifest in manifests {
            do throws(BackupError) {
                let folder = try folder(of: manifest.place, in: tree, archive: archive, members)
                let backup = try manifest.finish(in: RootFolder(folder))
                backups.append(backup)
                problems += backup.problems
                isIncomplete = isIncomplete || backup.problems.contains(where: \.problem.isLoss)
            } catch {
                try take(error, at: manifest.place)
                continue
            }
            if let backup = backups.last { try await walk(backup, in: &tree, limit: limit) }
        }
    }

    /// Spools the files that backups in an archive need. Returns `nil` if the backups are not in an archive.
    private mutating func reread(
        _ manifests: [OpenedManifest], _ archive: String, _ rereading: ArchiveRereading?
    ) async throws(ArchiveError) -> SpooledTree? {
        guard let rereading, !manifests.isEmpty else { return nil }
        var paths: Set<[UInt8]> = []
        for manifest in manifests {
            let folder = manifest.place.prefix.utf8.dropFirst(archive.utf8.count)
            manifest.forEachFile { paths.insert(folder + Array($0.utf8)) }
        }
        let result = try await rereading.members(at: paths)
        problems += result.problems
        isIncomplete = isIncomplete || !result.problems.isEmpty
        return result.tree
    }

    /// The folder of a backup, in the archive where that was read again.
    private func folder(
        of place: BackupPlace, in tree: FileTree, archive: String = "", _ members: SpooledTree? = nil
    ) throws(BackupError) -> Folder {
        try BackupError.wrapping { () throws(FileError) in
            guard let members else { return try tree.folder(at: place.path) }
            let inside = String(place.path.utf8.dropFirst(archive.utf8.count)) ?? ""
            return try Folder(rootOf: members).folder(at: inside)
        }
    }

    /// A backup that cannot be read ends the command if it is the capture; beside others it is told.
    private mutating func take(_ error: BackupError, at place: BackupPlace) throws(BackupError) {
        // No other backup would find room where this one did not.
        guard !place.path.isEmpty, !error.isWithoutRoom else { throw error }
        isIncomplete = true
        backupErrors.append(error)
        report("unreadable", error.description, at: place.path)
    }

    private mutating func walk(_ backup: OpenedBackup, in tree: inout FileTree, limit: JobLimit) async throws {
        let prefix = backup.place.prefix
        for (name, domain) in backup.domains { identifiers[prefix + name] = ContainerOwner(domain) }
        let part: FileTree
        if prefix.isEmpty {
            tree = FileTree(Folder(rootOf: backup.tree))
            part = tree
        } else {
            part = tree.add(backup.tree, prefix: prefix)
        }
        let root = FolderVisit(
            tree: part, path: prefix, name: Path.lastName(of: prefix), excluded: [], formats: formats
        ).run()
        try await descend(take(root, of: prefix), part, leavingOut: [], hasBackups: false, limit: limit)
        guard let unread = unreadInBackups[prefix] else { return }
        let more = unread.count > 1 ? " (and \(unread.count - 1) more files that only their contents tell)" : ""
        report("unreadable", unread.first + more, at: backup.place.path)
    }

    /// The prefix of the backup that a path leads into; nil if it leads into none.
    func backupPrefix(of path: String) -> String? {
        backups.last { path.utf8.starts(with: $0.place.prefix.utf8) }?.place.prefix
    }

    /// Returns the problem of a link or a special file.
    ///
    /// A link in a backup was a link on the phone. It is no loss, because the backup has rows of their own for the files that it
    /// leads to. Source: "iOS backups", section 10, B43.
    func problem(of found: NotFile) -> Problem {
        let problem = found.problem
        guard backupPrefix(of: found.path) != nil else { return problem }
        return Problem(problem.code, "B43 \(problem.text)", at: problem.offset, isLoss: false)
    }
}
