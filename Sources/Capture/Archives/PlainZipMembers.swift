import Files
import Zip

extension ArchiveSpooler {
    /// Adds the members of a plain zip archive, while several jobs unpack parts of the archive at the same time.
    ///
    /// - Throws: ``ArchiveError`` if the spool is full or a limit is exceeded. Any other error means that the archive
    ///   is not plain.
    mutating func addMembers(of directory: PlainZipDirectory) async throws {
        let source = directory.source
        var state = SplitState(directory: directory)
        var parts: [ZipPart] = []
        var unpackingTasks = OrderedTasks<[UInt8]>(limit: jobLimit)
        while true {
            while !unpackingTasks.isFull, let part = try nextPart(of: &state) {
                parts.append(part)
                unpackingTasks.add { try part.contents(in: source) }
            }
            guard !parts.isEmpty else { return }
            guard let contents = try? await unpackingTasks.next() else { throw RequiresLibarchive() }
            try add(parts.removeFirst(), contents, from: source)
        }
    }

    private struct SplitState {
        var directory: PlainZipDirectory
        var pendingMember: ZipPart.Member?
        var unpackedSize = 0
    }

    private mutating func nextPart(of state: inout SplitState) throws -> ZipPart? {
        var part = ZipPart()
        if let member = state.pendingMember { _ = part.add(member) }
        state.pendingMember = nil
        while let found = try state.directory.nextMember() {
            let entry = found.entry
            guard entry.size <= limits.memberSize else { throw RequiresLibarchive() }
            try checkLimits()
            let path = addHeader(of: ArchiveReader.Member(found))
            if path != nil { state.unpackedSize += entry.size }
            guard !limits.isOverExpanded(state.unpackedSize, from: state.directory.source.count) else {
                throw RequiresLibarchive()
            }
            let member = ZipPart.Member(path: path, entry: entry, extent: found.extent)
            guard part.add(member) else {
                state.pendingMember = member
                return part
            }
        }
        return part.members.isEmpty ? nil : part
    }

    private mutating func add(_ part: ZipPart, _ contents: [UInt8], from source: ByteSource) throws {
        var offset = spool.endOffset
        if let large = part.largeMember { try spool(large, from: source) } else { try append(contents.span) }
        for member in part.members {
            guard let path = member.path else { continue }
            treeBuilder.addFile(path, .spooled(offset: offset, count: member.entry.size))
            offset += member.entry.size
        }
    }

    private func spool(_ large: ZipPart.Member, from source: ByteSource) throws {
        guard large.path != nil else { return }
        var unpacker = try ZipUnpacker()
        try unpacker.read(large, in: source) { try append($0) }
    }
}

extension ArchiveReader.Member {
    fileprivate init(_ member: PlainZipDirectory.Member) {
        self.init(
            path: member.entry.name, kind: member.kind, hardLink: nil, symbolicLink: nil, size: member.entry.size,
            isEncrypted: false, isInZip: true, offset: member.entry.offset)
    }
}
