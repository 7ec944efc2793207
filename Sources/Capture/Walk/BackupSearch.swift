import Bytes
import DeviceBackup
import Files
import Telemetry

extension StoreSearch {
    /// Opens the backups that were found since the last call, searches them for stores, and adds them to `tree`.
    ///
    /// `archive` is the path prefix of the archive that contains the backups. It is empty if there is no archive.
    ///
    /// - Throws: ``BackupError`` or `FileError` if the capture itself is an unreadable backup, `FileError` if the spool
    ///   is full, or ``ArchiveError`` if the archive cannot be read again.
    mutating func searchBackups(
        in tree: inout FileTree, archive: String, _ rereader: ArchiveRereader?, limit: JobLimit
    ) async throws {
        let paths = foundBackupPaths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        foundBackupPaths = []
        guard !paths.isEmpty else { return }
        var manifests: [OpenedManifest] = []
        for path in paths {
            let location = BackupLocation(label: label, path: path, in: self.path, archive: archive)
            let opening = BackupOpener(
                location: location, spool: spool, passwords: passwords, listsInventory: listsInventory)
            do {
                manifests.append(
                    try opening.open(folder(of: location, in: tree), storeNames: StoreNames(formats: formats)))
            } catch {
                try report(error, at: location)
            }
        }
        let members = try await reread(manifests, archive, rereader)
        for manifest in manifests {
            do {
                let folder = try folder(of: manifest.location, in: tree, archive: archive, members)
                let backup = try manifest.finish(in: SharedFolder(folder))
                add(backup)
                problems += backup.problems
                isIncomplete = isIncomplete || backup.problems.contains(where: \.problem.isLoss)
            } catch {
                try report(error, at: manifest.location)
                continue
            }
            if let backup = backups.last { try await search(backup, in: &tree, limit: limit) }
        }
    }

    /// Reads an archive again to spool the wanted files of its backups, and returns the spooled files.
    ///
    /// Returns `nil` if `rereader` is `nil` or no manifest was opened.
    private mutating func reread(
        _ manifests: [OpenedManifest], _ archive: String, _ rereader: ArchiveRereader?
    ) async throws -> SpooledTree? {
        guard let rereader, !manifests.isEmpty else { return nil }
        var paths: Set<[UInt8]> = []
        for manifest in manifests {
            let folder = manifest.location.prefix.utf8.dropFirst(archive.utf8.count)
            manifest.forEachFile { paths.insert(folder + Array($0.utf8)) }
        }
        let result = try rereader.members(at: paths)
        problems += result.problems
        isIncomplete = isIncomplete || result.problems.contains(where: \.problem.isLoss)
        return result.tree
    }

    /// Returns the folder of a backup.
    ///
    /// `members` are the files that were spooled from an archive for the backup, or `nil` if the archive was not read
    /// again.
    private func folder(
        of location: BackupLocation, in tree: FileTree, archive: String = "", _ members: SpooledTree? = nil
    ) throws(FileError) -> Folder {
        guard let members else { return try tree.folder(at: location.path) }
        let inside = String(location.path.utf8.dropFirst(archive.utf8.count)) ?? ""
        return try Folder(rootOf: members).folder(at: inside)
    }

    /// Reports an unreadable backup, or throws the error if the backup is the capture or the spool is full.
    private mutating func report(_ error: any Error, at location: BackupLocation) throws {
        // If the spool has no space for this backup, it has none for other backups.
        guard !location.path.isEmpty, (error as? FileError)?.operation != .spool else { throw error }
        isIncomplete = true
        backupErrors.append(error)
        let password = error as? BackupError
        let remedy = password.flatMap { $0.cause == .password ? "; \($0.remedy)" : nil } ?? ""
        report("unreadable", "\(error)\(remedy)", at: location.path)
    }

    private mutating func search(_ backup: OpenedBackup, in tree: inout FileTree, limit: JobLimit) async throws {
        let prefix = backup.location.prefix
        for (name, domain) in backup.domains { owners[prefix + name.string] = ContainerOwner(domain) }
        if let inventory = backup.inventory {
            for (name, domain) in inventory.domains { owners[prefix + name.string] = ContainerOwner(domain) }
            inventoryFindings.add(inventory, prefix: prefix)
        }
        let part: FileTree
        if prefix.isEmpty {
            tree = FileTree(Folder(rootOf: backup.tree))
            part = tree
        } else {
            part = tree.add(backup.tree, prefix: prefix)
        }
        try await searchLevels(
            of: part, from: prefix, named: Path.lastName(of: prefix), hasBackups: false, limit: limit)
        guard let unread = unreadableFilesByBackup[prefix] else { return }
        let more =
            unread.count > 1
            ? " (and \((unread.count - 1).counted("more file")) that only their contents could identify)" : ""
        report("unreadable", unread.first + more, at: backup.location.path)
    }

    /// Returns the problem of a link or a special file.
    ///
    /// A link in a backup was a link on the phone. The problem is not a loss, because the backup has separate rows for
    /// the linked files. Neither is one of a special file, because only those next to the manifest are reported here.
    ///
    /// Source: "iOS backups", section 10, B31 and B43.
    func problem(of found: SkippedEntry) -> Problem {
        let problem = found.problem
        guard backupPrefix(of: found.path) != nil else { return problem }
        let caseID = found.isLink ? "B43" : "B31"
        return Problem(problem.code, "\(caseID) \(problem.text)", at: problem.offset, isLoss: false)
    }
}
