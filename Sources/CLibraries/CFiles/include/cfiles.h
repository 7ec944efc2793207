#ifndef PINGFERRY_CFILES_H
#define PINGFERRY_CFILES_H

/// Renames or moves a file unless the new name exists. Returns 0 or an errno code: EEXIST if the name exists, EINVAL or
/// ENOSYS if the file system or the kernel does not support the operation.
int cfiles_rename_no_replace(int folder, const char *from, int to_folder, const char *to);

/// Exchanges two names in a folder. Returns 0 or an errno code: EINVAL or ENOSYS if the file system or the kernel does
/// not support the operation.
int cfiles_rename_exchange(int folder, const char *from, const char *to);

/// Creates an unnamed file with permissions 0600 on the disk of a folder. The file disappears when it is closed, even
/// if the process is killed. Returns a descriptor for reading and writing, or -1 with errno set.
int cfiles_open_unnamed(const char *folder);

/// Starts to write `count` bytes of a file, from `offset` on, to the disk without waiting. If `count` is 0, all bytes
/// from `offset` on are written. Errors are ignored, because a later fsync writes the bytes again.
void cfiles_begin_sync(int file, long long offset, long long count);

/// Registers a temporary file that the signal handler removes. `folder` must stay open until cfiles_partial_release.
/// The handler prints `shown_path` unless it is empty. Returns an index in the table of files, or -1 if the table is
/// full or the name is too long. In that case, the file remains after a signal.
int cfiles_partial_add(int folder, const char *name, const char *shown_path);

/// Registers a temporary folder as cfiles_partial_add does. The signal handler removes all files first, and then the
/// folder if it is empty.
int cfiles_partial_add_folder(int parent, const char *name, const char *shown_path);

/// Unregisters a file or folder before it is renamed or removed. Returns 1, or 0 if a signal has already removed the
/// file or folder and the process is about to end.
int cfiles_partial_claim(int slot);

/// Releases an entry of the table, so that it can be used for another file.
void cfiles_partial_release(int slot);

/// Defers the signals that remove registered files until cfiles_signals_resume. Use it between the creation and the
/// registration of a file, and between cfiles_partial_claim and the next operation on the file. Only a few system calls
/// that do not block may be made in between. Calls may be nested.
void cfiles_signals_defer(void);

/// Ends the deferral. A signal that arrived meanwhile is handled now.
void cfiles_signals_resume(void);

/// Installs handlers for SIGINT, SIGTERM, SIGHUP and SIGPIPE that remove the registered files and then let the signal
/// terminate the process. All handlers except the handler of SIGPIPE write one line that begins with `message` to the
/// standard error. A signal that was ignored when the process started stays ignored. Returns 0 or an errno code.
int cfiles_remove_on_interrupt(const char *message);

/// The contents of the current line of the terminal to which the standard error is connected.
enum cfiles_line {
    cfiles_line_empty,
    /// Text that is erased later, such as progress.
    cfiles_line_temporary,
    /// Text that remains, such as a question.
    cfiles_line_permanent
};

/// Sets the contents of the current line, so that the message of cfiles_remove_on_interrupt and the following prompt of
/// the shell start on a new line.
void cfiles_set_line(enum cfiles_line line);

/// Disables the echo of a terminal and the keys that suspend or quit a program. The interrupt key remains enabled. The
/// signals that remove registered files enable the echo again. Returns 0 or an errno code.
int cfiles_echo_off(int terminal);

/// Restores the original settings of the terminal if cfiles_echo_off changed them.
void cfiles_echo_on(void);

/// Makes the first SIGINT, SIGTERM or SIGHUP end cfiles_wait_for_stop instead of the process. A second signal ends the
/// process immediately with the exit status 128 + n. A signal that was ignored when the process started stays ignored.
/// The function must be called only once. Returns 0 or an errno code.
int cfiles_catch_stop(void);

/// Installs a handler for SIGUSR1 that only notes the signal. Returns 0 or an errno code.
int cfiles_note_requests(void);

/// Returns whether SIGUSR1 has arrived since the last call.
int cfiles_take_request(void);

/// Waits for SIGINT, SIGTERM, SIGHUP or SIGUSR1. Returns the signal number, or 0 if cfiles_catch_stop did not succeed.
/// SIGUSR1 can arrive any number of times.
int cfiles_wait_for_stop(void);

/// Restores the previous action of a signal that cfiles_catch_stop caught, and sends the signal to this process.
void cfiles_end_by_stop(int number);

/// Locks one byte far beyond the end of an open file without waiting. The lock excludes all other open file
/// descriptions of the file, even in the same process, and ends when the file is closed. Returns 0 or an errno code:
/// EAGAIN or EACCES if the byte is already locked.
int cfiles_lock_beyond_end(int file);

/// Unlocks the byte that cfiles_lock_beyond_end locked. Returns 0 or an errno code.
int cfiles_unlock_beyond_end(int file);

/// Raises the limit for open files, which is often 1024, as far as the system allows it. Errors are ignored, because
/// opening further files reports them.
void cfiles_raise_open_file_limit(void);

#endif
