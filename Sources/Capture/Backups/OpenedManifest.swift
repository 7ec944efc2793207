import Bytes
import DeviceBackup
import Files
import Telemetry

/// A backup whose manifest was read, but whose files were not opened yet.
struct OpenedManifest {
    let location: BackupLocation
    let propertyLists: BackupPropertyLists
    let unlocker: BackupUnlocker
    let format: BackupFacts.Format
    /// The encryption of the files.
    ///
    /// For a mixed backup, the keys are derived only if a file is still encrypted.
    let protection: BackupFiles.Protection
    let contents: BackupContents
    let end: ManifestRows.End

    /// Calls `body` with both possible paths of each wanted file, relative to the folder of the backup.
    func forEachFile(_ body: (String) -> Void) {
        for number in 0..<contents.entries.count {
            let id = contents.entries.fileID(at: number)
            body("\(id.folder)/\(id.name)")
            body(id.name)
        }
    }

    /// Builds the file tree of the backup, and checks that the stores can be read.
    ///
    /// - Throws: ``BackupError`` if a file is still encrypted and the keybag cannot be unlocked.
    func finish(in folder: SharedFolder) throws(BackupError) -> OpenedBackup {
        let files = try files(in: folder)
        var problems = BackupProblems(label: location.label, path: location.path)
        reportState(files.damagedClassNumbers, &problems)
        let domains = contents.domains
        let builder = contents.finish(prefix: location.prefix, &problems) { number, path, problems in
            do throws(FileError) {
                _ = try files.source(ofFile: number)
                return .readable
            } catch {
                return problems.report("unreadable", error.caseID, error.message, at: path)
                    ? .unreadableKept : .unreadableOmitted
            }
        }
        // Clashes with folders were reported already.
        let (tree, _) = builder.finish(name: location.shownPath, byteStorage: .provider(files.source))
        return OpenedBackup(
            tree: tree, location: location,
            facts: BackupFacts(path: location.path, format: format, isEncrypted: files.isEncrypted, propertyLists),
            problems: problems.finish(), domains: domains)
    }

    private func files(in folder: SharedFolder) throws(BackupError) -> BackupFiles {
        let files = BackupFiles(contents.entries, in: folder, protection: protection)
        guard case .mixed = protection, files.needsKeys() else { return files }
        return BackupFiles(contents.entries, in: folder, protection: .mixed(try unlocker.unlock()))
    }

    private func reportState(_ damagedClassNumbers: [Int], _ problems: inout BackupProblems) {
        if let state = propertyLists.snapshotState, state != "finished" {
            problems.report("damaged", "B32", "the backup did not finish (\(state)); make it again")
        }
        if !damagedClassNumbers.isEmpty {
            let classes = damagedClassNumbers.map { "\($0)" }.joined(separator: ", ")
            problems.report(
                "damaged", "B26", "the keybag is damaged and has no valid key for files of class \(classes)")
        }
        if case .incomplete(let caseID, let text) = end { problems.report("damaged", caseID, text) }
    }
}

struct OpenedBackup {
    let tree: SpooledTree
    let location: BackupLocation
    let facts: BackupFacts
    let problems: [LocatedProblem]
    /// The containers in the backup, by the names of their backup domains.
    let domains: [CapturedText: BackupDomain]
}

extension OpenedBackup {
    /// Returns the facts about the backup, including the apps whose pings are missing because backups do not include
    /// them.
    ///
    /// `containers` are the stores in the capture, grouped by container.
    func facts(beside containers: [Container: [any Store]], _ storeNames: StoreNames) -> BackupFacts {
        var facts = facts
        facts.appsWithoutPings =
            domains.filter { name, domain in
                guard domain.kind == .app else { return false }
                let container = Container(
                    path: location.prefix + name.string, identifier: domain.identifier, kind: .app)
                return storeNames.areStoresMissing(of: domain.identifier, among: containers[container] ?? [])
            }.map { CapturedText($0.value.identifier) }.sortedStrings
        return facts
    }
}
