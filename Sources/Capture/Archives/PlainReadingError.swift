import Files

/// Why an archive is not read in the short way.
enum PlainReadingError: Error {
    /// It is not plain, or not whole. What is wrong with it, libarchive has to tell.
    case notPlain
    /// libarchive would fail in the same way.
    case failed(ArchiveError)

    /// Hands on what a body returns.
    /// - Throws: `notPlain` for whatever the body throws.
    static func asNotPlain<Output>(_ body: () throws -> Output) throws(PlainReadingError) -> Output {
        do {
            return try body()
        } catch {
            throw .notPlain
        }
    }
}

extension ArchiveSpooler {
    /// Takes a member of a plain archive but for its contents; see ``takeHeader(of:)``.
    /// - Throws: `failed` beyond the limits.
    mutating func takePlainHeader(of member: ArchiveReader.Member) throws(PlainReadingError) -> MemberPath? {
        do throws(ArchiveError) {
            try checkLimits()
            return takeHeader(of: member)
        } catch {
            throw .failed(error)
        }
    }

    /// Spools bytes of a plain archive.
    func appendPlain(_ bytes: Span<UInt8>) throws(PlainReadingError) {
        do throws(FileError) {
            try spool.append(bytes)
        } catch {
            throw .failed(ArchiveError(.file(error)))
        }
    }
}
