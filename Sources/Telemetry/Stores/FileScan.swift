import Bytes
import Files

/// A store whose files are parsed independently of each other.
public protocol FileStore: Store {
    /// The path of the folder that contains the files.
    var folderPath: String { get }
    /// Returns the path of the file at `index`, and sets `name` to its name.
    func path(ofFile index: Int, name: inout [UInt8]) -> String
    /// The maximum size of a file that is parsed, which is ``FileSizeLimit/usual`` by default.
    var sizeLimit: FileSizeLimit { get }
    /// Whether the files can contain credentials.
    ///
    /// If so, only their hashes are put into quarantine.
    var carriesCredentials: Bool { get }
    /// Creates a reader for the files.
    ///
    /// A reader can reuse its memory, because only one thread uses it at a time.
    func makeReader(in context: StoreContext) -> any FileReader
}

/// A parser that converts the contents of store files to records.
public protocol FileReader: Sendable {
    /// Converts `bytes`, which are the contents of the file at `index`, and adds the findings to `output`.
    ///
    /// The path of the file is `output.path`.
    mutating func read(_ bytes: [UInt8], file index: Int, into output: inout ScanOutput)
}

extension FileStore {
    /// The limit for files without a documented limit.
    public var sizeLimit: FileSizeLimit { .usual }

    /// Returns a scan of the files with the given indices.
    public func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        let reader = ParsedFileReader(store: self, options: context.options, reader: makeReader(in: context))
        return FileScan(files, ofStoreAt: path, inFolderAt: folderPath, of: context.tree, using: reader)
    }
}

/// A type that reads the files of a store for a ``FileScan``, one at a time.
///
/// The bytes of rejected ranges are copied from the buffer into quarantine.
public protocol FileScanReader: Sendable {
    /// Reads the file at `index`, and returns its description.
    ///
    /// If the result is `nil`, for example because the file could not be read, ``ScanOutput/rejects`` must be empty.
    mutating func read(
        _ index: Int, in folder: borrowing Folder, with files: inout StoreFileBuffer, into output: inout ScanOutput
    ) -> StoreFile?
}

/// A scan that reads the files of a store in order and puts their rejects into quarantine.
public struct FileScan<Reader: FileScanReader>: StoreScan {
    private let path: String
    private let folderPath: String
    private let tree: FileTree
    private var remaining: Range<Int>
    private var reader: Reader
    private var files = StoreFileBuffer()
    /// The last file that was read, if some of its rejects are not in quarantine yet.
    private var current: StoreFile?
    /// The rejects of ``current`` that are not in quarantine yet.
    private var rejects: ArraySlice<Reject> = []

    /// Creates a scan of the files with the given indices in the folder at `folderPath`.
    public init(
        _ files: Range<Int>, ofStoreAt path: String, inFolderAt folderPath: String, of tree: FileTree,
        using reader: Reader
    ) {
        remaining = files
        self.path = path
        self.folderPath = folderPath
        self.tree = tree
        self.reader = reader
    }

    /// Reads files until the output is full or all files are read.
    public mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        do throws(FileError) {
            let folder = try tree.folder(at: folderPath)
            while !output.isFull {
                if let file = current {
                    if files.quarantine(&rejects, of: file, into: &output) { current = nil }
                } else if let index = remaining.first {
                    remaining.removeFirst()
                    let file = reader.read(index, in: folder, with: &files, into: &output)
                    if !output.rejects.isEmpty {
                        rejects = output.takeRejects()[...]
                        current = file
                    }
                } else {
                    return false
                }
            }
            return !remaining.isEmpty || current != nil
        } catch {
            remaining = remaining.upperBound..<remaining.upperBound
            output.report(Problem("unreadable", error.description), path: path)
            return false
        }
    }
}

/// A reader that passes each file of a ``FileStore`` to the store's ``FileReader``.
private struct ParsedFileReader: FileScanReader {
    let store: any FileStore
    let options: ScanOptions
    var reader: any FileReader
    /// The name of the current file.
    ///
    /// Its memory is reused for the next name.
    var name: [UInt8] = []

    mutating func read(
        _ index: Int, in folder: borrowing Folder, with files: inout StoreFileBuffer, into output: inout ScanOutput
    ) -> StoreFile? {
        let path = store.path(ofFile: index, name: &name)
        let file = StoreFile(
            name: name, path: path, kind: store.kind, credentials: store.carriesCredentials ? .always : .never)
        guard files.read(file, limit: store.sizeLimit, in: folder, options, into: &output) else { return nil }
        output.path = path
        reader.read(files.contents, file: index, into: &output)
        return file
    }
}

/// The name, path and properties of a store file.
public struct StoreFile: Sendable {
    /// The name of the file in its folder.
    public let name: [UInt8]
    /// The path of the file in the capture.
    public let path: String
    /// The kind of the store that the file belongs to.
    public let kind: StoreKind
    /// The condition under which the file can contain credentials.
    ///
    /// Only the hash of such a file is put into quarantine.
    public let credentials: Credentials

    /// The condition under which a file can contain credentials.
    public enum Credentials: Sendable {
        /// The file never contains credentials.
        case never
        /// The file can always contain credentials.
        case always
        /// The file can contain credentials if the given string occurs in its contents.
        case ifContaining(String)
    }

