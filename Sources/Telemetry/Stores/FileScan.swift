import Bytes
import Files

/// A store of files that are parsed one by one, each by itself.
public protocol FileStore: Store {
    /// The path of the folder that the files are opened in.
    var folderPath: String { get }
    /// The path of a file in the capture, by its place in the order of the store.
    /// - Parameter name: replaced by the name by which it is opened in ``folderPath``.
    func path(ofFile index: Int, name: inout [UInt8]) -> String
    /// How large a file may be that is parsed.
    var sizeLimit: FileSizeLimit { get }
    /// Whether the bytes of the files may hold credentials, so that only their hashes are listed.
    var carriesCredentials: Bool { get }
    /// Makes what turns bytes into records. One serves one thread at a time and keeps its memory.
    func makeReader(in context: StoreContext) -> any FileReader
}

/// Turns the bytes of store files into records.
public protocol FileReader: Sendable {
    /// Reads the bytes of one file.
    /// - Parameters:
    ///   - index: the place of the file in the order of the store.
    ///   - output: takes what is found; it tells the path of the file.
    mutating func read(_ bytes: [UInt8], file index: Int, into output: inout ScanOutput)
}

extension FileStore {
    /// Returns a scan of some of the files.
    public func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        let reader = ParsedFileReader(store: self, options: context.options, reader: makeReader(in: context))
        return FileScan(files, ofStoreAt: path, inFolderAt: folderPath, of: context.tree, using: reader)
    }
}

/// Reads the files of a store for a ``FileScan``, one at a time.
public protocol FileScanReader: Sendable {
    /// Reads a file.
    /// - Parameters:
    ///   - index: The index of the file in the order of the store.
    ///   - folder: The folder that the files of the store are opened in.
    ///   - files: Reads the bytes of the file.
    ///   - output: Receives the findings. Its rejects are put into quarantine, with the bytes that `files` holds.
    /// - Returns: The file that the rejects belong to. Returns `nil` if no file was read.
    mutating func read(
        _ index: Int, in folder: borrowing Folder, with files: inout StoreFileReading, into output: inout ScanOutput
    ) -> StoreFile?
}

/// A scan that reads the files of a store one after another, and puts their rejects into quarantine.
public struct FileScan<Reader: FileScanReader>: StoreScan {
    private let path: String
    private let folderPath: String
    private let tree: FileTree
    private var left: Range<Int>
    private var reader: Reader
    private var files = StoreFileReading()
    /// The file that was read last, if some of its rejects are not in quarantine yet.
    private var current: StoreFile?
    /// These rejects.
    private var rejects: [Reject] = []

    /// Creates a scan.
    /// - Parameters:
    ///   - files: The indices of the files to read, in the order of the store.
    ///   - path: The path of the store in the capture.
    ///   - folderPath: The path of the folder that the files are opened in.
    ///   - tree: The files of the capture.
    ///   - reader: Reads each file.
    public init(
        _ files: Range<Int>, ofStoreAt path: String, inFolderAt folderPath: String, of tree: FileTree,
        using reader: Reader
    ) {
        left = files
        self.path = path
        self.folderPath = folderPath
        self.tree = tree
        self.reader = reader
    }

    /// Reads files until the output is full or none is left.
    public mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        do throws(FileError) {
            let folder = try tree.folder(at: folderPath)
            while !output.isFull {
                if let file = current {
                    if files.quarantine(&rejects, of: file, into: &output) { current = nil }
                } else if let index = left.first {
                    left.removeFirst()
                    let file = reader.read(index, in: folder, with: &files, into: &output)
                    if !output.rejects.isEmpty {
                        rejects = output.takeRejects()
                        current = file
                    }
                } else {
                    return false
                }
            }
            return !left.isEmpty || current != nil
        } catch {
            left = left.upperBound..<left.upperBound
            output.report(Problem("unreadable", error.description), path: path)
            return false
        }
    }
}

/// Reads the files of a ``FileStore``.
private struct ParsedFileReader: FileScanReader {
    let store: any FileStore
    let options: ScanOptions
    var reader: any FileReader
    /// The name of the file that is being read. Its memory is reused.
    private var name: [UInt8] = []

    init(store: any FileStore, options: ScanOptions, reader: any FileReader) {
        self.store = store
        self.options = options
        self.reader = reader
    }

    mutating func read(
        _ index: Int, in folder: borrowing Folder, with files: inout StoreFileReading, into output: inout ScanOutput
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

/// A file of a store, as far as reading and quarantine have to know it.
public struct StoreFile: Sendable {
    /// The name by which it is opened in its folder.
    public let name: [UInt8]
    /// Its path in the capture.
    public let path: String
    /// How reports name the kind of store that it belongs to.
    public let kind: StoreKind
    /// Whether its bytes may hold credentials, so that only their hash is listed in quarantine.
    public let credentials: Credentials

    /// When the bytes of a file may hold credentials.
    public enum Credentials: Sendable {
        /// The system writes none into such a file.
        case never
        /// Such a file is where the system keeps them, or where others may.
        case always
        /// If this text stands in it, for the file may be another one than its name says.
        case ifItHolds(String)
    }

    /// Names a file.
    public init(name: [UInt8], path: String, kind: StoreKind, credentials: Credentials) {
        self.name = name
        self.path = path
        self.kind = kind
        self.credentials = credentials
    }

    /// Whether these bytes of the file may hold credentials.
    fileprivate func carriesCredentials(_ contents: [UInt8]) -> Bool {
        switch credentials {
        case .never: false
        case .always: true
        case .ifItHolds(let text): contents.contains(text: text)
        }
    }
}

/// The bytes of one store file after another, in memory that is used again; what cannot be read is told.
public struct StoreFileReading: Sendable {
    /// The bytes of the file that was read last.
    public private(set) var contents: [UInt8] = []

    /// Makes a reading without a file.
    public init() {}

    /// Reads a file. One beyond the limit goes to quarantine as it is.
    /// - Returns: whether its bytes are at hand.
    public mutating func read(
        _ file: StoreFile, limit: FileSizeLimit, in folder: borrowing Folder, _ options: ScanOptions,
        into output: inout ScanOutput
    ) -> Bool {
        do throws(FileError) {
            try folder.read(file.name, limit: limit.bytes, into: &contents)
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
                kind: file.kind,
                carriesCredentials: file.carriesCredentials(contents))
        } catch {
            let kept = options.quarantineFileLimit >> 20
            let reason =
                error.isTooLarge
                ? "too-large: more than \(limit.bytes >> 20) MiB; only files of \(kept) MiB are kept"
                : error.description
            output.report(Problem("unreadable", reason), path: file.path)
        }
    }

    /// Puts all rejects of the file into quarantine, for a store whose files are read at once.
    public func quarantineRejects(of file: StoreFile, in output: inout ScanOutput) {
        quarantine(output.takeRejects()[...], file, into: &output)
    }

    /// Puts what could not be understood of the file into quarantine, until the output is full.
    /// - Returns: whether nothing is left.
    public func quarantine(_ rejects: inout [Reject], of file: StoreFile, into output: inout ScanOutput) -> Bool {
        let count = min(rejects.count, output.roomForDetails)
        quarantine(rejects[..<count], file, into: &output)
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

    /// Lets go of the bytes.
    public mutating func removeAll() { contents = [] }
}
