import Files

/// A bundle on disk: a file, or the volumes that it was split into.
///
/// ```swift
/// let file = try BundleFile(path: path)
/// let bundle = try BundleReader(file, knowing: Systems.table)
/// ```
public struct BundleFile: Sendable {
    /// The path as given: of volumes, that of the first one.
    public let path: String
    /// The name of the bundle: of volumes, without the number.
    public var name: String { volumes?.names.first?.bundle ?? path }
    /// All its bytes.
    public let source: ByteSource
    /// The volumes; nil where it is one file.
    public let volumes: VolumeSet?

    /// What names of bundles end with. The volumes of one that is named so are known by their names alone.
    private static let suffix = ".tar.zst"

    /// Opens a bundle, or all volumes of one by the path of the first.
    /// - Throws: ``BundleError``: with ``VolumesError`` if a volume is missing or of the wrong length, if it is not the first one
    ///   that was given, or if there are only volumes of what was given.
    public init(path: String) throws(BundleError) {
        var faults: [VolumeFault] = []
        try self.init(path: path, noting: &faults)
        guard faults.isEmpty else { throw .volumes(.faults(faults)) }
    }

    /// Opens as much of a bundle as is there.
    /// - Parameter faults: takes what is wrong with its volumes.
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

    /// The volume that a path names; nil if it is that of another file, for many a file has a name that ends with a number.
    public static func volume(at path: String) -> VolumeName? {
        guard let name = VolumeName(path: path) else { return nil }
        if name.bundle.hasSuffix(suffix) { return isFolder(path) ? nil : name }
        // A first volume that cannot be read proves nothing: the path is then opened as a file, and reported if that fails too.
        guard let first = try? ByteSource(InputFile(path: name.first.path)) else { return nil }
        return (try? first.bytes(at: 0, count: FrameDecoder.magic.count)) == FrameDecoder.magic ? name : nil
    }

    /// Returns the paths without those of volumes whose first volume is among them: a shell that expands `night.tar.zst.00*`
    /// gives all volumes of one bundle.
    public static func firstVolumes(of paths: [String]) -> [String] {
        let given = Set(paths)
        return paths.filter { path in
            guard let name = volume(at: path), name.number > 1 else { return true }
            return !given.contains(name.first.path)
        }
    }

    /// Whether a path is that of a folder. One that cannot be opened is reported when it is opened as a file.
    private static func isFolder(_ path: String) -> Bool { (try? Folder(path: path).device()) != nil }

    /// Says that there are only volumes of a bundle, if it is so.
    /// - Parameter path: one at which there is no file.
    public static func split(at path: String) -> BundleError? {
        // The caller reports that there is no file, if nothing more can be found out.
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
