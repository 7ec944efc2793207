import Files

/// A copy of a database, its journal and its write-ahead log in three unnamed files.
public struct DatabaseCopy: Sendable {
    let main: SpoolFile
    let journal: SpoolFile
    let writeAheadLog: SpoolFile
    let hasJournal: Bool
    let hasWriteAheadLog: Bool
    /// The total size of the files, in bytes.
    public let size: Int
    /// The maximum size of each file, in bytes.
    let sizeLimit: Int

    /// Creates a copy from the copied files.
    ///
    /// An empty file is created for a missing journal or write-ahead log, because SQLite may write to it.
    ///
    /// - Parameters:
    ///   - main: The copy of the database.
    ///   - journal: The copy of the journal, or `nil` if there is none.
    ///   - writeAheadLog: The copy of the write-ahead log, or `nil` if there is none.
    ///   - size: The total size of the files, in bytes.
    ///   - sizeLimit: The maximum size of each file while SQLite uses it, in bytes.
    /// - Throws: `FileError` if an empty file cannot be created.
    public init(
        main: SpoolFile, journal: SpoolFile?, writeAheadLog: SpoolFile?, size: Int, sizeLimit: Int
    ) throws(FileError) {
        self.main = main
        self.sizeLimit = sizeLimit
        hasJournal = journal != nil
        hasWriteAheadLog = writeAheadLog != nil
        if let journal { self.journal = journal } else { self.journal = try SpoolFile(in: main.folder) }
        if let writeAheadLog {
            self.writeAheadLog = writeAheadLog
        } else {
            self.writeAheadLog = try SpoolFile(in: main.folder)
        }
        self.size = size
    }
}
