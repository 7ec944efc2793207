import Bytes
import Files
import Telemetry

/// A spooler that reads an archive and copies the members that may belong to stores to the spool.
///
/// Only the names of other members are kept.
struct ArchiveSpooler {
    struct Result {
        let tree: SpooledTree
        /// The problems with the archive and its members.
        let problems: [LocatedProblem]
        /// The paths of omitted members whose contents are needed, because kept hard links refer to them.
        let neededTargets: Set<[UInt8]>
    }

    private let archive: ArchiveLocation
    private let spool: Spool
    private let limits: ArchiveLimits
    private let formats: [any StoreFormat]
    /// The limit for the jobs that inflate members, or `nil` if libarchive inflates all of them.
    private let jobLimit: JobLimit?
    /// The members that are inflated on several cores, or `nil` if libarchive inflates all of them.
    private var inflation: ZipInflation?
    private var treeBuilder = SpooledTreeBuilder()
    private var problems: [LocatedProblem] = []
    private var unreportedCount = 0
    /// The paths of the wanted members, or `nil` to choose members by their names.
    private var wantedPaths: Set<[UInt8]>?
    /// The paths of hard link targets that an earlier reading omitted, which are wanted too.
    private var linkTargets: Set<[UInt8]> = []
    /// The folder names of the previous member, cached for the next one.
    private var folderNameCache = MemberNames.FolderNames()
    /// The number of members whose first bytes were inspected because their names give no reason to take them for archives.
    private var inspectedCount = 0
    /// Whether the archive is a stream, which can be read only once.
    ///
    /// If so, all files that may belong to a backup are kept.
    private var isStream = false

    /// The maximum number of folders around a member that is inspected.
    ///
    /// Deeper in an archive are the many files of a device.
    private static let inspectedDepth = 2
    /// The maximum number of inspected members.
    private static let inspectedLimit = 16 * InputLimits.guessedArchiveCount
    /// The prefix of the members that macOS adds for resource forks.
    private static let resourceForkPrefix = Array("__MACOSX/".utf8)
    private static let unpackAdvice = "unpack the archive yourself and give the folder"

    init(_ archive: ArchiveLocation, spool: Spool, formats: [any StoreFormat], jobLimit: JobLimit? = nil) {
        self.formats = formats
        self.jobLimit = jobLimit
        self.archive = archive
        self.spool = spool
        limits = spool.archiveLimits
    }

    /// Spools the members at the paths in `paths`, or the members that may belong to stores if `paths` is `nil`.
    ///
    /// If the archive is damaged, the result contains the members before the damage.
    ///
    /// - Throws: ``ArchiveError`` if nothing can be read or a limit is exceeded, or `FileError` if the archive cannot be
    ///   read or the spool is full.
    consuming func spoolMembers(
        _ bytes: ArchiveBytes, only paths: Set<[UInt8]>? = nil
    ) throws -> Result {
        wantedPaths = paths
        let start = spool.endOffset
        var readings = 1
        while true {
            let result = try (copy self).read(bytes)
            guard case .source = bytes, readings < InputLimits.archiveReadingCount, !result.neededTargets.isEmpty else {
                return result
            }
            linkTargets.formUnion(result.neededTargets)
            readings += 1
            spool.truncate(to: start)
        }
    }

