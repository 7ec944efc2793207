import Files
import Telemetry

/// Reads an archive once, front to back: members that may belong to stores go to the spool, of all others only the
/// names are kept.
struct ArchiveSpooler {
    /// The result of reading an archive.
    struct Result {
        let tree: SpooledTree
        /// The members that could not be read; each is a loss.
        let problems: [PlacedProblem]
    }

    private let archive: ArchivePlace
    private let spool: Spool
    private let limits: ArchiveLimits
    private let formats: [any StoreFormat]
    private var members = SpooledTreeBuilder()
    private var problems: [PlacedProblem] = []
    private var unnamedProblems = 0
    /// The paths of the members that are wanted, where they are known: the archive was read before.
    private var wanted: Set<[UInt8]>?
    /// Those of the member before.
    private var folders = MemberNames.FolderNames()
    /// Whether the archive comes once only, so that files of backups have to be held until their manifest has come.
    private var comesOnce = false

    /// A hostile archive has something wrong with every member.
    private static let mostReported = 1000
    /// The most bytes of a path on Linux.
    private static let mostBytesOfLink = 4096

    init(_ archive: ArchivePlace, spool: Spool, formats: [any StoreFormat]) {
        self.formats = formats
        self.archive = archive
        self.spool = spool
        limits = spool.archiveLimits
    }

    /// Reads the archive.
    /// - Parameter wanted: the paths of the only members whose bytes are wanted; nil for those that may belong to stores.
    /// - Throws: ``ArchiveError`` if nothing can be read, if the spool cannot take more, or if a limit is passed. What
    ///   could be read before damage is returned.
    consuming func run(_ bytes: ArchiveBytes, only wanted: Set<[UInt8]>? = nil) throws(ArchiveError) -> Result {
        self.wanted = wanted
        if case .standardInput = bytes { comesOnce = true }
        var reader = try ArchiveReader(bytes, limits: limits)
        do throws(ArchiveError) {
            try takeMembers(from: &reader)
        } catch {
            guard case .damaged = error.reason, members.count > 0 else { throw error }
            report("damaged", "\(error); what follows is lost", at: "")
        }
        return try finish()
    }

    private mutating func takeMembers(from reader: inout ArchiveReader) throws(ArchiveError) {
        var isInGap = false
        while true {
            switch try reader.next() {
            case .member(let member):
                isInGap = false
                try take(member, from: &reader)
                guard members.count <= limits.members, members.nameBytes <= limits.nameBytes else {
                    throw ArchiveError(.overLimit("\(limits.members) members, or their names"))
                }
            case .gap(let error):
                if !isInGap { report("damaged", "\(error); members are lost here", at: "") }
                isInGap = true
            case .end(let isMarked):
                guard !isMarked else { return }
                report("damaged", "the end of the archive is missing; members may be lost there", at: "")
                return
            }
        }
    }

    private mutating func take(_ member: ArchiveReader.Member, from reader: inout ArchiveReader) throws(ArchiveError) {
        guard let path = path(member.path, of: member) else { return }
        // What the Finder adds for resource forks: shadows of all the other members.
        guard !path.bytes.starts(with: "__MACOSX/".utf8), !path.bytes.isEmpty else { return }
        switch member.kind {
        case .folder: members.addFolder(path)
        case .link: members.addLink(path, to: Self.target(of: member))
        case .special: members.addSpecial(path)
        case .file:
            guard let contents = try contents(of: member, path, from: &reader) else { return }
            guard let link = member.hardLink else { return members.addFile(path, contents) }
            guard let target = self.path(link, of: member) else { return }
            members.addHardLink(path, to: target, contents)
        }
    }

    /// The path of a member; one that would lead out of the capture is told and refused.
    private mutating func path(_ stored: [UInt8]?, of member: ArchiveReader.Member) -> MemberPath? {
        guard let stored else {
            report(
                "unreadable", "the member at byte \(member.offset) has a name that is no text", at: "", member.offset)
            return nil
        }
        let name = member.isZip ? CodePage437.text(stored) : stored
        do throws(MemberPath.PathError) {
            return try MemberPath(name)
        } catch {
            let reason =
                switch error {
                case .climbs: "leads out of the archive"
                case .tooLong: "is too long or too deep"
                }
            report("unreadable", "not read: the path \(reason)", at: String(decoding: name.prefix(256), as: UTF8.self))
            return nil
        }
    }

    /// Where a symbolic link leads; no bytes if that is not known, or is no path.
    private static func target(of member: ArchiveReader.Member) -> [UInt8] {
        guard let stored = member.symbolicLink, stored.count <= mostBytesOfLink else { return [] }
        return member.isZip ? CodePage437.text(stored) : stored
    }

    /// Spools the bytes of a file that is wanted; nil if they cannot be read.
    private mutating func contents(
        of member: ArchiveReader.Member, _ path: MemberPath, from reader: inout ArchiveReader
    ) throws(ArchiveError) -> SpooledTree.Contents? {
        guard isWanted(path) else { return .leftOut }
        guard !member.isEncrypted else {
            report("unreadable", "encrypted; unpack the archive yourself and give the folder", at: path.text)
            return nil
        }
        if let size = member.size, size > limits.memberSize { return .tooLarge }
        let start = spool.end
        do throws(ArchiveError) {
            let outcome = try reader.read(limit: limits.memberSize) { part throws(FileError) in
                try spool.append(part)
            }
            switch outcome {
            case .complete: return .spooled(offset: start, count: spool.end - start)
            case .tooLarge:
                spool.cut(to: start)
                return .tooLarge
            case .damaged(let words):
                spool.cut(to: start)
                report("damaged", "damaged, at byte \(member.offset) of the archive: \(words)", at: path.text)
                return nil
            }
        } catch {
            if case .damaged = error.reason { report("damaged", "\(error)", at: path.text) }
            throw error
        }
    }

    private mutating func isWanted(_ path: MemberPath) -> Bool {
        if let wanted { return wanted.contains(path.bytes) }
        let name = path.split.name
        return MemberNames.mayBelongToStore(path, rootName: archive.rootName, formats, after: &folders)
            || BackupSigns.isBesideManifest(name) || comesOnce && BackupSigns.isFile(name)
            || !archive.isNested && MemberNames.isArchive(name)
    }

    private consuming func finish() throws(ArchiveError) -> Result {
        let file: SpoolFile
        do throws(FileError) {
            file = try spool.file()
        } catch {
            throw ArchiveError(.file(error))
        }
        let (tree, faults) = members.finish(name: archive.shownPath, bytes: .spool(file))
        for fault in faults {
            switch fault {
            case .clash(let path): report("unreadable", "also the name of a folder in the archive", at: path)
            case .deadLink(let path, let target):
                report("unreadable", "hard link to \(target), which was not kept", at: path)
            }
        }
        if unnamedProblems > 0 { report("unreadable", "and \(unnamedProblems) more such problems", at: "") }
        return Result(tree: tree, problems: problems)
    }

    /// - Parameter offset: where in the archive it is, for a problem of the archive itself.
    private mutating func report(_ code: String, _ text: String, at path: String, _ offset: Int? = nil) {
        guard problems.count <= Self.mostReported else { return unnamedProblems += 1 }
        problems.append(
            PlacedProblem(
                capture: archive.label, path: archive.prefix + path, problem: Problem(code, text, at: offset)))
    }
}
