import Files
import Parallel
import Tar

extension ArchiveSpooler {
    /// Adds the members of a plain tar archive, while other jobs decompress the next chunk.
    ///
    /// - Throws: ``ArchiveError`` if the spool is full or a limit is exceeded. Any other error means that the archive
    ///   is not plain.
    mutating func addMembers(of chunks: TarChunkReader) async throws {
        var tar = TarParser()
        var file: OpenFile?
        var ahead = OrderedTasks<[UInt8]>(limit: jobs)
        while true {
            let isSkipping = file == nil && chunks.isWorthSkipping(tar.bytesToSkip)
            if ahead.count == 0 {
                if isSkipping { tar.skip(chunks.skip(tar.bytesToSkip)) }
                ahead.add { try chunks.next() }
            }
            // Without an end marker, members may be missing.
            guard let chunk = try? await ahead.next(), !chunk.isEmpty else { throw RequiresLibarchive() }
            // At most one chunk is produced while another is parsed.
            if jobs.jobs > 1, !isSkipping { ahead.add { try chunks.next() } }
            if try addMembers(in: chunk.span, of: &tar, &file) {
                guard (try? chunks.finish()) != nil else { throw RequiresLibarchive() }
                return
            }
        }
    }

    private struct OpenFile {
        let member: ArchiveReader.Member
        let path: MemberPath
        let start: Int
    }

    /// Adds the members in a chunk, and returns whether the archive ends in it.
    private mutating func addMembers(
        in chunk: Span<UInt8>, of tar: inout TarParser, _ file: inout OpenFile?
    ) throws -> Bool {
        while let step = try tar.next(in: chunk) {
            switch step {
            case .member(let plain):
                let member = ArchiveReader.Member(plain)
                try checkLimits()
                file = addHeader(of: member).map { OpenFile(member: member, path: $0, start: spool.end) }
            case .contents(let range):
                if file != nil { try append(chunk.extracting(range)) }
            case .endOfMember:
                guard let done = file else { continue }
                add(done.member, at: done.path, .spooled(offset: done.start, count: spool.end - done.start))
                file = nil
            case .end: return true
            }
        }
        return false
    }
}

extension ArchiveReader.Member {
    fileprivate init(_ member: TarParser.Member) {
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