    /// Reads the archive once, without a second reading for the targets of hard links.
    consuming func read(_ bytes: ArchiveBytes) throws -> Result {
        let isTar = try bytes.isTar
        var directory: ZipDirectory?
        switch bytes {
        case .standardInput: isStream = true
        case .source(let source):
            directory = try ZipDirectory(of: source, entryLimit: limits.memberCount)
            if isTar, directory?.statedEntryCount != nil {
                report("two-formats", "begins as a tar archive and ends as a zip archive; read as tar", at: "")
            }
        }
        var formats: ArchiveReader.Formats = directory?.sequentialStart.map { .sequentialZip(from: $0) } ?? .all
        if isTar { formats = .tar } else if try ArchiveFormat.isCpio(bytes.head) { formats = .cpio }
        if formats == .all, case .source(let source) = bytes, let members = directory?.plainMembers, !members.isEmpty,
            let jobLimit, jobLimit.jobs > 1
        {
            let start = spool.endOffset
            var spooler = copy self
            spooler.inflation = ZipInflation(members, of: source, spool: spool, limit: jobLimit)
            // After an error or a problem, libarchive reads the archive alone, so that offsets and texts do not depend on jobs.
            if let result = try? spooler.readMembers(bytes, formats, directory), result.problems.isEmpty {
                return result
            }
            spool.truncate(to: start)
        }
        return try readMembers(bytes, formats, directory)
    }

    private consuming func readMembers(
        _ bytes: ArchiveBytes, _ formats: ArchiveReader.Formats, _ directory: ZipDirectory?
    ) throws -> Result {
        var reader = try ArchiveReader(bytes, limits: limits, formats: formats)
        do {
            let memberCount = try addMembers(from: &reader)
            try inflation?.finish()
            if let directory, formats != .tar, formats != .cpio {
                reportEntries(of: directory, memberCount: memberCount)
            } else if directory == nil, reader.isZip, wantedPaths == nil {
                let words = "the end of the archive is missing; the members were read from front to back"
                report("damaged", words, at: "", isLoss: false)
            }
        } catch {
            guard inflation == nil, case .damaged? = (error as? ArchiveError)?.reason, treeBuilder.entryCount > 0 else {
                throw error
            }
            let remedy = archive.splitRemedy.map { "; \($0)" } ?? ""
            report("damaged", "\(error); what follows is lost\(remedy)", at: "")
        }
        return try finish()
    }

    /// Reports the differences between the central directory of a zip archive and the `memberCount` members that were
    /// read.
    private mutating func reportEntries(of directory: ZipDirectory, memberCount: Int) {
        if directory.sequentialStart != nil {
            // A second reading for the files of a backup would report the directory again.
            guard wantedPaths == nil else { return }
            var words = "the central directory does not match the members, which were read from front to back"
            if directory.isLastPart {
                words = "the last part of a split archive, which was read alone; \(UnreadFormat.splitZipRemedy)"
            }
            switch directory.entryCount.map({ $0 - memberCount }) {
            case nil: report("damaged", "\(words); members may be lost", at: "")
            case let missing? where missing > 0:
                let entries = missing.counted("entry", plural: "entries")
                report("damaged", "\(words); \(entries) of the directory were not found", at: "")
            case _?: report("damaged", words, at: "", isLoss: false)
            }
            return
        }
        // libarchive reads only one of several entries with the same offset.
        let missing = (directory.statedEntryCount ?? 0) &- UInt16(truncatingIfNeeded: memberCount)
        guard directory.statedEntryCount != nil, (1..<1 << 15).contains(missing) else { return }
        let entries = Int(missing).counted("entry", plural: "entries")
        report("unreadable", "not read: \(entries) at the bytes of other entries", at: "")
    }

    /// Adds all members, and returns their number.
    private mutating func addMembers(from reader: inout ArchiveReader) throws -> Int {
        var isInDamagedPart = false
        var memberCount = 0
        while true {
            switch try reader.next() {
            case .member(let member):
                isInDamagedPart = false
                memberCount += 1
                try addMember(member, from: &reader)
                try checkLimits()
            case .damage(let error):
                if !isInDamagedPart { report("damaged", "\(error); members are lost here", at: "") }
                isInDamagedPart = true
            case .end(let isMarked):
                if isMarked {
                    if try reader.finish(), wantedPaths == nil {
                        let words = "not read: another tar archive after the end of this one"
                        let remedy = "unpack the file with tar --ignore-zeros, and give the folder"
                        report("unreadable", "\(words); \(remedy)", at: "")
                    }
                    reportTrailingBytes(reader.trailingByteCount)
                } else {
                    report("damaged", "the end of the archive is missing; members may be lost there", at: "")
                }
                return memberCount
            }
        }
    }

