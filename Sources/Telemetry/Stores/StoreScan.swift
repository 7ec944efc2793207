import Bytes
import Files
import Hashing

/// A scan of a store, which can be interrupted between two steps.
public protocol StoreScan: Sendable {
    /// Reads the next part of the store, such as a file or a row.
    ///
    /// - Returns: Whether there is more to read.
    /// - Throws: `FileError` with the operation `spool` if there is no space for a required copy, and other errors of
    ///   `output`. The findings must not be used then. Another `FileError` means that the rest of the store is
    ///   unreadable. All other errors are reported as problems or rejects.
    mutating func read(into output: inout ScanOutput) throws -> Bool
}

/// A scan that reads the files of a store in their order.
struct FileScan: StoreScan {
    private let store: any Store
    private let context: StoreContext
    private var remaining: Range<Int>
    private var reader: any StoreReader
    /// The folder of the files, or `nil` before the first file is read.
    private var folder: SharedFolder?
    /// The first of the remaining files, if a part of it was read.
    private var current: OpenFile?
    /// The contents of the last file, whose memory is reused.
    private var contents: [UInt8] = []

    /// Creates a scan of the files with the given indices.
    init(_ files: Range<Int>, of store: any Store, in context: StoreContext) {
        self.store = store
        self.context = context
        remaining = files
        reader = store.makeReader(in: context)
    }

    mutating func read(into output: inout ScanOutput) throws -> Bool {
        if let index = remaining.first {
            do throws(FileError) {
                if folder == nil { folder = SharedFolder(try context.tree.folder(at: store.folderPath)) }
            } catch {
                output.report(Problem("unreadable", error.description), path: store.path)
                remaining = remaining.upperBound..<remaining.upperBound
            }
            if let folder, try !readFile(at: index, in: folder.folder, into: &output) { remaining.removeFirst() }
        }
        guard remaining.isEmpty else { return true }
        // The memory is freed, because a reader may need as much for its records.
        contents = []
        return try reader.finish(into: &output)
    }

    /// Reads a file or a part of it, and returns whether there is more of it.
    private mutating func readFile(
        at index: Int, in folder: borrowing Folder, into output: inout ScanOutput
    ) throws -> Bool {
        if current == nil {
            guard let file = store.file(at: index) else {
                // The report is created only if the options request it, because creating it can open hundreds of files.
                if context.options.reportsQueues, let report = store.report(in: context) { output.report(report) }
                return false
            }
            current = try open(file, in: folder, into: &output)
        }
        guard var file = current.take() else { return false }
        let source = Source(capture: context.capture, path: file.file.path, store: file.file.kind, index: 0)
        let hasMore = try output.withFile(&file) { try reader.read(contents, ofFile: index, from: source, into: &$0) }
        if hasMore { current = file }
        return hasMore
    }

    /// Reads the contents of a file, or reports why it is not parsed and returns `nil`.
    private mutating func open(
        _ file: StoreFile, in folder: borrowing Folder, into output: inout ScanOutput
    ) throws -> OpenFile? {
        do throws(FileError) {
            try folder.readListed(file.name, limit: file.sizeLimit.bytes, into: &contents)
            output.bytesRead += contents.count
            return OpenFile(file, contents: .bytes(contents))
        } catch {
            guard error.isTooLarge else {
                output.report(Problem("unreadable", error.description), path: file.path)
                return nil
            }
        }
        if let problem = file.problemIfTooLarge {
            output.report(problem, path: file.path)
        } else {
            try rejectTooLarge(file, in: folder, into: &output)
        }
        return nil
    }

    private mutating func rejectTooLarge(
        _ file: StoreFile, in folder: borrowing Folder, into output: inout ScanOutput
    ) throws {
        let (size, kept) = (file.sizeLimit.bytes >> 20, context.options.quarantineFileLimit)
        do throws(FileError) {
            try folder.read(file.name, limit: kept, into: &contents)
        } catch {
            let reason =
                error.isTooLarge
                ? "too-large: more than \(size) MiB; only files of \(kept >> 20) MiB are kept" : error.description
            return output.report(Problem("unreadable", reason), path: file.path)
        }
        var open = OpenFile(file, contents: .bytes(contents))
        try output.withFile(&open) { try $0.reject(Reject("\(file.sizeLimit.code) more than \(size) MiB")) }
    }
}

