#ifndef PINGFERRY_CPROCESSES_H
#define PINGFERRY_CPROCESSES_H

#include <stddef.h>

/// Starts a program with three open files as its standard input, output and error. The program also inherits all open
/// files that do not have the close-on-exec flag. All signals have their default handling and are not blocked. Returns
/// 0 or an errno code.
int cprocesses_start(
    const char *path, char *const arguments[], char *const environment[], int input, int output, int errors, int *process);

/// Creates a pipe with the close-on-exec flag. Returns 0 or an errno code.
int cprocesses_pipe(int ends[2]);

/// Creates a file in memory with the close-on-exec flag. Returns a descriptor, or -1 with errno set.
int cprocesses_memory_file(const char *name);

/// Writes all bytes to a pipe. Returns 0 or an errno code: EPIPE, without a SIGPIPE signal, if the reader has closed
/// the pipe.
int cprocesses_write(int pipe, const void *bytes, size_t count);

/// Waits until a process exits. Returns its exit status, 128 + n if signal n ended it, or -1 with errno set.
int cprocesses_wait(int process);

#endif