    private mutating func reportTrailingBytes(_ count: Int) {
        guard count > 0, wantedPaths == nil else { return }
        let words = "\(count.counted("byte")) after the end of the compressed archive were ignored"
        report("damaged", words, at: "", isLoss: false)
    }

    private mutating func addMember(_ member: ArchiveReader.Member, from reader: inout ArchiveReader) throws {
        guard let path = try addHeader(of: member, from: &reader),
            let contents = try contents(of: member, path, from: &reader)
        else { return }
        add(member, at: path, contents)
    }

    /// Returns whether only the first bytes of a member can show that it is an archive or a request log.
    private mutating func mustInspect(_ member: ArchiveReader.Member, _ path: MemberPath) -> Bool {
        guard wantedPaths == nil, !member.isEncrypted, member.hardLink == nil,
            member.size.map({ $0 > 0 && $0 <= limits.memberSize }) ?? true
        else { return false }
        let (folder, name) = path.split
        guard name.first != UInt8(ascii: "."), !FolderEntry.isWindowsMetadata(name) else { return false }
        let folders = folderNameCache.names(in: folder)
        if RequestLogKind.mayBeText(name, in: folders) { return true }
        guard inspectedCount < Self.inspectedLimit, ArchiveFormat.mustBeInspected(named: name),
            folders.count <= Self.inspectedDepth, !MemberNames.isInContainer(folders)
        else { return false }
        inspectedCount += 1
        return true
    }

    /// Returns whether a text that begins with `head` is a request log.
    private func isLog(_ head: [UInt8], _ path: MemberPath) -> Bool {
        let name = String(decoding: path.split.name, as: UTF8.self)
        guard let format = formats.lazy.compactMap({ $0 as? RequestLogFormat }).first else { return false }
        return (try? RequestLogKind(ByteSource(head), inFolderAs: name, format.systems)) != nil
    }

    /// Spools a member if its first bytes show that it is an archive or a request log, and otherwise keeps only its name.
    private mutating func inspect(
        _ member: ArchiveReader.Member, _ path: MemberPath, from reader: inout ArchiveReader
    ) throws {
        struct Stop: Error {}
        try inflation?.finish()
        let start = spool.endOffset
        // An archive in a nested archive is not read.
        let mayBeArchive = !archive.isNested && ArchiveFormat.mustBeInspected(named: path.split.name)
        var isComplete = false
        do {
            let outcome = try reader.read(limit: limits.memberSize, size: member.size) { part in
                let head = part.extracting(first: min(part.count, ArchiveFormat.headSize)).copied()
                if spool.endOffset == start, !(mayBeArchive && ArchiveFormat.isReadable(head)), !isLog(head, path) {
                    // The first bytes suffice to name a format that is not read.
                    isComplete = UnreadFormat(head: head, isNamedForArchive: false) != nil
                    if isComplete { try spool.append(head.span) }
                    throw Stop()
                }
                try spool.append(part)
            }
            if case .complete = outcome { isComplete = true }
        } catch is Stop {}
        if isComplete, spool.endOffset > start {
            return add(member, at: path, .spooled(offset: start, count: spool.endOffset - start))
        }
        spool.truncate(to: start)
        add(member, at: path, .omitted)
    }

