/// The error for an archive that is incomplete or uses a feature that the fast readers do not support.
///
/// The error has no details, because libarchive then reads the archive again and reports what is wrong.
struct RequiresLibarchive: Error {}
