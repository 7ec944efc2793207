#ifndef PINGFERRY_CFILES_H
#define PINGFERRY_CFILES_H

/// Renames within an open folder unless the new name exists. 0, or an errno code (EEXIST; EINVAL or
/// ENOSYS where the file system or kernel cannot do it).
int cfiles_rename_no_replace(int folder, const char *from, int to_folder, const char *to);

/// Exchanges two names within an open folder. 0, or an errno code (EINVAL or ENOSYS where the file system or kernel cannot
/// do it).
int cfiles_rename_exchange(int folder, const char *from, const char *to);

/// Opens a new file without a name in a folder, for reading and writing, mode 0600: nothing of it is left when it is
/// closed, however the process ends. A descriptor, or -1 with errno set.
int cfiles_open_unnamed(const char *folder);

/// Begins to bring to the disk what was written to a file, from an offset on so many bytes (0: up to the end), without
/// waiting: less is left for fsync then. What cannot be begun is done by fsync.
void cfiles_begin_sync(int file, long long offset, long long count);

/// Records a temporary file that a signal is to remove. `folder` must stay open until
/// cfiles_partial_release. A slot, or -1 when the table is full or a name too long: the file then
/// simply stays behind after a signal.
/// An empty `shown_path` is not told.
int cfiles_partial_add(int folder, const char *name, const char *shown_path);

/// Records a temporary folder likewise. A signal removes it after all files, if it is empty then.
int cfiles_partial_add_folder(int parent, const char *name, const char *shown_path);

/// Takes the file away from the signal handler, before it is renamed or removed. 1 when the caller has it
/// now; 0 when a signal has removed it, and the process is about to end.
int cfiles_partial_take(int slot);

/// Gives the slot back.
void cfiles_partial_release(int slot);

/// Makes the signals that remove recorded files wait until cfiles_signals_let_go: between the making of a file and its record,
/// and between cfiles_partial_take and what is done with the file. For a few system calls that do not wait; may nest.
void cfiles_signals_hold(void);

/// Ends that. A signal that came meanwhile does its work now.
void cfiles_signals_let_go(void);

/// Makes SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the recorded files, write one line that starts with
/// `message` to standard error (not for SIGPIPE), and end the process as the signal by itself would.
/// A signal that was ignored when the process started stays ignored. 0, or an errno code.
int cfiles_remove_on_interrupt(const char *message);

/// What stands on the line of the terminal that standard error is, where its cursor is.
enum cfiles_line {
    cfiles_line_empty,
    /// Something that is taken away when it is not needed any more: progress.
    cfiles_line_passing,
    /// Something that stays: a question.
    cfiles_line_staying
};

/// Tells what stands there, so that the message of cfiles_remove_on_interrupt, and the prompt of the shell after it, begin on
/// a line of their own.
void cfiles_set_line(enum cfiles_line line);

/// Turns the echo of an open terminal off, and the keys that stop or quit a program; the one that interrupts it stays. The
/// signals that remove recorded files turn it on again. 0, or an errno code.
int cfiles_echo_off(int terminal);

/// Turns it on again, as it was. May be called when it is on.
void cfiles_echo_on(void);

/// Makes the first SIGINT, SIGTERM or SIGHUP end cfiles_wait_for_stop instead of the process; a second one ends the
/// process at once, with exit status 128 + n. A signal that was ignored when the process started stays ignored. To be
/// called once. 0, or an errno code.
int cfiles_catch_stop(void);

/// Waits for such a signal. Its number; 0 if there is nothing to wait for.
int cfiles_wait_for_stop(void);

/// Locks one byte of an open file, far beyond its end, against all other openings of the file, also by other names and in this
/// process; without waiting. The lock belongs to the opening and ends when that is closed. 0, or an errno code (EAGAIN or
/// EACCES while somebody else has it).
int cfiles_lock_beyond_end(int file);

/// Unlocks it. 0, or an errno code.
int cfiles_unlock_beyond_end(int file);

/// Lets the process have many files open at once, as far as the system allows it: the limit that it starts with is often 1024,
/// and everybody may raise it. What is not allowed shows when a file is opened.
void cfiles_allow_many_open_files(void);

#endif