    /// Returns the path of `member` if its contents are wanted and can be read.
    ///
    /// If not, adds the member without its contents or reports it, and returns `nil`.
    private mutating func addHeader(
        of member: ArchiveReader.Member, from reader: inout ArchiveReader
    ) throws -> MemberPath? {
        guard let path = path(member.path, of: member), !path.bytes.starts(with: Self.resourceForkPrefix) else {
            return nil
        }
        guard !path.bytes.isEmpty else {
            // The root may have an entry if it is a folder.
            if member.kind != .folder { reportWithoutName(member) }
            return nil
        }
        switch member.kind {
        case .folder:
            treeBuilder.addFolder(path)
            if let size = member.size, size > 0 {
                report("unreadable", "not read: \(size) bytes of contents in the entry of a folder", at: path.text)
            }
        case .link: treeBuilder.addLink(path, to: Self.target(of: member))
        case .special: treeBuilder.addSpecial(path)
        case .file where !isWanted(path) && !isWanted(targetOf: member):
            if mustInspect(member, path) {
                try inspect(member, path, from: &reader)
            } else {
                add(member, at: path, .omitted)
            }
        case .file where member.isEncrypted:
            report("unreadable", "encrypted; \(Self.unpackAdvice)", at: path.text)
        case .file:
            if (member.size ?? 0) <= limits.memberSize || ArchiveFormat.mayBeUnread(named: path.split.name) {
                return path
            }
            add(member, at: path, .tooLarge)
        }
        return nil
    }

    private func checkLimits() throws {
        guard treeBuilder.entryCount <= limits.memberCount, treeBuilder.nameByteCount <= limits.totalNameSize else {
            throw ArchiveError(.overLimit("\(limits.memberCount) members, or their names"))
        }
    }

    private mutating func add(_ member: ArchiveReader.Member, at path: MemberPath, _ contents: SpooledTree.Contents) {
        guard let link = member.hardLink else { return treeBuilder.addFile(path, contents) }
        guard let target = self.path(link, of: member) else { return }
        treeBuilder.addHardLink(path, to: target, contents)
    }

    /// Returns the valid path of a member, or reports the problem and returns `nil`.
    private mutating func path(_ stored: [UInt8]?, of member: ArchiveReader.Member) -> MemberPath? {
        guard let stored else {
            report(
                "unreadable", "the member at byte \(member.offset) has a name that is no text", at: "", member.offset)
            return nil
        }
        let name = member.isInZip ? CodePage437.utf8(stored) : stored
        do throws(MemberPath.PathError) {
            return try MemberPath(name)
        } catch {
            let reason =
                switch error {
                case .leavesRoot: "leads out of the archive"
                case .tooLong: "is too long or too deep"
                }
            report("unreadable", "not read: the path \(reason)", at: String(decoding: name.prefix(256), as: UTF8.self))
            return nil
        }
    }

    private mutating func reportWithoutName(_ member: ArchiveReader.Member) {
        // libarchive does not report the offset of a zip header.
        guard !member.isInZip else { return report("unreadable", "not read: a member has no name", at: "") }
        report("unreadable", "not read: the member at byte \(member.offset) has no name", at: "", member.offset)
    }

    /// Returns the target of a symbolic link, or an empty array if the target is unknown or too long.
    private static func target(of member: ArchiveReader.Member) -> [UInt8] {
        guard let stored = member.symbolicLink, stored.count <= InputLimits.pathSize else { return [] }
        return member.isInZip ? CodePage437.utf8(stored) : stored
    }

    /// Spools the contents of a file and returns their location, or `nil` if they cannot be read.
    private mutating func contents(
        of member: ArchiveReader.Member, _ path: MemberPath, from reader: inout ArchiveReader
    ) throws -> SpooledTree.Contents? {
        // The first bytes suffice to name a format that is not read.
        let isHead = ArchiveFormat.mayBeUnread(named: path.split.name)
        if !isHead, let contents = try reader.inflatedContents(of: member, by: &inflation) { return contents }
        try inflation?.finish()
        let start = spool.endOffset
        let limit = isHead ? ArchiveFormat.headSize : limits.memberSize
        do {
            let outcome = try reader.read(limit: isHead ? ArchiveReader.partSize : limit, size: member.size) { part in
                try spool.append(part.extracting(first: min(part.count, limit - (spool.endOffset - start))))
            }
            switch outcome {
            case .tooLarge where isHead, .complete: return .spooled(offset: start, count: spool.endOffset - start)
            case .tooLarge:
                spool.truncate(to: start)
                return .tooLarge
            case .damaged(let words):
                spool.truncate(to: start)
                report("damaged", "damaged, at byte \(member.offset) of the archive: \(words)", at: path.text)
                return nil
            case .unsupported(let words):
                spool.truncate(to: start)
                report("unreadable", "not read: \(words); \(Self.unpackAdvice)", at: path.text)
                return nil
            }
        } catch {
            if case .damaged? = (error as? ArchiveError)?.reason { report("damaged", "\(error)", at: path.text) }
            throw error
        }
    }

