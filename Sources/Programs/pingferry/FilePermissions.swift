import ArgumentParser
import Glibc

/// The permissions of a file that a command writes, as an option gives them: octal digits, such as `0640`.
struct FilePermissions: ExpressibleByArgument, Equatable {
    /// The permission bits.
    let mode: mode_t

    /// The permissions of a file that its owner alone can read.
    static let ownerOnly = Self(mode: S_IRUSR | S_IWUSR)

    private init(mode: mode_t) { self.mode = mode }

    /// Parses octal digits. Returns `nil` if there are not three or four of them, if the owner could not read and write the file,
    /// or if it could be executed.
    init?(argument: String) {
        let digits = argument.utf8
        guard (3...4).contains(digits.count), digits.first != UInt8(ascii: "+"),
            let mode = mode_t(argument, radix: 8), mode & ~0o066 == Self.ownerOnly.mode
        else { return nil }
        self.mode = mode
    }

    var defaultValueDescription: String { "0600" }
}
