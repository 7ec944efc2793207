#ifndef PINGFERRY_CPROCESSES_H
#define PINGFERRY_CPROCESSES_H

#include <stddef.h>

/// Starts a program with three open files as its standard input, output and errors; of all other open files it gets those
/// alone that are not closed on exec. It begins with the usual handling of all signals, and none held back. 0, or an errno
/// code.
int cprocesses_start(
    const char *path, char *const arguments[], char *const environment[], int input, int output, int errors, int *process);

/// Makes a pipe whose ends are closed on exec. 0, or an errno code.
int cprocesses_pipe(int ends[2]);

/// Opens a file in memory, closed on exec. A descriptor, or -1 with errno set.
int cprocesses_memory(const char *name);

/// Writes bytes to a pipe, all of them, without a signal where nobody reads any more. 0, or an errno code (EPIPE).
int cprocesses_write(int pipe, const void *bytes, size_t count);

/// Waits for the end of a program. Its exit status; 128 + n where a signal ended it; -1 with errno set.
int cprocesses_wait(int process);

#endif
