import CFiles

/// The temporaries of `AtomicOutput` values that exist in this process, for the case of a signal.
public enum PartialFiles {
    /// Lets SIGINT, SIGTERM and SIGHUP remove the temporaries and then end the process as they do by default
    /// (exit status 128 + n in a shell), with one line on standard error:
    ///
    ///     pingferry: interrupted; nothing was written to out.tar.zst
    ///
    /// SIGPIPE removes them in silence. A signal that was ignored on entry (`nohup`) stays ignored. An output
    /// whose commit has begun is left to the committing thread. This is a C signal handler and not a dispatch
    /// source, so it works while every thread is busy.
    ///
    /// - Parameter message: the start of the line, at most 255 bytes; what was not written is added.
    /// - Throws: `FileError` when a handler cannot be installed.
    public static func removeOnInterrupt(message: String) throws(FileError) {
        let code = cfiles_remove_on_interrupt(message)
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }
}
