import Bytes
import Files
import Hashing

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
    static let bundleSuffix = ".tar.zst"

    /// Opens the complete bundle at `path`, which is the path of the bundle or of its first volume.
    public init(path: String) throws(BundleError) {
        var faults: [VolumeFault] = []
        try self.init(path: path, noting: &faults)
        guard faults.isEmpty else { throw .volumes(faults) }
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
            if let name { throw .notFirstVolume(name.firstVolume.path) }
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
        let bundles = try Folder(path: path).fileNames().filter { name in
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
        return .split(name.firstVolume.path)
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

// MARK: - Volumes

/// The path of a volume, which is the path of the bundle followed by a number, such as `phone.tar.zst.002`.
public struct VolumeName: Sendable, Equatable {
    /// The path of the bundle.
    public let bundlePath: String
    /// The number of the volume, starting at 1.
    public let number: Int

    /// The maximum number of volumes of a bundle.
    ///
    /// All numbers have three digits, so that sorting the names sorts the numbers.
    public static let maxNumber = 999
    private static let digitCount = 3

    /// Creates the name of a volume with a number from 1 to ``maxNumber``.
    public init(of bundlePath: String, number: Int) {
        self.bundlePath = bundlePath
        self.number = number
    }

    /// Parses the path of a volume, or returns `nil` if `path` does not end with a volume number.
    public init?(path: String) {
        let bytes = Array(path.utf8)
        let suffix = bytes.suffix(Self.digitCount + 1)
        guard suffix.count == Self.digitCount + 1, suffix.first == UInt8(ascii: "."),
            let last = bytes.dropLast(suffix.count).last, last != UInt8(ascii: "/")
        else { return nil }
        let digits = suffix.dropFirst()
        guard digits.allSatisfy(\.isDigit), let number = Int(String(decoding: digits, as: UTF8.self)), number > 0
        else { return nil }
        self.init(of: String(decoding: bytes.dropLast(suffix.count), as: UTF8.self), number: number)
    }

    /// The path of the volume.
    public var path: String { "\(bundlePath).\(number.zeroPadded(to: Self.digitCount))" }

    /// The last component of the path.
    public var name: String { Path.name(of: path) }

    /// The first volume of the same bundle.
    public var firstVolume: VolumeName { VolumeName(of: bundlePath, number: 1) }

    /// Returns the path of the volume list of the bundle at `bundlePath`.
    ///
    /// The command `sha256sum -c` can read the list.
    public static func listPath(of bundlePath: String) -> String { bundlePath + ".sha256" }

    /// Returns whether two names have the same bytes.
    ///
    /// This differs from the operator `==`, which considers canonically equivalent Unicode strings equal.
    static func areEqual(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}

/// A list of hashes for the volumes of a bundle.
///
/// The list is stored as `NAME.tar.zst.sha256` in the format of `sha256sum`.
public struct VolumeList: Sendable, Equatable {
    /// The SHA-256 hash of each volume, in order.
    public let hashes: [ContentHash]

    /// The maximum size of a list in bytes.
    static let sizeLimit = 1 << 20

    /// Creates a list of the given hashes, one for each volume in order.
    public init(_ hashes: [ContentHash]) { self.hashes = hashes }

    /// Returns the contents of the list file for the bundle at `path`.
    public func bytes(forBundleAt path: String) -> [UInt8] {
        hashes.enumerated().flatMap { number, hash in
            Array((Self.line(for: hash, named: VolumeName(of: path, number: number + 1).name) + "\n").utf8)
        }
    }

    /// Returns the line of the list for the volume called `name`, without a line feed.
    ///
    /// If the name contains a backslash or a line feed, these characters are escaped and the line starts with a
    /// backslash, as in the output of `sha256sum`.
    private static func line(for hash: ContentHash, named name: String) -> String {
        var escaped = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\(escaped == name ? "" : "\\")\(hash.hex)  \(escaped)"
    }

    /// Parses the list for the bundle at `path`.
    ///
    /// The list must contain each volume of the bundle once, in order.
    static func parse(_ bytes: [UInt8], forBundleAt path: String) throws(Fault) -> VolumeList {
        guard bytes.last == UInt8(ascii: "\n") else { throw Fault(reason: "no line feed at its end") }
        var hashes: [ContentHash] = []
        for part in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let number = hashes.count + 1
            guard number <= VolumeName.maxNumber else { throw Fault(reason: "line \(number): too many lines") }
            let name = VolumeName(of: path, number: number).name
            let text = part.first == UInt8(ascii: "\\") ? part.dropFirst() : part
            let digits = String(decoding: text.prefix(2 * 32), as: UTF8.self)
            guard let hash = ContentHash(hex: digits) else { throw Fault(reason: "line \(number): no SHA-256") }
            // The whole line is compared with the expected line, so that escaped names need not be parsed.
            let line = line(for: hash, named: name)
            let binary = line.replacing("\(hash.hex)  ", with: "\(hash.hex) *", maxReplacements: 1)
            guard [line, binary].contains(where: { $0.utf8.elementsEqual(part) }) else {
                throw Fault(reason: "line \(number): it does not name \(name)")
            }
            hashes.append(hash)
        }
        return VolumeList(hashes)
    }

    /// A fault in a list.
    struct Fault: Error, Equatable {
        /// The reason why the list cannot be parsed.
        let reason: String
    }
}
