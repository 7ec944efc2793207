import Bytes
import CLibrary
import Files
import Hashing

/// A writer that splits a bundle into volumes.
///
/// The volumes and their list become visible together when they are complete.
///
/// ```swift
/// var output = try VolumeWriter(path: path, size: size, replacing: false)
/// try output.write(bytes.span)
/// let volumes = try output.commit()
/// ```
///
/// Source: "Bundle", "Volumes".
public struct VolumeWriter: ~Copyable {
    /// A volume that was written.
    public struct Volume: Sendable, Equatable {
        /// The path of the volume.
        public let path: String
        /// The size of the volume in bytes.
        public let size: Int
        /// The SHA-256 hash of the volume.
        public let sha256: ContentHash
    }

    private let path: String
    private let volumeSize: Int
    private var output: AtomicFiles
    private var volumes: [Volume] = []
    private var volumeHash = SHA256()
    /// The number of bytes written to the current volume, or `nil` if there is no current volume.
    private var currentVolumeSize: Int?

    /// Creates a writer.
    ///
    /// Its files become visible when ``commit()`` is called.
    ///
    /// If `replacing` is `true`, an existing bundle at `path` is removed, including its volumes and its list.
    public init(path: String, size: VolumeSize, replacing: Bool, permissions: mode_t = 0o600) throws(FileError) {
        let name = Path.name(of: path)
        let listName = VolumeName.listPath(of: name)
        self.path = path
        volumeSize = size.byteCount
        output = try AtomicFiles(path: path, replacing: replacing, permissions: permissions) { other in
            // Names are compared by their bytes, because `==` considers some strings with different bytes equal.
            VolumeName.areEqual(other, name) || VolumeName.areEqual(other, listName)
                || VolumeName(path: other).map { VolumeName.areEqual($0.bundlePath, name) } ?? false
        }
    }

    /// Returns the paths of all files that a bundle at `path` may create, replace or remove if it is split into volumes.
    public static func replacedPaths(of path: String) -> [String] {
        outputPaths(of: path) + AtomicFiles.temporaryPaths(of: path)
    }

    /// Returns the paths of the bundle at `path`, of its volumes and of their list.
    public static func outputPaths(of path: String) -> [String] {
        [path] + (1...VolumeName.maxNumber).map { VolumeName(of: path, number: $0).path }
            + [VolumeName.listPath(of: path)]
    }

    /// The identities of the files that will be replaced.
    ///
    /// These files must not be read as input.
    public var identities: Set<FileIdentity> { output.identities }

    /// Appends bytes of the bundle.
    ///
    /// - Throws: `FileError`. The code is `EFBIG` if there would be more volumes than ``VolumeName/maxNumber``.
    public mutating func write(_ bytes: Span<UInt8>) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let space = try remainingVolumeSize()
            let part = bytes.extracting(done..<min(bytes.count, done + space))
            try output.write(part)
            volumeHash.update(part)
            currentVolumeSize = (currentVolumeSize ?? 0) + part.count
            done += part.count
        }
    }

    /// Returns the number of bytes that fit into the current volume, or into a new volume if the current one is full.
    private mutating func remainingVolumeSize() throws(FileError) -> Int {
        if let currentVolumeSize, currentVolumeSize < volumeSize { return volumeSize - currentVolumeSize }
        endVolume()
        let next = VolumeName(of: path, number: volumes.count + 1)
        guard next.number <= VolumeName.maxNumber else {
            let message =
                "cannot create \(next.path): a bundle can have at most \(VolumeName.maxNumber) volumes; use a larger --volume-size"
            throw FileError(.create, next.path, code: EFBIG, message: message)
        }
        try output.begin(next.name)
        currentVolumeSize = 0
        return volumeSize
    }

    private mutating func endVolume() {
        guard let count = currentVolumeSize else { return }
        let name = VolumeName(of: path, number: volumes.count + 1)
        volumes.append(Volume(path: name.path, size: count, sha256: volumeHash.finalize()))
        volumeHash = SHA256()
        currentVolumeSize = nil
    }

    /// Writes the list, makes the volumes and the list visible, and returns the volumes.
    public consuming func commit() throws(FileError) -> [Volume] {
        endVolume()
        let volumes = volumes
        try output.begin(Path.name(of: VolumeName.listPath(of: path)))
        try output.write(VolumeList(volumes.map(\.sha256)).bytes(forBundleAt: path).span)
        try output.commit()
        return volumes
    }
}

// MARK: - VolumeSize

/// The size of all volumes of a bundle except the last one.
public struct VolumeSize: Sendable, Equatable {
    /// The size in bytes, which is at least ``minimumByteCount``.
    public let byteCount: Int

    /// The minimum size in bytes.
    public static let minimumByteCount = 4 << 10

    /// The sizes for a CD, a single-layer DVD, and the largest file on a FAT file system.
    ///
    /// Each size is slightly smaller than the actual limit.
    private static let media = ["cd": 700 << 20, "dvd": 4480 << 20, "fat": 4092 << 20]
    private static let units: [UInt8: Int] = [
        UInt8(ascii: "K"): 1 << 10, UInt8(ascii: "M"): 1 << 20, UInt8(ascii: "G"): 1 << 30,
    ]

    /// Creates a size, or returns `nil` if it is smaller than ``minimumByteCount``.
    public init?(byteCount: Int) {
        guard byteCount >= Self.minimumByteCount else { return nil }
        self.byteCount = byteCount
    }

    /// Parses a size: `cd`, `dvd`, `fat`, or a number of bytes with an optional suffix `K`, `M` or `G`.
    ///
    /// Returns `nil` if the string is malformed or the size is out of range.
    public init?(text: String) {
        if let byteCount = Self.media[text] {
            self.init(byteCount: byteCount)
            return
        }
        var digits = Array(text.utf8)
        let unit = digits.last.flatMap { Self.units[$0] }
        if unit != nil { digits.removeLast() }
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit),
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let (byteCount, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { return nil }
        self.init(byteCount: byteCount)
    }
}
