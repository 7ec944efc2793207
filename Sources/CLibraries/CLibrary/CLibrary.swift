// The C library of the platform. Other files import this module, so that only this file depends on the platform.

#if canImport(Glibc)
    @_exported import Glibc

    /// `SEEK_HOLE` of `<unistd.h>`, which Swift does not import.
    public let seekHole: Int32 = 4

    /// The initial value of the variable to which `pthread_create` writes the handle of a thread.
    public let noThread = pthread_t()
#elseif canImport(Darwin)
    @_exported import Darwin

    /// `SEEK_HOLE` of `<unistd.h>`.
    public let seekHole = SEEK_HOLE

    /// The initial value of the variable to which `pthread_create` writes the handle of a thread.
    public var noThread: pthread_t? { nil }

    extension stat {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The time of the last modification, under its name in POSIX.
        public var st_mtim: timespec { st_mtimespec }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Overwrites bytes with zeros in a way that the compiler cannot optimize away.
    public func explicit_bzero(_ bytes: UnsafeMutableRawPointer, _ count: Int) { memset_s(bytes, count, 0, count) }
#endif
