import Bytes
import Files
import LiveTables
import Synchronization

/// A folder of schemas of live tables, with files `NAMESPACE/DOCTYPE/DOCTYPE.VERSION.bq`.
///
/// The schemas are those that Mozilla generates, in a copy of the branch `generated-schemas` or in its folder `schemas`.
/// All files are checked when the folder is opened, but their columns are kept only for tables that get rows.
///
/// Source: "BigQuery rows", sections 1 and 2.
public final class SchemaFolder: Sendable {
    /// A file in the folder.
    private struct File: Sendable {
        let namespace, documentType, version: String
        let path: String
    }

    /// The tables of the folder.
    public let index: TableIndex
    private let files: [File]
    private let folder: SharedFolder
    private let path: String
    private let columns = Mutex<[Int: TableColumns]>([:])

    /// The maximum number of files in the folder.
    private static let fileLimit = 100_000
    /// The maximum length of a version in a file name, in bytes.
    private static let versionLimit = 64
    private static let suffix = ".bq"
    /// The folder with the schemas in a copy of the whole branch.
    private static let subfolder = "schemas"

    /// Opens a folder and checks its schemas.
    ///
    /// - Throws: ``LiveTableError``, or `FileError` if the folder or a file in it cannot be read.
    public init(path: String) throws {
        let root = try Folder(path: path)
        var files = try Self.files(in: root, path)
        if files.isEmpty, let inner = try? root.folder(at: Self.subfolder) {
            files = try Self.files(in: inner, Self.subfolder).map {
                File(
                    namespace: $0.namespace, documentType: $0.documentType, version: $0.version,
                    path: Path.entry($0.path, of: Self.subfolder))
            }
        }
        guard !files.isEmpty else { throw LiveTableError(noSchemasIn: path) }
        files.sort { CapturedText($0.path) < CapturedText($1.path) }
        do throws(TableSchemaError) {
            index = try TableIndex(files.map { ($0.namespace, $0.documentType, $0.version) })
        } catch {
            throw LiveTableError(path, error)
        }
        self.files = files
        self.path = path
        folder = SharedFolder(root)
        for index in files.indices { _ = try readColumns(index) }
    }

    /// Returns the schema files in a folder, with their paths relative to it.
    private static func files(in root: borrowing Folder, _ path: String) throws -> [File] {
        var files: [File] = []
        for namespace in try folders(in: root) {
            let outer = try root.folder(at: namespace)
            for documentType in try folders(in: outer) {
                let inner = try outer.folder(at: documentType)
                for entry in try inner.entries() where entry.kind == .file {
                    guard let version = try version(in: entry.text, of: documentType) else { continue }
                    guard files.count < fileLimit else {
                        throw LiveTableError(path, TableSchemaError("more than \(fileLimit) schemas"))
                    }
                    files.append(
                        File(
                            namespace: namespace, documentType: documentType, version: version,
                            path: "\(namespace)/\(documentType)/\(entry.text)"))
                }
            }
        }
        return files
    }

    private static func folders(in folder: borrowing Folder) throws -> [String] {
        try folder.entries().filter { $0.kind == .folder }.map(\.text)
    }

    /// Returns the version in the name of a schema file, or `nil` if the name is not that of a schema.
    private static func version(in name: String, of documentType: String) throws -> String? {
        let prefix = "\(documentType)."
        guard name.utf8.starts(with: prefix.utf8), name.utf8.count > prefix.utf8.count + suffix.utf8.count,
            name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        let version = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        // The version is a part of file names and commands.
        guard version.count <= versionLimit,
            version.allSatisfy({ $0.isLetter || $0.isDigit || $0.isOne(of: "._-") })
        else { throw LiveTableError(name, TableSchemaError("the version in the name has unexpected characters")) }
        return String(Substring(version))
    }

    /// Returns the columns of a table.
    func columns(of table: Int) throws -> TableColumns {
        if let known = columns.withLock({ $0[table] }) { return known }
        let read = try readColumns(table)
        columns.withLock { $0[table] = read }
        return read
    }

    private func readColumns(_ table: Int) throws -> TableColumns {
        let contents = try contents(of: table)
        do throws(TableSchemaError) {
            return try TableSchema.columns(in: contents)
        } catch {
            throw LiveTableError(Path.entry(files[table].path, of: path), error)
        }
    }

    /// Returns the bytes of a schema file.
    func contents(of table: Int) throws -> [UInt8] {
        var contents: [UInt8] = []
        try folder.folder.read(Array(files[table].path.utf8), limit: TableSchema.sizeLimit, into: &contents)
        return contents
    }
}

/// An error in a file that `convert --to bigquery` needs.
public struct LiveTableError: Error, Sendable, CustomStringConvertible {
    /// The path and the reason.
    public let description: String
    /// A suggestion of what to do next.
    public let remedy: String
    /// Whether a file is missing, as opposed to malformed.
    public let isMissing: Bool

    init(_ description: String, remedy: String, isMissing: Bool = false) {
        self.description = description
        self.remedy = remedy
        self.isMissing = isMissing
    }

    fileprivate init(_ path: String, _ error: TableSchemaError) {
        self.init(
            "\(path): not a schema: \(error)",
            remedy: "copy the file from the branch generated-schemas of the pipeline's schemas again, or remove it")
    }

    fileprivate init(noSchemasIn path: String) {
        self.init(
            "\(path): no file NAMESPACE/DOCTYPE/DOCTYPE.VERSION.bq",
            remedy: "pass the folder schemas of a copy of the branch generated-schemas of the pipeline's schemas",
            isMissing: true)
    }
}