// MARK: - Files

/// The name, path and properties of a store file.
public struct StoreFile: Sendable {
    /// The name of the file, relative to ``Store/folderPath``.
    public let name: [UInt8]
    /// The path of the file in the capture.
    public let path: String
    /// The kind of the store that the file belongs to.
    public let kind: StoreKind
    /// The condition under which the file can contain credentials.
    ///
    /// Only the hash of such a file is put into quarantine.
    public let credentials: Credentials
    /// The maximum size of a file that is parsed.
    public let sizeLimit: FileSizeLimit
    /// The problem that is reported instead of putting a larger file into quarantine, or `nil` if it is kept there.
    public let problemIfTooLarge: Problem?

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
    public init(
        name: [UInt8], path: String, kind: StoreKind, credentials: Credentials = .never,
        sizeLimit: FileSizeLimit = .usual, problemIfTooLarge: Problem? = nil
    ) {
        self.name = name
        self.path = path
        self.kind = kind
        self.credentials = credentials
        self.sizeLimit = sizeLimit
        self.problemIfTooLarge = problemIfTooLarge
    }
}

/// A store file whose rejects are put into quarantine.
public struct OpenFile: Sendable {
    /// The contents of a file.
    public enum Contents: Sendable {
        case bytes([UInt8])
        /// The contents of a file that can be too large for memory.
        case source(ByteSource)
    }

    /// The name, path and properties of the file.
    public let file: StoreFile
    private let contents: Contents
    /// The hash of the whole file, if it was computed, because a file can have many rejects.
    private var sha256: ContentHash?
    private var knownCredentials: Bool?

    /// Creates a file with the given contents.
    public init(_ file: StoreFile, contents: Contents) {
        self.file = file
        self.contents = contents
    }

    /// The state of an output between files.
    static let none = OpenFile(StoreFile(name: [], path: "", kind: StoreKind("")), contents: .bytes([]))

    /// Whether the whole file was put into quarantine.
    public var isQuarantined: Bool { sha256 != nil }

    /// The number of bytes in the file.
    public var count: Int {
        switch contents {
        case .bytes(let bytes): bytes.count
        case .source(let source): source.count
        }
    }

    /// Whether the file can contain credentials.
    var carriesCredentials: Bool {
        mutating get throws(FileError) {
            if let knownCredentials { return knownCredentials }
            let found =
                switch (file.credentials, contents) {
                case (.never, _): false
                case (.always, _): true
                case (.ifContaining(let text), .bytes(let bytes)): bytes.contains(text: text)
                case (.ifContaining(let text), .source(let source)):
                    try source.bytes(at: 0, count: source.count).contains(text: text)
                }
            knownCredentials = found
            return found
        }
    }

    /// Returns the hash of a range, and stores its bytes in `spool` unless there are more than `limit`.
    ///
    /// - Throws: `FileError` if the file cannot be read, or with the operation `spool`.
    mutating func hash(
        _ range: Range<Int>, storingIn spool: QuarantineSpool?, limit: Int
    ) throws(FileError) -> ContentHash {
        let isWhole = range.count == count
        if isWhole, let sha256 { return sha256 }
        let found: ContentHash
        switch contents {
        case .source(let source) where range.count > limit || spool == nil:
            var hash = SHA256()
            try source.forEachChunk(in: range) { bytes, _ throws(FileError) in hash.update(bytes.span) }
            found = hash.finalize()
        case .source(let source):
            let bytes = try source.bytes(at: range.lowerBound, count: range.count)
            found = SHA256.hash(bytes.span)
            try spool?.store(bytes.span, sha256: found)
        case .bytes(let bytes):
            found = SHA256.hash(bytes.span.extracting(range))
            if range.count <= limit { try spool?.store(bytes.span.extracting(range), sha256: found) }
        }
        if isWhole { sha256 = found }
        return found
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
    /// The limit for keyed archives of queues, which is larger because nothing limits the length of a queue.
    public static let keyedArchive = FileSizeLimit(bytes: InputLimits.keyedArchiveSize, code: usual.code)

    /// Creates a limit.
    public init(bytes: Int, code: String) {
        self.bytes = bytes
        self.code = code
    }
}
