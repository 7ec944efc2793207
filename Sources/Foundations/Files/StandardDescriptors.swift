import Glibc

/// The file descriptors 0, 1 and 2.
public enum StandardDescriptors {
    /// Opens the standard descriptors that are closed, so that no other file gets one of their numbers and receives
    /// messages.
    ///
    /// The replacements are read-only, so that writing a result to a closed standard output remains an error.
    public static func reserve() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) == -1 {
            // `open` returns the lowest unused number, which is `number`. It stays open until the process ends.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
