import Files
import Tar
import Telemetry
import Zip

/// A spooler that reads an archive and copies the members that may belong to stores to the spool.
///
/// Only the names of other members are kept. Several jobs read plain tar and zip archives. If an archive is not plain,
/// its spooled members are dropped, and libarchive reads it from the start.
struct ArchiveSpooler {
    struct Result {
        let tree: SpooledTree
        /// The problems with the archive and its members.
        ///
        /// Any problem makes the capture incomplete.
        let problems: [LocatedProblem]
        /// The paths of omitted members whose contents are needed, because kept hard links refer to them.
        let neededTargets: Set<[UInt8]>
    }

    private let archive: ArchiveLocation
    let spool: Spool
    let limits: ArchiveLimits
    let jobLimit: JobLimit
    private let formats: [StoreFormat]
    var treeBuilder = SpooledTreeBuilder()
    private var problems: [LocatedProblem] = []
    private var unreportedCount = 0
    /// The paths of the wanted members, or `nil` to choose members by their names.
    private var wantedPaths: Set<[UInt8]>?
    /// The paths of hard link targets that an earlier reading omitted, which are wanted too.
    private var linkTargets: Set<[UInt8]> = []
    /// The folder names of the previous member, cached for the next one.
    private var folderNameCache = MemberNames.FolderNames()
    /// Whether the archive is a stream, which can be read only once.
    ///
    /// If so, all files that may belong to a backup are kept.
    private var isStream = false

    /// The prefix of the members that macOS adds for resource forks.
    private static let resourceForkPrefix = Array("__MACOSX/".utf8)
    /// The maximum number of individually reported problems.
    ///
    /// Every member of a hostile archive may have a problem.
    private static let reportLimit = 1000
    private static let unpackAdvice = "unpack the archive yourself and give the folder"
    /// The maximum length of a link target in bytes, which equals the limit of paths on Linux.
    private static let linkTargetSizeLimit = 4096
    /// The maximum number of times that an archive is read.
    ///
    /// Each link in a chain of hard links to an omitted member requires another reading. Archivers make no such chains,
    /// because they link all names of a file directly to its first name.
    private static let maximumReadings = 4

    init(_ archive: ArchiveLocation, spool: Spool, formats: [StoreFormat], jobLimit: JobLimit) {
        self.jobLimit = jobLimit
        self.formats = formats
        self.archive = archive
        self.spool = spool
        limits = spool.archiveLimits
    }

    /// Spools the members at the paths in `paths`, or the members that may belong to stores if `paths` is `nil`.
    ///
    /// If the archive is damaged, the result contains the members before the damage.
    ///
    /// - Throws: ``ArchiveError`` if nothing can be read, if the spool is full, or if a limit is exceeded.
    consuming func spoolMembers(
        _ bytes: ArchiveBytes, only paths: Set<[UInt8]>? = nil
    ) async throws(ArchiveError) -> Result {
        wantedPaths = paths
        let start = spool.endOffset
        var readings = 1
        while true {
            let result = try await (copy self).read(bytes)
            guard case .source = bytes, readings < Self.maximumReadings, !result.neededTargets.isEmpty else {
                return result
            }
            linkTargets.formUnion(result.neededTargets)
            readings += 1
            spool.truncate(to: start)
        }
    }

    private consuming func read(_ bytes: ArchiveBytes) async throws(ArchiveError) -> Result {
        if case .source(let source) = bytes, Self.isTar(bytes), Self.endsAsZip(source) {
            report("two-formats", "begins as a tar archive and ends as a zip archive; read as tar", at: "")
        }
        if case .source(let source) = bytes, let result = try await (copy self).readPlain(source) { return result }
        return try readWithLibarchive(bytes)
    }

    /// Reads a plain tar or zip archive with several jobs.
    ///
    /// Returns `nil`, and spools nothing, if the archive is not plain.
    ///
    /// - Throws: ``ArchiveError`` if the spool is full or a limit is exceeded.
    consuming func readPlain(_ source: ByteSource) async throws(ArchiveError) -> Result? {
        let start = spool.endOffset
        do {
            if let directory = Self.isTar(.source(source)) ? nil : try PlainZipDirectory(source) {
                try await addMembers(of: directory)
            } else {
                try await addMembers(of: TarChunkReader(.source(source), limits))
            }
        } catch let error as ArchiveError {
            throw error
        } catch {
            // libarchive reads the archive next, and reports the fault.
            spool.truncate(to: start)
            return nil
        }
        try checkLimits()
        return try finish()
    }

    /// Returns whether an archive begins like a tar archive.
    private static func isTar(_ bytes: ArchiveBytes) -> Bool {
        // An error is ignored here, because it occurs again when the archive is read.
        let head =
            switch bytes {
            case .source(let source): (try? source.bytes(at: 0, count: min(source.count, TarEntry.blockSize))) ?? []
            case .standardInput(let head, _): head
            }
        return InputKind.isTar(head)
    }

