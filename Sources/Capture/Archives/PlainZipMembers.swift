import Files
import Parallel
import Zip

extension ArchiveSpooler {
    /// Takes the members of a zip archive that is plain; several parts of it are unpacked at the same time.
    /// - Throws: ``PlainReadingError``.
    mutating func takeMembers(of directory: PlainZipDirectory) async throws(PlainReadingError) {
        let source = directory.source
        var cutting = Cutting(directory: directory)
        var parts: [ZipPart] = []
        var unpacked = OrderedTasks<[UInt8]>(limit: jobs)
        while true {
            while !unpacked.isFull, let part = try nextPart(of: &cutting) {
                parts.append(part)
                unpacked.add { try part.contents(in: source) }
            }
            guard !parts.isEmpty else { return }
            // libarchive then reports what is wrong.
            guard let contents = try? await unpacked.next() else { throw .notPlain }
            try take(parts.removeFirst(), contents, from: source)
        }
    }

    /// How far an archive was cut in parts.
    private struct Cutting {
        var directory: PlainZipDirectory
        /// A member that did not belong in the part before.
        var left: ZipPart.Member?
        /// How many bytes the parts are unpacked.
        var size = 0
    }

    /// What one job reads; nil at the end.
    private mutating func nextPart(of cutting: inout Cutting) throws(PlainReadingError) -> ZipPart? {
        var part = ZipPart()
        if let member = cutting.left { _ = part.add(member) }
        cutting.left = nil
        while let found = try cutting.directory.next() {
            let entry = found.entry
            guard entry.size <= limits.memberSize else { throw .notPlain }
            let path = try takePlainHeader(of: ArchiveReader.Member(found))
            if path != nil { cutting.size += entry.size }
            guard !limits.isOverExpanded(cutting.size, from: cutting.directory.source.count) else { throw .notPlain }
            let member = ZipPart.Member(path: path, entry: entry, extent: found.extent)
            guard part.add(member) else {
                cutting.left = member
                return part
            }
        }
        return part.members.isEmpty ? nil : part
    }

    /// Spools the contents of a part.
    private mutating func take(
        _ part: ZipPart, _ contents: [UInt8], from source: ByteSource
    ) throws(PlainReadingError) {
        var place = spool.end
        if let large = part.large { try spool(large, from: source) } else { try appendPlain(contents.span) }
        for member in part.members {
            guard let path = member.path else { continue }
            members.addFile(path, .spooled(offset: place, count: member.entry.size))
            place += member.entry.size
        }
    }

    private func spool(_ large: ZipPart.Member, from source: ByteSource) throws(PlainReadingError) {
        guard large.path != nil else { return }
        do {
            var unpacking = try ZipUnpacking()
            try unpacking.read(large, in: source) { try appendPlain($0) }
        } catch let error as PlainReadingError {
            throw error
        } catch {
            throw .notPlain
        }
    }
}

extension ArchiveReader.Member {
    fileprivate init(_ member: PlainZipDirectory.Member) {
        self.init(
            path: member.entry.name, kind: member.kind, hardLink: nil, symbolicLink: nil, size: member.entry.size,
            isEncrypted: false, isZip: true, offset: member.entry.offset)
    }
}