    /// Returns whether `member` is a hard link to a wanted file.
    ///
    /// Such a link is wanted too, because a cpio archive may store the contents of the file with the link.
    private mutating func isWanted(targetOf member: ArchiveReader.Member) -> Bool {
        guard let link = member.hardLink, let target = try? MemberPath(link) else { return false }
        return isWanted(target)
    }

    private mutating func isWanted(_ path: MemberPath) -> Bool {
        if linkTargets.contains(path.bytes) { return true }
        if let wantedPaths { return wantedPaths.contains(path.bytes) }
        let name = path.split.name
        return MemberNames.mayBelongToStore(path, rootName: archive.rootName, formats, after: &folderNameCache)
            || BackupDetector.isManifestOrCompanion(name) || isStream && BackupDetector.isBackupFileName(name)
            || !archive.isNested
                && (ArchiveFormat.mayBeArchive(named: name) || ArchiveFormat.mayBeUnread(named: name))
    }

    private consuming func finish() throws -> Result {
        let file = try spool.file()
        let (tree, faults) = treeBuilder.finish(name: archive.shownPath, byteStorage: .spool(file))
        var neededTargets: Set<[UInt8]> = []
        for fault in faults {
            switch fault {
            case .pathConflict(let path): report("unreadable", "also the name of a folder in the archive", at: path)
            case .danglingHardLink(let path, let target):
                let words = "hard link to \(target.text), which is not a file in the archive"
                report("unreadable", words, at: path.text)
            case .repeatedName(let path):
                let words =
                    "several members of the archive have this name and other contents; only the last one is read"
                report("unreadable", words, at: path)
            case .omittedTarget(let path, let target):
                neededTargets.insert(target.bytes)
                let words = "hard link to \(target.text), which was not kept"
                report("unreadable", "\(words); \(Self.unpackAdvice)", at: path.text)
            }
        }
        if unreportedCount > 0 { add(Problem("unreadable", "and \(unreportedCount) more such problems"), at: "") }
        return Result(tree: tree, problems: problems, neededTargets: neededTargets)
    }

    /// Reports a problem at a path in the archive, or only counts it if the maximum number was already reported.
    ///
    /// If `isLoss` is `nil`, the code determines whether data was lost.
    private mutating func report(
        _ code: String, _ text: String, at path: String, _ offset: Int? = nil, isLoss: Bool? = nil
    ) {
        guard problems.count < InputLimits.reportedArchiveProblemCount else { return unreportedCount += 1 }
        add(Problem(code, text, at: offset, isLoss: isLoss), at: path)
    }

    private mutating func add(_ problem: Problem, at path: String) {
        problems.append(LocatedProblem(capture: archive.label, path: archive.prefix + path, problem: problem))
    }
}

// MARK: - The form of an archive

extension ArchiveBytes {
    /// Whether the archive begins like a tar archive.
    fileprivate var isTar: Bool { get throws { ArchiveFormat.isTar(try head) } }

    fileprivate var head: [UInt8] {
        get throws {
            switch self {
            case .source(let source): try InputKind.head(of: source)
            case .standardInput(let head, _): head
            }
        }
    }
}
