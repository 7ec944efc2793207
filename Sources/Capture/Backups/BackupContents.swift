import DeviceBackup
import Files
import Telemetry

/// Collects the manifest rows that may belong to stores, and the problems of other rows.
///
/// Source: "iOS backups", sections 6 and 10 (B36 to B43).
struct BackupContents {
    /// A row that becomes an entry of the file tree.
    private struct KeptRow {
        enum Kind {
            case file(Int)
            case folder
            case link
        }

        var kind: Kind
        /// Whether the name of the file is the hash of its domain and path, as in an undamaged row.
        var isNamedByHash = true
    }

    /// The path of a row in the backup: `<domain>/<path>`.
    typealias Path = [UInt8]

    private(set) var entries = BackupEntries()
    /// The containers that may have stores, by the names of their backup domains.
    private(set) var domains: [String: BackupDomain] = [:]
    private let names: StoreNames
    private let nameLimit: Int
    private var kept: [Path: KeptRow] = [:]
    private var nameBytes = 0
    private var folders: Set<Path> = []
    private var clashes: Set<Path> = []
    private var repeated: Set<Path> = []
    private var rowsWithInvalidPaths = RejectedRows()
    private var rowsWithInvalidNames = RejectedRows()
    /// The rows that may belong to stores, but do not state whether they are a file, a folder or a link.
    private var rowsWithoutKind = RejectedRows()
    /// The omitted rows whose file names are not the hash of their domain and path.
    private var misnamedRows = RejectedRows()
    private var isFull = false
    private var lastDomain: (name: [UInt8], domain: RowLocation.Domain)?

    /// The number of rows that were rejected for the same reason, and the name of the first one.
    private struct RejectedRows {
        var count = 0
        var first = ""

        mutating func add(_ row: ManifestRow) {
            count += 1
            guard count == 1 else { return }
            let name = row.domain.prefix(256) + [UInt8(ascii: "/")] + row.path.prefix(256)
            first = String(decoding: name, as: UTF8.self)
        }
    }

    init(_ names: StoreNames, nameLimit: Int) {
        self.names = names
        self.nameLimit = nameLimit
    }

    mutating func add(_ row: ManifestRow) {
        switch RowLocation(row, in: domain(of: row)) {
        case .system: checkName(of: row)
        case .refused: rowsWithInvalidPaths.add(row)
        case .app(let domain, let path):
            // A container is stored only if it has kept rows or may lack its pings.
            if path.isEmpty {
                checkName(of: row)
                return addContainer(domain)
            }
            add(row, path, in: domain)
        }
    }

    /// Returns the domain of a row, which is usually the domain of the previous row.
    private mutating func domain(of row: ManifestRow) -> RowLocation.Domain {
        if let lastDomain, lastDomain.name == row.domain { return lastDomain.domain }
        let domain = RowLocation.Domain(name: row.domain)
        lastDomain = (row.domain, domain)
        return domain
    }

    /// Adds the container of an app whose pings are possibly missing from the backup.
    private mutating func addContainer(_ domain: BackupDomain) {
        guard domain.kind == .app, names.areStoresMissing(of: domain.identifier, among: []) else { return }
        domains[domain.name] = domain
    }

    private mutating func add(_ row: ManifestRow, _ path: [UInt8], in domain: BackupDomain) {
        let hint = RowKind(flags: row.flags)
        let member = StoreNames.member(path, in: domain.name)
        let mayBeFile = names.mayBelong(member)
        let mayBeFolder = hint != .file && names.isPingFolder(member)
        let mayBeLink = names.isNamed(member.name)
        guard mayBeFile || mayBeFolder || mayBeLink else {
            checkName(of: row)
            return addContainer(domain)
        }
        let details = row.details
        let fullPath = row.domain + [UInt8(ascii: "/")] + path
        // The path may be too long after its domain was added.
        guard (try? MemberPath(fullPath)) != nil else { return rowsWithInvalidPaths.add(row) }
        switch details?.kind ?? hint {
        case .file? where mayBeFile: addFile(row, details, fullPath, path)
        case .folder? where mayBeFolder: keep(KeptRow(kind: .folder), at: fullPath)
        case .link? where mayBeLink: keep(KeptRow(kind: .link), at: fullPath)
        case nil where mayBeFile: rowsWithoutKind.add(row)
        case .file, .folder, .link, nil:
            checkName(of: row)
            return addContainer(domain)
        }
        domains[domain.name] = domain
    }

    /// Reports an omitted row whose file name is not the hash of its domain and path.
    ///
    /// Such a row is damaged, and its correct path may belong to a store.
    private mutating func checkName(of row: ManifestRow) {
        guard let stored = row.fileID.flatMap({ FileID($0) }) else { return }
        if stored != FileID(domain: row.domain, path: row.path) { misnamedRows.add(row) }
    }

