import Files

/// A database and its companions, copied into files without names.
public struct DatabaseCopy: Sendable {
    let main: SpoolFile
    let journal: SpoolFile
    let writeAheadLog: SpoolFile
    let hasJournal: Bool
    let hasWriteAheadLog: Bool
    /// The bytes of all of them.
    public let size: Int
    /// None of them may grow beyond this.
    let sizeLimit: Int

    /// Copies the database and what belongs to it.
    ///
    /// - Parameters:
    ///   - main: the database.
    ///   - journal: a copy of the journal, or nil if there is none.
    ///   - writeAheadLog: a copy of the write-ahead log, or nil if there is none.
    ///   - size: the bytes of all of them.
    ///   - sizeLimit: what none of them may grow beyond.
    /// - Throws: `FileError` if no room for a companion that SQLite may make can be had.
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
