/// The error for an archive that is damaged or requires a feature that only libarchive supports.
///
/// The error has no details, because libarchive then reads the archive again and reports the cause.
struct RequiresLibarchive: Error {}
