import Files

/// A bundle on disk: a single file or a set of volumes.
///
/// ```swift
/// let file = try BundleFile(path: path)
/// let bundle = try BundleReader(file, knowing: Systems.table)
/// ```
public struct BundleFile: Sendable {
    /// The path that was passed to the initializer: that of the bundle or of its first volume.
    public let path: String
    /// The path of the bundle without a volume number.
    public var name: String { volumes?.names.first?.bundle ?? path }
    /// The bytes of the bundle.
    public let source: ByteSource
    /// The volumes, or `nil` if the bundle is a single file.
    public let volumes: VolumeSet?

    /// The filename suffix of bundles.
    ///
    /// Volumes with this suffix are recognized by their names alone.
    private static let suffix = ".tar.zst"

    /// Opens a complete bundle, given its path or the path of its first volume.
    public init(path: String) throws(BundleError) {
        var faults: [VolumeFault] = []
        try self.init(path: path, noting: &faults)
        guard faults.isEmpty else { throw .volumes(.faults(faults)) }
    }

    /// Opens a bundle even if volumes are missing, and appends the faults of the volumes to `faults`.
    public init(path: String, noting faults: inout [VolumeFault]) throws(BundleError) {
        self.path = path
        let name = Self.volume(at: path)
        if let name, name.number == 1 {
            let set = try Self.wrapping(path) { () throws(FileError) in
                try VolumeSet(of: name.bundle, noting: &faults)
            }
            volumes = set
            source = set.source
        } else {
            volumes = nil
            source = try Self.wrapping(path) { () throws(FileError) in ByteSource(try InputFile(path: path)) }
            if let name { throw .volumes(.notFirst(name.first.path)) }
        }
    }

    /// Returns the name of the volume at a path, or `nil` if the file is not a volume.
    ///
    /// A file with a number but without the suffix `.tar.zst` is a volume only if its first volume starts like a
    /// bundle.
    public static func volume(at path: String) -> VolumeName? {
        guard let name = VolumeName(path: path) else { return nil }
        if name.bundle.hasSuffix(suffix) { return isFolder(path) ? nil : name }
        // If the first volume cannot be read, the caller opens the path as a single file.
        guard let first = try? ByteSource(InputFile(path: name.first.path)) else { return nil }
        return (try? first.bytes(at: 0, count: FrameDecoder.magic.count)) == FrameDecoder.magic ? name : nil
    }

    /// Returns the paths without the volumes whose first volume is also in `paths`.
    ///
    /// For example, a shell expands `night.tar.zst.00*` to all volumes of a bundle.
    public static func firstVolumes(of paths: [String]) -> [String] {
        let given = Set(paths)
        return paths.filter { path in
            guard let name = volume(at: path), name.number > 1 else { return true }
            return !given.contains(name.first.path)
        }
    }

    /// Returns whether a path refers to a folder.
    ///
    /// If the folder cannot be opened, the caller reports the error when it opens the path as a file.
    private static func isFolder(_ path: String) -> Bool { (try? Folder(path: path).device()) != nil }

    /// Returns the error for a missing bundle whose volumes exist, or `nil` if there are no volumes.
    public static func split(at path: String) -> BundleError? {
        // If the folder cannot be read, the caller reports the missing file.
        guard let names = try? VolumeSet.names(of: path), let name = names.first else { return nil }
        return .volumes(.split(name.first.path))
    }

    private static func wrapping<Value>(
        _ path: String, _ body: () throws(FileError) -> Value
    ) throws(BundleError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            if error.isNotFound, let split = split(at: path) { throw split }
            throw .container(ContainerError(at: 0, .file(error)))
        }
    }
}