    private static func endsAsZip(_ source: ByteSource) -> Bool {
        let size = min(source.count, ZipDirectoryEnd.endRecordSize)
        let tail = try? source.bytes(at: source.count - size, count: size)
        return tail?.starts(with: [0x50, 0x4B, 0x05, 0x06]) ?? false
    }

    consuming func readWithLibarchive(_ bytes: ArchiveBytes) throws(ArchiveError) -> Result {
        switch bytes {
        case .standardInput: isStream = true
        case .source(let source) where !Self.isTar(bytes):
            PlainZipDirectory.forEachRepeatedEntry(in: source) { entry in
                let name = String(decoding: CodePage437.utf8(entry.name), as: UTF8.self)
                report("unreadable", "not read: another entry of the archive is at byte \(entry.offset) too", at: name)
            }
        case .source: break
        }
        var reader = try ArchiveReader(bytes, limits: limits, isTar: Self.isTar(bytes))
        do throws(ArchiveError) {
            try addMembers(from: &reader)
        } catch {
            guard case .damaged = error.reason, treeBuilder.entryCount > 0 else { throw error }
            report("damaged", "\(error); what follows is lost", at: "")
        }
        return try finish()
    }

    private mutating func addMembers(from reader: inout ArchiveReader) throws(ArchiveError) {
        var isInDamagedPart = false
        while true {
            switch try reader.next() {
            case .member(let member):
                isInDamagedPart = false
                try addMember(member, from: &reader)
                try checkLimits()
            case .damage(let error):
                if !isInDamagedPart { report("damaged", "\(error); members are lost here", at: "") }
                isInDamagedPart = true
            case .end(let isMarked):
                guard !isMarked else { return try reader.finish() }
                report("damaged", "the end of the archive is missing; members may be lost there", at: "")
                return
            }
        }
    }

    private mutating func addMember(_ member: ArchiveReader.Member, from reader: inout ArchiveReader)
        throws(ArchiveError)
    {
        guard let path = addHeader(of: member),
            let contents = try contents(of: member, path, from: &reader)
        else { return }
        add(member, at: path, contents)
    }

    /// Returns the path of `member` if its contents are wanted and can be read.
    ///
    /// If not, adds the member without its contents or reports it, and returns `nil`.
    mutating func addHeader(of member: ArchiveReader.Member) -> MemberPath? {
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
        case .file where !isWanted(path) && !isWanted(targetOf: member): add(member, at: path, .omitted)
        case .file where member.isEncrypted:
            report("unreadable", "encrypted; \(Self.unpackAdvice)", at: path.text)
        case .file:
            if (member.size ?? 0) <= limits.memberSize { return path }
            add(member, at: path, .tooLarge)
        }
        return nil
    }

    func checkLimits() throws(ArchiveError) {
        guard treeBuilder.entryCount <= limits.memberCount, treeBuilder.nameByteCount <= limits.totalNameSize else {
            throw ArchiveError(.overLimit("\(limits.memberCount) members, or their names"))
        }
    }

    func append(_ bytes: Span<UInt8>) throws(ArchiveError) {
        try ArchiveError.wrapping { () throws(FileError) in try spool.append(bytes) }
    }

    mutating func add(_ member: ArchiveReader.Member, at path: MemberPath, _ contents: SpooledTree.Contents) {
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
        guard let stored = member.symbolicLink, stored.count <= linkTargetSizeLimit else { return [] }
        return member.isInZip ? CodePage437.utf8(stored) : stored
    }

    /// Spools the contents of a file and returns their location, or `nil` if they cannot be read.
    private mutating func contents(
        of member: ArchiveReader.Member, _ path: MemberPath, from reader: inout ArchiveReader
    ) throws(ArchiveError) -> SpooledTree.Contents? {
        let start = spool.endOffset
        do throws(ArchiveError) {
            let outcome = try reader.read(limit: limits.memberSize) { part throws(ArchiveError) in try append(part) }
            switch outcome {
            case .complete: return .spooled(offset: start, count: spool.endOffset - start)
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
            if case .damaged = error.reason { report("damaged", "\(error)", at: path.text) }
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
            || !archive.isNested && MemberNames.isArchive(name)
    }

    private consuming func finish() throws(ArchiveError) -> Result {
        let file = try ArchiveError.wrapping { () throws(FileError) in try spool.file() }
        let (tree, faults) = treeBuilder.finish(name: archive.shownPath, byteStorage: .spool(file))
        var neededTargets: Set<[UInt8]> = []
        for fault in faults {
            switch fault {
            case .pathConflict(let path): report("unreadable", "also the name of a folder in the archive", at: path)
            case .danglingHardLink(let path, let target):
                let words = "hard link to \(target.text), which is not a file in the archive"
                report("unreadable", words, at: path.text)
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
    private mutating func report(_ code: String, _ text: String, at path: String, _ offset: Int? = nil) {
        guard problems.count < Self.reportLimit else { return unreportedCount += 1 }
        add(Problem(code, text, at: offset), at: path)
    }

    private mutating func add(_ problem: Problem, at path: String) {
        problems.append(LocatedProblem(capture: archive.label, path: archive.prefix + path, problem: problem))
    }
}
