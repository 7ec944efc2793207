import CFiles
import Glibc

/// The limit on the number of files that this process can have open at once.
public enum DescriptorLimit {
    /// Raises the limit as far as the system allows, and returns whether `count` more files can be opened.
    public static func allows(_ count: Int) -> Bool {
        cfiles_raise_open_file_limit()
        var held: [Int32] = []
        defer { for number in held { close(number) } }
        while held.count < count {
            let number = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
            guard number >= 0 else { return false }
            held.append(number)
        }
        return true
    }
}
