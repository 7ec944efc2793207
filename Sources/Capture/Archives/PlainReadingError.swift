/// Why an archive is not read in the short way.
enum PlainReadingError: Error {
    /// It is not plain, or not whole. What is wrong with it, libarchive has to tell.
    case notPlain
    /// libarchive would fail in the same way.
    case failed(ArchiveError)
}
