import Bytes
import DeviceBackup
import Files
import Telemetry

/// The manifest rows that may belong to stores, and the problems of other rows.
///
/// Source: "iOS backups", sections 6 and 10 (B36 to B43).
struct BackupContents {
    /// A row that becomes an entry of the file tree.
    private struct KeptRow {
        enum Kind {
            case file(number: Int)
            case folder
            case link
            /// The name, or that of the folder, was made from the name of a store. The file is reported, but not read.
            case copy
        }

        var kind: Kind
        /// Whether the name of the file is the hash of its domain and path, as in an undamaged row.
        var isNamedByHash = true
    }

    /// The path of a row in the backup: `<domain>/<path>`.
    typealias FullPath = [UInt8]

    private(set) var entries: [BackupEntry] = []
    /// The containers that may have stores, by the names of their backup domains.
    private(set) var domains: [CapturedText: BackupDomain] = [:]
    private(set) var inventory: BackupInventory?
    private let storeNames: StoreNames
    private let storePrefixes: [String]
    private let nameByteLimit: Int
    private var keptRows: [FullPath: KeptRow] = [:]
    private var nameByteCount = 0
    /// The files that rows name whose names are not the hash of their domain and path.
    private var namedFiles: Set<FileID> = []
    private var folderPaths: Set<FullPath> = []
    private var clashingPaths: Set<FullPath> = []
    private var repeatedPaths: Set<FullPath> = []
    private var rowsWithInvalidPaths = RejectedRows()
    private var rowsWithInvalidNames = RejectedRows()
    /// The rows that may belong to stores, but do not state whether they are a file, a folder or a link.
    private var rowsWithoutKind = RejectedRows()
    /// The omitted rows whose file names are not the hash of their domain and path.
    private var misnamedRows = RejectedRows()
    private var isFull = false
    private var lastDomain: (name: [UInt8], domain: RowDomain)?

    /// The number of rows that were rejected for the same reason, and the name of the first of these rows.
    private struct RejectedRows {
        var count = 0
        var firstName = ""

        mutating func add(_ row: ManifestRow) {
            count += 1
            guard count == 1 else { return }
            // A path that is no text is represented by a zero byte.
            let path = row.path == [0] ? [] : row.path.prefix(256)
            let name = row.domain.prefix(256) + [UInt8(ascii: "/")] + path
            firstName = String(decoding: name, as: UTF8.self)
        }
    }

    init(_ storeNames: StoreNames, nameByteLimit: Int, inventory: BackupInventory?) {
        self.inventory = inventory
        self.storeNames = storeNames
        storePrefixes = storeNames.formats.flatMap { $0.namePrefixes(in: nil) }
        self.nameByteLimit = nameByteLimit
    }

    mutating func add(_ row: ManifestRow) {
        switch domain(of: row) {
        case .system: checkFileName(of: row)
        case .app(let domain) where row.hasValidPath:
            inventory?.add(row, in: domain)
            // A container is added only if it has kept rows or if its pings may be missing.
            if row.path.isEmpty {
                checkFileName(of: row)
                return addContainer(domain)
            }
            add(row, in: domain)
        case .invalid, .app: rowsWithInvalidPaths.add(row)
        }
    }

    /// Returns the domain of `row`, reusing the result for the previous row if the domain is the same.
    private mutating func domain(of row: ManifestRow) -> RowDomain {
        if let lastDomain, lastDomain.name == row.domain { return lastDomain.domain }
        let domain = RowDomain(name: row.domain)
        lastDomain = (row.domain, domain)
        return domain
    }

    /// Adds the container in `domain` if the container belongs to an app whose pings may be missing from the backup.
    private mutating func addContainer(_ domain: BackupDomain) {
        guard domain.kind == .app, storeNames.areStoresMissing(of: domain.identifier, among: []) else { return }
        domains[domain.name] = domain
    }

    private mutating func add(_ row: ManifestRow, in domain: BackupDomain) {
        let hint = RowKind(flags: row.flags)
        let member = StoreNames.memberName(forPath: row.path, inDomain: domain.name)
        let mayBeFile = storeNames.mayBelongToStore(member)
        let mayBeFolder = hint != .file && storeNames.isPingFolder(member)
        let mayBeLink = storeNames.isStoreName(member.name)
        guard mayBeFile || mayBeFolder || mayBeLink else {
            checkFileName(of: row)
            if hint != .folder, hint != .link, isCopy(member) {
                keep(KeptRow(kind: .copy), at: row.domain + [UInt8(ascii: "/")] + row.path)
            }
            return addContainer(domain)
        }
        let details = row.details
        let fullPath = row.domain + [UInt8(ascii: "/")] + row.path
        // The domain may make the path too long.
        guard (try? MemberPath(fullPath)) != nil else { return rowsWithInvalidPaths.add(row) }
        switch details?.kind ?? hint {
        case .file? where mayBeFile: addFile(row, details, fullPath)
        case .folder? where mayBeFolder: keep(KeptRow(kind: .folder), at: fullPath)
        case .link? where mayBeLink: keep(KeptRow(kind: .link), at: fullPath)
        case nil where mayBeFile: rowsWithoutKind.add(row)
        case .file, .folder, .link, nil:
            checkFileName(of: row)
            return addContainer(domain)
        }
        domains[domain.name] = domain
    }

