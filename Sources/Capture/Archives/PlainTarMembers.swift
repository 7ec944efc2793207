import Files
import Parallel
import Tar

extension ArchiveSpooler {
    /// Takes the members of a tar archive that is plain; its bytes are decompressed by another job.
    /// - Throws: ``PlainReadingError``.
    mutating func takeMembers(of chunks: TarChunks) async throws(PlainReadingError) {
        var tar = PlainTar()
        var file: OpenFile?
        var ahead = OrderedTasks<[UInt8]>(limit: jobs)
        while true {
            let isSkipping = file == nil && chunks.isWorthSkipping(tar.bytesToSkip)
            if ahead.count == 0 {
                if isSkipping { tar.skip(chunks.skip(tar.bytesToSkip)) }
                ahead.add { try chunks.next() }
            }
            // Without the mark of the end, members may be missing.
            guard let chunk = try? await ahead.next(), !chunk.isEmpty else { throw .notPlain }
            // One chunk at a time is made, while another is looked at.
            if jobs.jobs > 1, !isSkipping { ahead.add { try chunks.next() } }
            if try take(chunk.span, of: &tar, &file) {
                // libarchive then says what is wrong.
                guard (try? chunks.finish()) != nil else { throw .notPlain }
                return
            }
        }
    }

    /// A file whose contents come.
    private struct OpenFile {
        let member: ArchiveReader.Member
        let path: MemberPath
        /// Where they begin in the spool.
        let start: Int
    }

    /// Takes what is in a chunk.
    /// - Returns: whether it is the end.
    private mutating func take(
        _ chunk: Span<UInt8>, of tar: inout PlainTar, _ file: inout OpenFile?
    ) throws(PlainReadingError) -> Bool {
        while let step = try Self.next(&tar, in: chunk) {
            switch step {
            case .member(let plain):
                let member = ArchiveReader.Member(plain)
                let path = try takePlainHeader(of: member)
                file = path.map { OpenFile(member: member, path: $0, start: spool.end) }
            case .contents(let range):
                if file != nil { try appendPlain(chunk.extracting(range)) }
            case .endOfMember:
                guard let done = file else { continue }
                add(done.member, at: done.path, .spooled(offset: done.start, count: spool.end - done.start))
                file = nil
            case .end: return true
            }
        }
        return false
    }

    private static func next(
        _ tar: inout PlainTar, in chunk: Span<UInt8>
    ) throws(PlainReadingError) -> PlainTar.Step? {
        do throws(NotPlain) {
            return try tar.next(in: chunk)
        } catch {
            throw .notPlain
        }
    }
}

extension ArchiveReader.Member {
    fileprivate init(_ member: PlainTar.Member) {
        let kind: FolderEntries.Kind =
            switch member.kind {
            case .file: .file
            case .folder: .folder
            case .link: .link
            }
        self.init(
            path: member.name, kind: kind, hardLink: nil, symbolicLink: kind == .link ? member.target : nil,
            size: member.size, isEncrypted: false, isZip: false, offset: member.offset)
    }
}
