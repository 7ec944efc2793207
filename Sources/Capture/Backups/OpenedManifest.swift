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

    /// Calls `body` with all possible paths of each wanted file, relative to the folder of the backup.
    func forEachFile(_ body: (String) -> Void) {
        for entry in contents.entries {
            body("\(entry.fileID.folder)/\(entry.fileID.name)")
            body(entry.fileID.name)
            body(String(decoding: entry.path, as: UTF8.self))
        }
    }

    /// Builds the file tree of the backup, and checks that the stores can be read.
    ///
    /// - Throws: ``BackupError`` if a file is still encrypted and the keybag cannot be unlocked.
    func finish(in folder: SharedFolder) throws -> OpenedBackup {
        let files = try files(in: folder)
        var problems = BackupProblems(label: location.label, path: location.path)
        reportState(files.damagedClassNumbers, &problems)
        let (domains, inventory) = (contents.domains, contents.inventory)
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
            problems: problems.finish(), domains: domains, inventory: inventory)
    }

    private func files(in folder: SharedFolder) throws -> BackupFiles {
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
    /// The inventory of the backup, or `nil` if it was not requested.
    let inventory: BackupInventory?
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

// MARK: - Facts and problems

/// The facts about a backup that a scan reports, but that records and bundles do not contain.
///
/// Source: "iOS backups", section 7.
public struct BackupFacts: Sendable, Equatable {
    /// The format of the manifest of a backup.
    public enum Format: String, Sendable {
        /// The SQLite database `Manifest.db`.
        case sqlite
        /// The binary file `Manifest.mbdb`.
        case mbdb
    }

    /// The path of the backup in the capture, or an empty string if the backup is the capture.
    public let path: String
    /// The format of the manifest.
    public let format: Format
    /// Whether a password was needed to read the backup.
    public internal(set) var isEncrypted: Bool
    /// The model of the phone, or `nil` if it is unknown.
    public let productType: String?
    /// The version of iOS, or `nil` if it is unknown.
    public let productVersion: String?
    /// The date of the backup in RFC 3339, or `nil` if it is unknown.
    public let lastBackup: String?
    /// The state of the backup process, such as `finished` for a complete backup, or `nil` if it is unknown.
    public let snapshotState: String?
    /// The bundle IDs of the apps whose pings are missing because backups do not include them.
    public internal(set) var appsWithoutPings: [String] = []

    init(path: String, format: Format, isEncrypted: Bool, _ propertyLists: BackupPropertyLists) {
        self.path = path
        self.format = format
        self.isEncrypted = isEncrypted
        productType = propertyLists.productType
        productVersion = propertyLists.productVersion
        lastBackup = propertyLists.lastBackup
        snapshotState = propertyLists.snapshotState
    }

    /// The model, the iOS version and the date, if known, such as `iPhone11,2, iOS 13.3.1, made 2020-04-20T10:05:00Z`.
    public var origin: String {
        [productType, productVersion.map { "iOS \($0)" }, lastBackup.map { "made \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}

/// A list of the problems of a backup.
///
/// Only the first problems are reported individually. Further problems at paths in the backup are only counted.
struct BackupProblems {
    private struct Kind: Hashable {
        @CapturedText var code: String
        @OptionalCapturedText var caseID: String?
        let isLoss: Bool?

        var sortKey: (String, String, Int) { (caseID ?? "", code, isLoss == true ? 1 : 0) }
    }

    private let label: String
    private let path: String
    private var problems: [LocatedProblem] = []
    private var unreportedCounts: [Kind: Int] = [:]

    init(label: String, path: String) {
        self.label = label
        self.path = path
    }

    /// Reports a problem of the backup as a whole.
    ///
    /// The reported text begins with `caseID`, a case ID from "iOS backups", section 10.
    mutating func report(_ code: String, _ caseID: String, _ text: String) {
        add(code, "\(caseID) \(text)", at: path, isLoss: nil)
    }

    /// Reports a problem at a path in the backup, and returns whether it is reported individually.
    ///
    /// `caseID` is `nil` if the operating system reported the problem. If `isLoss` is `nil`, `code` determines whether
    /// data is lost.
    @discardableResult
    mutating func report(
        _ code: String, _ caseID: String?, _ text: String, at problemPath: String, isLoss: Bool? = nil
    ) -> Bool {
        guard problems.count < InputLimits.reportedBackupProblemCount else {
            unreportedCounts[Kind(code: code, caseID: caseID, isLoss: isLoss), default: 0] += 1
            return false
        }
        add(code, caseID.map { "\($0) \(text)" } ?? text, at: problemPath, isLoss: isLoss)
        return true
    }

    private mutating func add(_ code: String, _ text: String, at problemPath: String, isLoss: Bool?) {
        problems.append(LocatedProblem(capture: label, path: problemPath, problem: Problem(code, text, isLoss: isLoss)))
    }

    consuming func finish() -> [LocatedProblem] {
        for (kind, count) in unreportedCounts.sorted(by: { $0.key.sortKey < $1.key.sortKey }) {
            let text = "\(count) more such problems in this backup"
            add(kind.code, kind.caseID.map { "\($0) and \(text)" } ?? text, at: path, isLoss: kind.isLoss)
        }
        return problems
    }
}