    /// Returns whether the name of a file or of its folder was made from the name of a store.
    private func isCopy(_ file: MemberName) -> Bool {
        [file.name, file.folder].contains { AlteredName.isAltered(Array($0.utf8), fromNameWithPrefixIn: storePrefixes) }
    }

    /// Counts the omitted `row` as misnamed if its file name is not the hash of its domain and path.
    ///
    /// A misnamed row is damaged, and its correct path may belong to a store.
    private mutating func checkFileName(of row: ManifestRow) {
        guard let stored = row.fileID.flatMap({ FileID($0) }) else { return }
        if stored != FileID(domain: row.domain, path: row.path) { misnamedRows.add(row) }
    }

    private mutating func addFile(_ row: ManifestRow, _ details: MBFile?, _ fullPath: FullPath) {
        let expectedID = FileID(domain: row.domain, path: row.path)
        guard let stored = row.fileID else { return add(row, expectedID, details, isNamedByHash: true, at: fullPath) }
        guard let fileID = FileID(stored) else { return rowsWithInvalidNames.add(row) }
        add(row, fileID, details, isNamedByHash: fileID == expectedID, at: fullPath)
    }

    private mutating func add(
        _ row: ManifestRow, _ fileID: FileID, _ details: MBFile?, isNamedByHash: Bool, at fullPath: FullPath
    ) {
        if let present = keptRows[fullPath], case .file(let number) = present.kind {
            if entries[number].fileID == fileID { return }
            repeatedPaths.insert(fullPath)
            guard isNamedByHash, !present.isNamedByHash else { return }
        }
        // Any number of forged rows could name the same file, which would be read for each of them.
        guard isNamedByHash || namedFiles.insert(fileID).inserted else { return misnamedRows.add(row) }
        guard register(fullPath) else { return }
        entries.append(BackupEntry(fileID, path: fullPath, details))
        keptRows[fullPath] = KeptRow(kind: .file(number: entries.count - 1), isNamedByHash: isNamedByHash)
    }

    private mutating func keep(_ row: KeptRow, at fullPath: FullPath) {
        guard keptRows[fullPath] == nil, register(fullPath) else { return }
        keptRows[fullPath] = row
    }

    /// Registers a path and its folders, and returns whether the total size of all names is within the limit.
    private mutating func register(_ fullPath: FullPath) -> Bool {
        nameByteCount += fullPath.count
        if nameByteCount > nameByteLimit { isFull = true }
        guard !isFull else { return false }
        var end = fullPath.lastIndex(of: UInt8(ascii: "/"))
        while let slash = end {
            let folder = Array(fullPath[..<slash])
            guard folderPaths.insert(folder).inserted else { break }
            nameByteCount += folder.count
            end = folder.lastIndex(of: UInt8(ascii: "/"))
        }
        return true
    }

    // MARK: Clashes

    /// Whether the rows must be read again to find files and links at the paths of folders.
    var hasFolders: Bool { !folderPaths.isEmpty }

    /// Records a clash if `row` is a file or a link, and other rows need a folder at the same path.
    mutating func registerClash(of row: ManifestRow) {
        // The path is not validated, because an invalid path cannot equal the valid path of a folder.
        guard !row.path.isEmpty else { return }
        let fullPath = row.domain + [UInt8(ascii: "/")] + row.path
        guard folderPaths.contains(fullPath) else { return }
        switch row.details?.kind ?? RowKind(flags: row.flags) {
        case .file, .link: clashingPaths.insert(fullPath)
        case .folder, nil: return
        }
    }
}

// MARK: - The tree

extension BackupContents {
    /// The result of checking whether a store file can be read.
    enum Readability {
        case readable
        /// The file cannot be read, was reported individually, and is kept in the tree.
        case unreadableKept
        /// The file cannot be read, was only counted, and is omitted from the tree.
        case unreadableOmitted
    }

