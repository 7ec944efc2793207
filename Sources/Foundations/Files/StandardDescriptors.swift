import Glibc

/// The descriptors 0, 1 and 2.
public enum StandardDescriptors {
    /// Opens those that the caller left closed, so that no file of ours gets their number and then a message in it.
    ///
    /// What takes their place cannot be written to: a result that has nowhere to go remains an error.
    public static func reserve() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) == -1 {
            // The lowest free number, which is this one. Held until the program ends.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
