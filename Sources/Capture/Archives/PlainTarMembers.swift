import Files
import Tar

extension ArchiveSpooler {
    /// Adds the members of a plain tar archive, while other jobs decompress the next chunk.
    ///
    /// - Throws: ``ArchiveError`` if the spool is full or a limit is exceeded. Any other error means that the archive
    ///   is not plain.
    mutating func addMembers(of chunks: TarChunkReader) async throws {
        var tar = TarParser()
        var openFile: OpenFile?
        var chunkTasks = OrderedTasks<[UInt8]>(limit: jobLimit)
        while true {
            let isSkipping = openFile == nil && chunks.isWorthSkipping(tar.bytesToSkip)
            if chunkTasks.count == 0 {
                if isSkipping { tar.skip(chunks.skip(tar.bytesToSkip)) }
                chunkTasks.add { try chunks.nextChunk() }
            }
            // Without an end marker, members may be missing.
            guard let chunk = try? await chunkTasks.next(), !chunk.isEmpty else { throw RequiresLibarchive() }
            // At most one chunk is produced while another is parsed.
            if jobLimit.jobs > 1, !isSkipping { chunkTasks.add { try chunks.nextChunk() } }
            if try addMembers(in: chunk.span, of: &tar, &openFile) {
                guard (try? chunks.finish()) != nil else { throw RequiresLibarchive() }
                return
            }
        }
    }

    private struct OpenFile {
        let member: ArchiveReader.Member
        let path: MemberPath
        let spoolOffset: Int
    }

    /// Adds the members in `chunk`, and returns whether the archive ends in `chunk`.
    private mutating func addMembers(
        in chunk: Span<UInt8>, of tar: inout TarParser, _ openFile: inout OpenFile?
    ) throws -> Bool {
        while let step = try tar.next(in: chunk) {
            switch step {
            case .member(let plain):
                let member = ArchiveReader.Member(plain)
                try checkLimits()
                openFile = addHeader(of: member).map {
                    OpenFile(member: member, path: $0, spoolOffset: spool.endOffset)
                }
            case .contents(let range):
                if openFile != nil { try append(chunk.extracting(range)) }
            case .endOfMember:
                guard let finishedFile = openFile else { continue }
                add(
                    finishedFile.member, at: finishedFile.path,
                    .spooled(offset: finishedFile.spoolOffset, count: spool.endOffset - finishedFile.spoolOffset))
                openFile = nil
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
            size: member.size, isEncrypted: false, isInZip: false, offset: member.offset)
    }
}
