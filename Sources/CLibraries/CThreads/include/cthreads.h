#ifndef PINGFERRY_CTHREADS_H
#define PINGFERRY_CTHREADS_H

/// Ends the process with a message and an exit status when a thread cannot be created from now on, after a second of further
/// attempts. The dispatch library would try without end.
void cthreads_end_without_thread(const char *program, int status);

/// Keeps large blocks out of the heap. Makes all threads share one heap where address space is limited: the C library would
/// try at each allocation to reserve a heap for the thread, 128 MiB, and so take hundreds of times as long. 0, or an errno
/// code.
int cthreads_set_up_heap(void);

#endif