    /// Creates a store file.
    public init(name: [UInt8], path: String, kind: StoreKind, credentials: Credentials) {
        self.name = name
        self.path = path
        self.kind = kind
        self.credentials = credentials
    }

    /// Returns whether a file with the given contents can contain credentials.
    fileprivate func carriesCredentials(_ contents: [UInt8]) -> Bool {
        switch credentials {
        case .never: false
        case .always: true
        case .ifContaining(let text): contents.contains(text: text)
        }
    }
}

/// A reusable buffer for the contents of one store file at a time.
public struct StoreFileBuffer: Sendable {
    /// The contents of the file that was read last.
    public private(set) var contents: [UInt8] = []

    /// Creates an empty buffer.
    public init() {}

    /// Reads a file into ``contents``, and returns whether it can be parsed.
    public mutating func read(
        _ file: StoreFile, limit: FileSizeLimit, in folder: borrowing Folder, _ options: ScanOptions,
        into output: inout ScanOutput
    ) -> Bool {
        do throws(FileError) {
            try folder.readListed(file.name, limit: limit.bytes, into: &contents)
            output.bytesRead += contents.count
            return true
        } catch {
            guard error.isTooLarge else {
                output.report(Problem("unreadable", error.description), path: file.path)
                return false
            }
        }
        quarantineTooLarge(file, limit: limit, in: folder, options, into: &output)
        return false
    }

    private mutating func quarantineTooLarge(
        _ file: StoreFile, limit: FileSizeLimit, in folder: borrowing Folder, _ options: ScanOptions,
        into output: inout ScanOutput
    ) {
        do throws(FileError) {
            try folder.read(file.name, limit: options.quarantineFileLimit, into: &contents)
            output.quarantine(
                Reject("\(limit.code) more than \(limit.bytes >> 20) MiB"), of: contents, path: file.path,
                kind: file.kind, carriesCredentials: file.carriesCredentials(contents))
        } catch {
            let kept = options.quarantineFileLimit >> 20
            let reason =
                error.isTooLarge
                ? "too-large: more than \(limit.bytes >> 20) MiB; only files of \(kept) MiB are kept"
                : error.description
            output.report(Problem("unreadable", reason), path: file.path)
        }
    }

    /// Puts all rejects in `output` into quarantine.
    ///
    /// The rejects must be from `file`. This method is for stores whose files are read together.
    public func quarantineRejects(of file: StoreFile, in output: inout ScanOutput) {
        quarantine(output.takeRejects()[...], file, into: &output)
    }

    /// Moves rejects into quarantine until the output is full.
    ///
    /// Returns whether all rejects were moved.
    public func quarantine(_ rejects: inout ArraySlice<Reject>, of file: StoreFile, into output: inout ScanOutput)
        -> Bool
    {
        let count = min(rejects.count, output.remainingDetailCount)
        quarantine(rejects.prefix(count), file, into: &output)
        rejects.removeFirst(count)
        return rejects.isEmpty
    }

    private func quarantine(_ rejects: ArraySlice<Reject>, _ file: StoreFile, into output: inout ScanOutput) {
        guard !rejects.isEmpty else { return }
        let carriesCredentials = file.carriesCredentials(contents)
        for reject in rejects {
            output.quarantine(
                reject, of: contents, path: file.path, kind: file.kind, carriesCredentials: carriesCredentials)
        }
    }
}

/// A store that is a single file.
public protocol SingleFileStore: FileStore {
    /// The location of the file that the store consists of.
    var location: FileLocation { get }
}

extension SingleFileStore {
    /// The path of the file.
    public var path: String { location.path }
    /// The path of the folder that contains the file.
    public var folderPath: String { location.folderPath }

    /// Returns the path of the file, and sets `name` to its name.
    public func path(ofFile index: Int, name: inout [UInt8]) -> String {
        name = location.name
        return path
    }
}

/// The location of a file, stored compactly because a capture can have hundreds of thousands of stores.
public struct FileLocation: Sendable {
    /// The path relative to the root of the capture.
    public let path: String
    private let folderLength: UInt32
    private let nameLength: UInt32

    /// Creates the location of a file in a folder.
    public init(name: String, in folder: borrowing InspectedFolder) {
        let name = Array(name.utf8)
        path = folder.path(of: name)
        folderLength = UInt32(folder.path.utf8.count)
        nameLength = UInt32(name.count)
    }

    /// The path of the folder that contains the file.
    public var folderPath: String { String(decoding: path.utf8.prefix(Int(folderLength)), as: UTF8.self) }

    /// The name of the file as UTF-8 bytes.
    public var name: [UInt8] { Array(path.utf8.suffix(Int(nameLength))) }

    /// Returns the contents of the file, or `nil` if it cannot be read or has more than `limit` bytes.
    public func contents(in tree: FileTree, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        guard (try? tree.folder(at: folderPath).read(name, limit: limit, into: &bytes)) != nil else { return nil }
        return bytes
    }
}

/// The maximum size of a store file.
///
/// Larger files are put into quarantine instead of being parsed.
public struct FileSizeLimit: Sendable, Equatable {
    /// The maximum size in bytes.
    public let bytes: Int
    /// The quarantine code for larger files.
    public let code: String

    /// The limit for files without a documented limit.
    public static let usual = FileSizeLimit(bytes: InputLimits.storeFileSize, code: "too-large")

    /// Creates a limit.
    public init(bytes: Int, code: String) {
        self.bytes = bytes
        self.code = code
    }
}
