import ArgumentParser
import Glibc

/// The permissions of an output file, given as octal digits such as `0640`.
struct FilePermissions: ExpressibleByArgument, Equatable {
    let mode: mode_t

    /// The permissions of a file that only its owner can read and write.
    static let ownerOnly = Self(mode: S_IRUSR | S_IWUSR)

    private init(mode: mode_t) { self.mode = mode }

    /// Parses octal digits, or returns `nil` unless the owner can read and write the file and no one can execute it.
    init?(argument: String) {
        let digits = argument.utf8
        guard (3...4).contains(digits.count), digits.first != UInt8(ascii: "+"),
            let mode = mode_t(argument, radix: 8), mode & ~0o066 == Self.ownerOnly.mode
        else { return nil }
        self.mode = mode
    }

    var defaultValueDescription: String { "0600" }
}
