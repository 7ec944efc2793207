import Bytes
import CLibrary
import Files
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
        guard !names.isEmpty else { throw FileError(.open, VolumeName(of: bundle, number: 1).path, code: ENOENT) }
        joinedFiles = try JoinedFiles(names.map(\.path))
        self.names = names
        list = try Self.readList(ofBundleAt: bundle, noting: &faults)
        // The pattern for volumes in documents, which is for `cat`, includes this name.
        let zero = "\(Path.name(of: bundle)).000"
        let files = try Folder(path: Path.folder(of: bundle)).fileNames()
        if files.contains(where: { VolumeName.areEqual($0, zero) }) {
            faults.append(VolumeFault(zero, .unlisted))
        }
        let sizes = zip(names, joinedFiles.sizes).map { (number: $0.number, size: $1) }
        faults += VolumeFault.sizeFaults(in: sizes, of: bundle, listedCount: list?.hashes.count)
    }

    /// Returns the existing volumes of a bundle, in the order of their numbers.
    static func existingVolumes(ofBundleAt bundle: String) throws(FileError) -> [VolumeName] {
        let name = Path.name(of: bundle)
        let names = try Folder(path: Path.folder(of: bundle)).fileNames()
        let numbers = names.compactMap { VolumeName(path: $0) }.filter { VolumeName.areEqual($0.bundlePath, name) }.map(
            \.number)
        return numbers.sorted().map { VolumeName(of: bundle, number: $0) }
    }

    private static func readList(
        ofBundleAt bundle: String, noting faults: inout [VolumeFault]
    ) throws(FileError) -> VolumeList? {
        let reason: String
        do throws(FileError) {
            let bytes = try InputFile(path: VolumeName.listPath(of: bundle)).contents(limit: VolumeList.sizeLimit)
            do throws(VolumeList.Fault) {
                return try VolumeList.parse(bytes, forBundleAt: bundle)
            } catch {
                reason = error.reason
            }
        } catch {
            if error.isNotFound { return nil }
            guard error.isTooLarge else { throw error }
            reason = "too large"
        }
        faults.append(VolumeFault(Path.name(of: VolumeName.listPath(of: bundle)), .badList(reason)))
        return nil
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
        guard faults.isEmpty else { throw .volumes(faults) }
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
        if let faults = try? hashFaults({ _ in }), !faults.isEmpty { return .volumes(faults) }
        guard let last = names.last, let size = sizes.last else { return .container(error) }
        // The last volume is usually shorter than the others and contains the seek table. If no existing volume is
        // shorter and there is no seek table, the last volume is probably missing.
        if case .noSeekTable = error.reason, list == nil, size == sizes[0], last.number < VolumeName.maxNumber {
            let next = VolumeName(of: last.bundlePath, number: last.number + 1)
            return .volumes([VolumeFault(next.name, .missing)])
        }
        let position = joinedFiles.location(of: error.offset) ?? (names.count - 1, size)
        let through = lastVolumeIndex(ofFrameAt: error.offset).map { names[$0].name } ?? names[position.file].name
        let name = names[position.file].name
        let kind = VolumeFault.Kind.damaged(
            offset: position.offset, through: through == name ? nil : through, reason: error.reason.text)
        return .volumes([VolumeFault(name, kind)])
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

// MARK: - Faults

/// A fault in a volume of a bundle, or in the list of its volumes.
public struct VolumeFault: Sendable, Equatable {
    /// The kind of a fault.
    public enum Kind: Sendable, Equatable {
        /// The volume does not exist in the folder of the other volumes.
        case missing
        /// The volume has the given size in bytes, which differs from the expected size.
        case length(Int, expected: Int)
        /// The volume has the bytes of the given other volume, which is missing or has different bytes.
        case swapped(with: String)
        /// The volume has the same bytes as the given other volume.
        case duplicate(of: String)
        /// The hash of the volume differs from the hash in the list.
        case changed
        /// The volume is not in the list.
        case unlisted
        /// A frame that starts at `offset` in the volume cannot be read.
        ///
        /// `through` is the name of the volume in which the frame ends, or `nil` if it is the same volume.
        case damaged(offset: Int, through: String?, reason: String)
        /// The list of volumes cannot be parsed for the given reason.
        case badList(String)
    }

    /// The last component of the path of the volume or of the list.
    public let name: String
    /// The kind of the fault.
    public let kind: Kind

    init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// A stable code that identifies the kind of the fault in JSON.
    public var code: String {
        switch kind {
        case .missing: "missing"
        case .length: "wrong-length"
        case .swapped: "swapped"
        case .duplicate: "doubled"
        case .changed: "changed"
        case .unlisted: "unlisted"
        case .damaged: "damaged"
        case .badList: "bad-list"
        }
    }

    /// A description of the fault.
    public var text: String {
        switch kind {
        case .missing: "\(name) is missing"
        case .length(let size, let expected): "\(name) has \(size.counted("byte")), not \(expected)"
        case .swapped(let other): "\(name) has the contents of \(other)"
        case .duplicate(let other): "\(name) is a copy of \(other)"
        case .changed: "\(name) is damaged or belongs to another bundle: its contents do not match the list of volumes"
        case .unlisted: "\(name) is not in the list of the volumes"
        case .damaged(let offset, nil, let reason): "\(name) at byte \(offset): \(reason)"
        case .damaged(let offset, let last?, let reason):
            "\(name) from byte \(offset), or a later volume up to \(last): \(reason)"
        case .badList(let reason): "\(name): \(reason)"
        }
    }
}

// MARK: - Finding faults

extension VolumeFault {
    /// Returns the faults that are detected from the numbers and sizes of the existing volumes.
    ///
    /// All volumes up to the last one must exist, and all except the last one must have the same size. `listedCount` is
    /// the number of volumes in the list, or `nil` if there is no list.
    static func sizeFaults(in sizes: [(number: Int, size: Int)], of bundle: String, listedCount: Int?) -> [VolumeFault]
    {
        let last = listedCount ?? sizes.last?.number ?? 0
        let expected = mostFrequentSize(of: sizes, last: last)
        let present = Dictionary(sizes.map { ($0.number, $0.size) }) { first, _ in first }
        let unlisted = sizes.map(\.number).filter { $0 > last }
        return (Array(1...max(last, 1)) + unlisted).compactMap { number in
            let name = VolumeName(of: bundle, number: number).name
            guard let size = present[number] else { return VolumeFault(name, .missing) }
            guard number <= last else { return VolumeFault(name, .unlisted) }
            let isExpected = number < last ? size == expected : size > 0 && size <= expected
            return isExpected ? nil : VolumeFault(name, .length(size, expected: expected))
        }
    }

    /// Returns the most frequent size of the volumes before the last one.
    ///
    /// If several sizes are equally frequent, returns the largest.
    private static func mostFrequentSize(of sizes: [(number: Int, size: Int)], last: Int) -> Int {
        var counts: [Int: Int] = [:]
        for volume in sizes where volume.number < last { counts[volume.size, default: 0] += 1 }
        let usual = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }
        let lastSize = sizes.last?.size ?? 0
        // A size that occurs only once can be too small, so the size of the last volume is used if it is larger.
        return usual.map { $0.value > 1 ? $0.key : max($0.key, lastSize) } ?? max(lastSize, 1)
    }

    /// Returns the faults that are found by comparing the hashes of the existing volumes with the list.
    static func hashFaults(in hashes: [ContentHash], of names: [VolumeName], list: VolumeList) -> [VolumeFault] {
        func matchesList(_ index: Int) -> Bool {
            list.hashes.indices.contains(names[index].number - 1)
                && list.hashes[names[index].number - 1] == hashes[index]
        }
        return names.indices.compactMap { index in
            guard !matchesList(index) else { return nil }
            let name = names[index].name
            guard let other = list.hashes.firstIndex(of: hashes[index]) else { return VolumeFault(name, .changed) }
            let owner = VolumeName(of: names[index].bundlePath, number: other + 1)
            let ownerMatchesList = names.firstIndex(of: owner).map(matchesList) ?? false
            return VolumeFault(name, ownerMatchesList ? .duplicate(of: owner.name) : .swapped(with: owner.name))
        }
    }
}
