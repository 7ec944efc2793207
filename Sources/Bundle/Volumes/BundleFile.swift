import Bytes
import Files

/// A bundle on disk, which is a single file or a set of volumes.
///
/// ```swift
/// let file = try BundleFile(path: path)
/// let bundle = try BundleReader(file, knowing: Systems.table)
/// ```
public struct BundleFile: Sendable {
    /// The path that was passed to the initializer: the path of the bundle or of its first volume.
    public let path: String
    /// The path of the bundle without a volume number.
    public var bundlePath: String { volumes?.names.first?.bundlePath ?? path }
    /// The bytes of the bundle.
    public let source: ByteSource
    /// The volumes, or `nil` if the bundle is a single file.
    public let volumes: VolumeSet?

    /// The filename suffix of bundles.
    ///
    /// A numbered file with this suffix before the number is recognized as a volume by its name alone.
    private static let bundleSuffix = ".tar.zst"

    /// Opens the complete bundle at `path`, which is the path of the bundle or of its first volume.
    public init(path: String) throws(BundleError) {
        var faults: [VolumeFault] = []
        try self.init(path: path, noting: &faults)
        guard faults.isEmpty else { throw .volumes(.faults(faults)) }
    }

    /// Opens the bundle at `path` even if volumes are missing, and appends the faults of the volumes to `faults`.
    public init(path: String, noting faults: inout [VolumeFault]) throws(BundleError) {
        self.path = path
        let name = Self.volumeName(atPath: path)
        if let name, name.number == 1 {
            let set = try Self.wrappingErrors(path) { () throws(FileError) in
                try VolumeSet(of: name.bundlePath, noting: &faults)
            }
            volumes = set
            source = set.source
        } else {
            volumes = nil
            source = try Self.wrappingErrors(path) { () throws(FileError) in ByteSource(try InputFile(path: path)) }
            if let name { throw .volumes(.notFirst(name.firstVolume.path)) }
        }
    }

    /// Returns the name of the volume at `path`, or `nil` if the file is not a volume.
    ///
    /// A numbered file without the suffix `.tar.zst` is a volume only if its first volume starts with a zstd frame.
    public static func volumeName(atPath path: String) -> VolumeName? {
        guard let name = VolumeName(path: path) else { return nil }
        if name.bundlePath.hasSuffix(bundleSuffix) { return isFolder(path) ? nil : name }
        // If the first volume cannot be read, the caller opens the path as a single file.
        guard let first = try? ByteSource(InputFile(path: name.firstVolume.path)) else { return nil }
        return (try? first.bytes(at: 0, count: FrameDecoder.magic.count)) == FrameDecoder.magic ? name : nil
    }

    /// Returns `paths` without the later volumes of bundles whose first volume is also in `paths`.
    ///
    /// For example, a shell expands `night.tar.zst.00*` to all volumes of a bundle.
    public static func removingLaterVolumes(from paths: [String]) -> [String] {
        let given = Set(paths.map { CapturedText($0) })
        return paths.filter { path in
            guard let name = volumeName(atPath: path), name.number > 1 else { return true }
            return !given.contains(name.firstVolume.path)
        }
    }

    /// Returns `path` or, if it refers to a folder, the paths of the bundles and of the first volumes in it.
    ///
    /// They are sorted by the bytes of their names. Hidden files and the folders in the folder are ignored.
    public static func paths(at path: String) throws(FileError) -> [String] {
        guard isFolder(path) else { return [path] }
        let bundles = try Folder(path: path).entries().fileNames.filter { name in
            guard !name.hasPrefix(".") else { return false }
            guard let volume = VolumeName(path: name) else { return name.hasSuffix(bundleSuffix) }
            return volume.number == 1 && volume.bundlePath.hasSuffix(bundleSuffix)
        }
        let folder = Path.withoutTrailingSlashes(path)
        return bundles.map { folder == "/" ? "/\($0)" : "\(folder)/\($0)" }
    }

    /// Returns the paths of all files of the bundle at `path`, including its volume list and its signature.
    public static func allPaths(ofBundleAt path: String) -> [String] {
        var faults: [VolumeFault] = []
        // A bundle that cannot be opened is reported when it is read.
        let file = try? BundleFile(path: path, noting: &faults)
        return (file?.volumes?.paths ?? [path]) + [AllowedSigners.signaturePath(of: file?.bundlePath ?? path)]
    }

    /// Returns whether a path refers to a folder.
    ///
    /// If the folder cannot be opened, the caller reports the error when it opens the path as a file.
    private static func isFolder(_ path: String) -> Bool { (try? Folder(path: path).device()) != nil }

    /// Returns the error for a missing bundle at `path` if volumes of the bundle exist, or `nil` if there are no
    /// volumes.
    public static func splitBundleError(atPath path: String) -> BundleError? {
        // If the folder cannot be read, the caller reports the missing file.
        guard let names = try? VolumeSet.existingVolumes(ofBundleAt: path), let name = names.first else { return nil }
        return .volumes(.split(name.firstVolume.path))
    }

    private static func wrappingErrors<Value>(
        _ path: String, _ body: () throws(FileError) -> Value
    ) throws(BundleError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            if error.isNotFound, let splitError = splitBundleError(atPath: path) { throw splitError }
            throw .container(ContainerError(at: 0, .file(error)))
        }
    }
}