    /// Reports the problems, and returns a builder for the file tree of the kept rows.
    ///
    /// `prefix` is the path prefix of the backup in the capture. `check` is called for each file with the name of a
    /// store, and returns whether the file can be read.
    consuming func finish(
        prefix: String, _ problems: inout BackupProblems,
        _ check: (_ number: Int, _ path: String, inout BackupProblems) -> Readability
    ) -> SpooledTreeBuilder {
        report(prefix, &problems)
        var builder = SpooledTreeBuilder()
        for (fullPath, row) in keptRows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            // Clashes were reported above, and rows with invalid paths were rejected.
            guard !clashingPaths.contains(fullPath), let path = try? MemberPath(fullPath) else { continue }
            switch row.kind {
            case .folder: builder.addFolder(path)
            case .link: builder.addLink(path, to: [])
            case .copy: builder.addFile(path, .omitted)
            case .file(let number):
                let full = prefix + path.text
                if !row.isNamedByHash {
                    problems.report(
                        "backup", "B38",
                        "read from a file whose name is not the hash of this path; the name or the path is damaged",
                        at: full, isLoss: !storeNames.hasStoreName(fullPath))
                }
                if storeNames.hasStoreName(fullPath), check(number, full, &problems) == .unreadableOmitted { continue }
                builder.addFile(path, .external(number))
            }
        }
        return builder
    }

    private func report(_ prefix: String, _ problems: inout BackupProblems) {
        let unread = [
            (rowsWithInvalidPaths, "unreadable", "B36", "rows with an invalid domain or path are not read"),
            (rowsWithInvalidNames, "unreadable", "B37", "rows with an invalid file name are not read"),
            (
                rowsWithoutKind, "unreadable", "B41",
                "rows that do not state whether they are a file or a folder are not read"
            ),
            (
                misnamedRows, "damaged", "B38",
                "rows that may be damaged rows of stores, because their file name is not the hash of their domain and "
                    + "path, are not read"
            ),
        ]
        for (rows, code, caseID, words) in unread where rows.count > 0 {
            problems.report(code, caseID, "\(words): \(rows.count), such as \(rows.firstName)")
        }
        if isFull {
            problems.report(
                "unreadable", "B36",
                "the file names have more than \(nameByteLimit >> 20) MiB in total; the remaining rows are not read"
            )
        }
        for fullPath in repeatedPaths.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            problems.report(
                "unreadable", "B39", "the manifest lists several files at this path; only one of them is read",
                at: prefix + String(decoding: fullPath, as: UTF8.self))
        }
        for fullPath in clashingPaths.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            problems.report(
                "unreadable", "B40", "not read: other rows need a folder at the path of this file or link",
                at: prefix + String(decoding: fullPath, as: UTF8.self))
        }
    }
}

// MARK: - StoreNames

/// The rules that determine by name which rows of a backup are kept, and which files are stores.
///
/// Source: "iOS backups", section 6.
struct StoreNames {
    let formats: [any StoreFormat]

    /// The suffixes of the files that SQLite stores next to a database.
    private static let companionSuffixes = ["-wal", "-journal", "-shm"]

    /// Returns the names of a file and its folders.
    ///
    /// `path` is the validated path relative to the container.
    static func memberName(forPath path: [UInt8], inDomain domain: String) -> MemberName {
        var folders: [String] = []
        var start = 0
        for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
            folders.append(String(decoding: path[start..<index], as: UTF8.self))
            start = index + 1
        }
        return MemberName(name: String(decoding: path[start...], as: UTF8.self), folders: folders, rootName: domain)
    }

    /// Returns whether a file may belong to a store.
    ///
    /// Hidden files never belong to a store.
    func mayBelongToStore(_ file: MemberName) -> Bool {
        file.name.utf8.first != UInt8(ascii: ".") && formats.contains { $0.mayBelongToStore(file) }
    }

    /// Returns whether `folder` has the name of a ping folder, so that files of any name in it may belong to a store.
    fileprivate func isPingFolder(_ folder: MemberName) -> Bool {
        mayBelongToStore(MemberName(name: "-", folders: folder.folders + [folder.name], rootName: folder.rootName))
    }

    /// Returns whether a file or link with this name may be a store.
    func isStoreName(_ name: String) -> Bool { formats.contains { $0.isNamedForStore(name, in: nil) } }

    /// Returns whether any component of `path` is the name of a store.
    ///
    /// The last component may have the suffix of a file that SQLite stores next to a database.
    func hasStoreName(_ path: [UInt8]) -> Bool {
        var parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        if let last = parts.last, let suffix = Self.companionSuffixes.first(where: { Self.hasSuffix(last, $0) }) {
            parts.append(Array(last.dropLast(suffix.utf8.count)))
        }
        return parts.contains { isStoreName(String(decoding: $0, as: UTF8.self)) }
    }

    private static func hasSuffix(_ name: [UInt8], _ suffix: String) -> Bool {
        name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Returns whether `stores` lack the stores of an app because backups do not include them.
    func areStoresMissing(of applicationID: String, among stores: [any Store]) -> Bool {
        formats.contains { $0.isAbsentFromBackups(applicationID, beside: stores) }
    }
}
