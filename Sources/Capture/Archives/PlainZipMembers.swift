import Files
import Parallel
import Zip

extension ArchiveSpooler {
    /// Adds the members of a plain zip archive, whose parts are unpacked by several jobs at the same time.
    ///
    /// - Throws: ``ArchiveError`` if the spool is full or a limit is exceeded. Any other error means that the archive
    ///   is not plain.
    mutating func addMembers(of directory: PlainZipDirectory) async throws {
        let source = directory.source
        var state = SplitState(directory: directory)
        var parts: [ZipPart] = []
        var unpacked = OrderedTasks<[UInt8]>(limit: jobs)
        while true {
            while !unpacked.isFull, let part = try nextPart(of: &state) {
                parts.append(part)
                unpacked.add { try part.contents(in: source) }
            }
            guard !parts.isEmpty else { return }
            guard let contents = try? await unpacked.next() else { throw RequiresLibarchive() }
            try add(parts.removeFirst(), contents, from: source)
        }
    }

    private struct SplitState {
        var directory: PlainZipDirectory
        var pending: ZipPart.Member?
        var size = 0
    }

    private mutating func nextPart(of state: inout SplitState) throws -> ZipPart? {
        var part = ZipPart()
        if let member = state.pending { _ = part.add(member) }
        state.pending = nil
        while let found = try state.directory.next() {
            let entry = found.entry
            guard entry.size <= limits.memberSize else { throw RequiresLibarchive() }
            try checkLimits()
            let path = addHeader(of: ArchiveReader.Member(found))
            if path != nil { state.size += entry.size }
            guard !limits.isOverExpanded(state.size, from: state.directory.source.count) else {
                throw RequiresLibarchive()
            }
            let member = ZipPart.Member(path: path, entry: entry, extent: found.extent)
            guard part.add(member) else {
                state.pending = member
                return part
            }
        }
        return part.members.isEmpty ? nil : part
    }

    private mutating func add(_ part: ZipPart, _ contents: [UInt8], from source: ByteSource) throws {
        var offset = spool.end
        if let large = part.large { try spool(large, from: source) } else { try append(contents.span) }
        for member in part.members {
            guard let path = member.path else { continue }
            members.addFile(path, .spooled(offset: offset, count: member.entry.size))
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
            isEncrypted: false, isZip: true, offset: member.entry.offset)
    }
}
