import Files
import Glibc
import Hashing

/// Writes a bundle as volumes that appear all together with their list, or not at all: see "Volumes" in "Bundle".
///
/// ```swift
/// var output = try VolumeWriter(path: path, size: size, replacing: false)
/// try output.write(bytes.span)
/// let volumes = try output.commit()
/// ```
public struct VolumeWriter: ~Copyable {
    /// A volume that was written.
    public struct Volume: Sendable, Equatable {
        /// Its path.
        public let path: String
        /// How many bytes it has.
        public let bytes: Int
        /// SHA-256 of them.
        public let sha256: ContentHash
    }

    private let path: String
    private let size: Int
    private var output: AtomicFiles
    private var volumes: [Volume] = []
    private var hash = SHA256()
    /// How many bytes the volume has that was begun last; nil before the first one.
    private var currentSize: Int?

    /// Begins to write; nothing can be seen yet.
    /// - Parameter replacing: whether a bundle of that path, volumes of it and their list may be replaced. All of them go away
    ///   then.
    /// - Throws: `FileError`, as `AtomicFiles`.
    public init(
        path: String, size: VolumeSize, replacing: Bool, permissions: mode_t = 0o600
    ) throws(FileError) {
        let name = Path.name(of: path)
        let listName = VolumeName.listPath(of: name)
        self.path = path
        self.size = size.bytes
        output = try AtomicFiles(path: path, replacing: replacing, permissions: permissions) { other in
            // By bytes: names that Swift takes for equal may be those of two files.
            VolumeName.areEqual(other, name) || VolumeName.areEqual(other, listName)
                || VolumeName(path: other).map { VolumeName.areEqual($0.bundle, name) } ?? false
        }
    }

    /// The files that it will replace, which must not be read as input.
    public var identities: Set<FileIdentity> { output.identities }

    /// Appends bytes of the bundle.
    /// - Throws: `FileError`; with `EFBIG` when there would be more volumes than ``VolumeName/maxNumber``.
    public mutating func write(_ bytes: Span<UInt8>) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let space = try remainingVolumeSize()
            let part = bytes.extracting(done..<min(bytes.count, done + space))
            try output.write(part)
            hash.update(part)
            currentSize = (currentSize ?? 0) + part.count
            done += part.count
        }
    }

    /// How many bytes fit in the last volume. One that is full is closed, and the next one begun.
    private mutating func remainingVolumeSize() throws(FileError) -> Int {
        if let currentSize, currentSize < size { return size - currentSize }
        endVolume()
        let next = VolumeName(of: path, number: volumes.count + 1)
        guard next.number <= VolumeName.maxNumber else {
            let words =
                "cannot create \(next.path): no more than \(VolumeName.maxNumber) volumes; give a larger --volume-size"
            throw FileError(.create, next.path, code: EFBIG, saying: words)
        }
        try output.begin(next.name)
        currentSize = 0
        return size
    }

    private mutating func endVolume() {
        guard let count = currentSize else { return }
        let name = VolumeName(of: path, number: volumes.count + 1)
        volumes.append(Volume(path: name.path, bytes: count, sha256: hash.finalize()))
        hash = SHA256()
        currentSize = nil
    }

    /// Writes the list, and gives all files their names.
    /// - Returns: the volumes.
    /// - Throws: `FileError`, as `AtomicFiles`.
    public consuming func commit() throws(FileError) -> [Volume] {
        endVolume()
        let volumes = volumes
        try output.begin(Path.name(of: VolumeName.listPath(of: path)))
        try output.write(VolumeList(volumes.map(\.sha256)).bytes(of: path).span)
        try output.commit()
        return volumes
    }
}
