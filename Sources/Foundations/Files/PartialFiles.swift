import CFiles

/// Removal of the temporary files of this process when a signal interrupts it.
public enum PartialFiles {
    /// Installs handlers for SIGINT, SIGTERM, SIGHUP and SIGPIPE that remove the temporary files and end the process.
    ///
    /// The signal then terminates the process. All handlers except the handler of SIGPIPE write one line to the
    /// standard error:
    ///
    ///     pingferry: interrupted; nothing was written to out.tar.zst
    ///
    /// A signal that was ignored when the process started, as with `nohup`, stays ignored. An output that `commit` has
    /// begun to rename is not removed. The handler is a C signal handler and not a dispatch source, so that it works
    /// while all threads are busy.
    ///
    /// - Parameter message: The beginning of the line, at most 255 bytes. The paths of the outputs are appended.
    /// - Throws: `FileError` if a handler cannot be installed.
    public static func removeOnInterrupt(message: String) throws(FileError) {
        let code = cfiles_remove_on_interrupt(message)
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }
}
