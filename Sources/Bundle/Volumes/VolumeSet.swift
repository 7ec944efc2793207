import Files
import Glibc
import Hashing

/// The opened volumes of a bundle, which can be read as one file.
public struct VolumeSet: Sendable {
    /// The existing volumes in order.
    public let names: [VolumeName]
    /// The list of volumes, or `nil` if it does not exist or cannot be parsed.
    public let list: VolumeList?
    private let joinedFiles: JoinedFiles

    /// Opens the existing volumes of a bundle, and appends their faults to `faults`.
    ///
    /// Only faults that can be found without reading the volumes are appended.
    ///
    /// - Throws: `FileError` with the code `ENOENT` if no volume exists.
    init(of bundle: String, noting faults: inout [VolumeFault]) throws(FileError) {
        let names = try Self.existingVolumes(ofBundleAt: bundle)
        guard !names.isEmpty else {
            throw FileError(.open, VolumeName(of: bundle, number: 1).path, code: ENOENT)
        }
        joinedFiles = try JoinedFiles(names.map(\.path))
        self.names = names
        switch try Self.readList(ofBundleAt: bundle) {
        case .success(let list)?: self.list = list
        case .failure(let fault)?:
            list = nil
            let name = Path.name(of: VolumeName.listPath(of: bundle))
            faults.append(VolumeFault(name, .badList(fault.text)))
        case nil: list = nil
        }
        // The pattern for volumes in documents, which is for `cat`, includes this name.
        let zero = "\(Path.name(of: bundle)).000"
        let files = try Folder(path: Path.folder(of: bundle)).entries().fileNames
        if files.contains(where: { VolumeName.areEqual($0, zero) }) {
            faults.append(VolumeFault(zero, .unlisted))
        }
        let sizes = zip(names, joinedFiles.sizes).map { (number: $0.number, size: $1) }
        faults += VolumeFault.sizeFaults(in: sizes, of: bundle, listedCount: list?.hashes.count)
    }

    /// Returns the existing volumes of a bundle, in the order of their numbers.
    static func existingVolumes(ofBundleAt bundle: String) throws(FileError) -> [VolumeName] {
        let name = Path.name(of: bundle)
        let names = try Folder(path: Path.folder(of: bundle)).entries().fileNames
        let numbers = names.compactMap { VolumeName(path: $0) }.filter { VolumeName.areEqual($0.bundlePath, name) }.map(
            \.number)
        return numbers.sorted().map { VolumeName(of: bundle, number: $0) }
    }

    private static func readList(ofBundleAt bundle: String) throws(FileError) -> Result<VolumeList, VolumeList.Fault>? {
        do throws(FileError) {
            let file = try InputFile(path: VolumeName.listPath(of: bundle))
            return VolumeList.parse(try file.contents(limit: VolumeList.sizeLimit), forBundleAt: bundle)
        } catch {
            if error.isNotFound { return nil }
            if error.isTooLarge { return .failure(VolumeList.Fault(line: nil, "too large")) }
            throw error
        }
    }

    /// The bytes of all volumes in order.
    public var source: ByteSource { ByteSource(joinedFiles) }

    /// The paths of all volumes in order, followed by the path of the list if ``list`` is not `nil`.
    public var paths: [String] {
        names.map(\.path) + (list == nil ? [] : names.prefix(1).map { VolumeName.listPath(of: $0.bundlePath) })
    }

    /// The size of each volume in bytes.
    public var sizes: [Int] { joinedFiles.sizes }

    /// The file identities of the volumes.
    public var identities: [FileIdentity] { joinedFiles.identities }

    /// The number of bytes that ``verifyHashes(progress:)`` hashes.
    public var hashedByteCount: Int { list == nil ? 0 : joinedFiles.count }

    /// Compares the hashes of all volumes with the list, or does nothing if there is no list.
    ///
    /// `progress` is called with the number of bytes that were hashed since the previous call.
    public func verifyHashes(progress: (Int) -> Void = { _ in }) throws(BundleError) {
        let faults: [VolumeFault]
        do throws(FileError) {
            faults = try hashFaults(progress)
        } catch {
            throw .container(ContainerError(at: 0, .file(error)))
        }
        guard faults.isEmpty else { throw .volumes(.faults(faults)) }
    }

    private func hashFaults(_ progress: (Int) -> Void) throws(FileError) -> [VolumeFault] {
        guard let list else { return [] }
        return VolumeFault.hashFaults(in: try hashes(in: source, progress), of: names, list: list)
    }

    /// Returns the SHA-256 hash of each volume in order.
    func hashes(in source: ByteSource, _ progress: (Int) -> Void = { _ in }) throws(FileError) -> [ContentHash] {
        var start = 0
        var hashes: [ContentHash] = []
        for size in sizes {
            var hash = SHA256()
            try source.forEachChunk(in: start..<start + size) { bytes, _ throws(FileError) in
                hash.update(bytes.span)
                progress(bytes.count)
            }
            start += size
            hashes.append(hash.finalize())
        }
        return hashes
    }

    /// Returns an error that names the volumes in which `error` occurred, or that wraps `error` if they are unknown.
    func bundleError(for error: ContainerError) -> BundleError {
        if case .file = error.reason { return .container(error) }
        // A read error is ignored here, because the container error is reported in any case.
        if let faults = try? hashFaults({ _ in }), !faults.isEmpty { return .volumes(.faults(faults)) }
        guard let last = names.last, let size = sizes.last else { return .container(error) }
        // The last volume is usually shorter than the others and contains the seek table. If no existing volume is
        // shorter and there is no seek table, the last volume is probably missing.
        if case .noSeekTable = error.reason, list == nil, size == sizes[0], last.number < VolumeName.maxNumber {
            let next = VolumeName(of: last.bundlePath, number: last.number + 1)
            return .volumes(.faults([VolumeFault(next.name, .missing)]))
        }
        let position = joinedFiles.location(of: error.offset) ?? (names.count - 1, size)
        let through = lastVolumeIndex(ofFrameAt: error.offset).map { names[$0].name } ?? names[position.file].name
        let name = names[position.file].name
        let kind = VolumeFault.Kind.damaged(
            offset: position.offset, through: through == name ? nil : through, reason: error.reason.text)
        return .volumes(.faults([VolumeFault(name, kind)]))
    }

    /// Returns the index of the volume in which the frame at `offset` ends, or `nil` if there is no seek table.
    private func lastVolumeIndex(ofFrameAt offset: Int) -> Int? {
        // Errors are ignored, because the result only improves the message of another error.
        guard let table = try? SeekTable.read(from: source) else { return nil }
        var end = 0
        for entry in table.entries where end <= offset { end += Int(entry.compressedSize) }
        return joinedFiles.location(of: end - 1)?.file
    }
}
