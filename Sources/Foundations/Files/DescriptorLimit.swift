import CFiles
import Glibc

/// The limit on the number of files that this process can keep open at the same time.
public enum DescriptorLimit {
    /// Raises the limit as far as the system allows, and returns whether `count` more files can be opened.
    public static func allowsOpening(_ count: Int) -> Bool {
        cfiles_raise_open_file_limit()
        var openDescriptors: [Int32] = []
        defer { for number in openDescriptors { close(number) } }
        while openDescriptors.count < count {
            let number = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
            guard number >= 0 else { return false }
            openDescriptors.append(number)
        }
        return true
    }
}