    private mutating func addFile(_ row: ManifestRow, _ details: MBFile?, _ fullPath: Path, _ path: [UInt8]) {
        let right = FileID(domain: row.domain, path: path)
        guard let stored = row.fileID else { return add(right, details, isNamedByHash: true, at: fullPath) }
        guard let fileID = FileID(stored) else { return rowsWithInvalidNames.add(row) }
        add(fileID, details, isNamedByHash: fileID == right, at: fullPath)
    }

    private mutating func add(_ fileID: FileID, _ details: MBFile?, isNamedByHash: Bool, at fullPath: Path) {
        if let present = kept[fullPath], case .file(let number) = present.kind {
            if entries.fileID(at: number) == fileID { return }
            repeated.insert(fullPath)
            guard isNamedByHash, !present.isNamedByHash else { return }
        }
        guard addPath(fullPath) else { return }
        entries.append(fileID, details)
        kept[fullPath] = KeptRow(kind: .file(entries.count - 1), isNamedByHash: isNamedByHash)
    }

    private mutating func keep(_ row: KeptRow, at fullPath: Path) {
        guard kept[fullPath] == nil, addPath(fullPath) else { return }
        kept[fullPath] = row
    }

    private mutating func addPath(_ fullPath: Path) -> Bool {
        nameBytes += fullPath.count
        if nameBytes > nameLimit { isFull = true }
        guard !isFull else { return false }
        var end = fullPath.lastIndex(of: UInt8(ascii: "/"))
        while let slash = end {
            let folder = Array(fullPath[..<slash])
            guard folders.insert(folder).inserted else { break }
            nameBytes += folder.count
            end = folder.lastIndex(of: UInt8(ascii: "/"))
        }
        return true
    }

    // MARK: Clashes

    /// Whether the rows must be read again to find files and links at the paths of folders.
    var hasFolders: Bool { !folders.isEmpty }

    /// Adds the path of a file or a link if other rows need a folder at the same path.
    mutating func addClash(of row: ManifestRow) {
        // An invalid path cannot match a folder, because all folders have valid paths.
        guard !row.path.isEmpty else { return }
        let fullPath = row.domain + [UInt8(ascii: "/")] + row.path
        guard folders.contains(fullPath) else { return }
        switch row.details?.kind ?? RowKind(flags: row.flags) {
        case .file, .link: clashes.insert(fullPath)
        case .folder, nil: return
        }
    }
}

// MARK: - The tree

extension BackupContents {
    /// The result of checking whether a store file can be read.
    enum ReadCheck {
        case readable
        /// The file cannot be read, was reported, and is kept in the tree.
        case reported
        /// The file cannot be read, was only counted, and is omitted from the tree.
        case counted
    }

    /// Returns the kept rows as a tree of folders and files.
    ///
    /// `prefix` is the prefix of their paths in the capture. `check` is called for files with the names of stores.
    consuming func finish(
        prefix: String, _ problems: inout BackupProblems,
        _ check: (_ number: Int, _ path: String, inout BackupProblems) -> ReadCheck
    ) -> SpooledTreeBuilder {
        report(prefix, &problems)
        var builder = SpooledTreeBuilder()
        for (fullPath, row) in kept.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            // Clashes were reported above, and rows with invalid paths were rejected.
            guard !clashes.contains(fullPath), let path = try? MemberPath(fullPath) else { continue }
            switch row.kind {
            case .folder: builder.addFolder(path)
            case .link: builder.addLink(path, to: [])
            case .file(let number):
                let full = prefix + path.text
                if !row.isNamedByHash {
                    problems.report(
                        "backup", "B38",
                        "read from a file whose name is not the hash of this path, so that one of the two is damaged",
                        at: full, isLoss: !names.isStoreByName(fullPath))
                }
                if names.isStoreByName(fullPath), check(number, full, &problems) == .counted { continue }
                builder.addFile(path, .elsewhere(number))
            }
        }
        return builder
    }

    private func report(_ prefix: String, _ problems: inout BackupProblems) {
        let unread = [
            (rowsWithInvalidPaths, "unreadable", "B36", "rows whose domain or path leads elsewhere are not read"),
            (rowsWithInvalidNames, "unreadable", "B37", "rows whose file has no proper name are not read"),
            (rowsWithoutKind, "unreadable", "B41", "rows that say neither file nor folder are not read"),
            (
                misnamedRows, "damaged", "B38",
                "rows whose file is not named for their domain and path, so that they may be damaged rows of stores, are "
                    + "not read"
            ),
        ]
        for (rows, code, caseID, words) in unread where rows.count > 0 {
            problems.report(code, caseID, "\(words): \(rows.count), such as \(rows.first)")
        }
        if isFull {
            problems.report(
                "unreadable", "B36",
                "the names of files come to more than \(nameLimit >> 20) MiB; the others are not read"
            )
        }
        for fullPath in repeated.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            problems.report(
                "unreadable", "B39", "the manifest has several files of this path; one of them is read",
                at: prefix + String(decoding: fullPath, as: UTF8.self))
        }
        for fullPath in clashes.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            problems.report(
                "unreadable", "B40", "not read: a file or a link in the place of a folder that others lie in",
                at: prefix + String(decoding: fullPath, as: UTF8.self))
        }
    }
}
