#ifndef PINGFERRY_CTHREADS_H
#define PINGFERRY_CTHREADS_H

/// From now on, a thread that cannot be made ends the process with a message and an exit status, after a second of further
/// attempts. The libraries below would wait for one for ever, or trap.
void cthreads_end_without_thread(const char *program, int status);

/// Keeps large blocks out of the heap. Makes all threads share one heap where address space is limited: the C library would
/// try at each allocation to reserve a heap for the thread, 128 MiB, and so take hundreds of times as long. 0, or an errno
/// code.
int cthreads_set_up_heap(void);

/// Makes threads that all live at once, those that are to work with stacks of the usual size and idle ones with small stacks,
/// and takes so many bytes of address space beside them; gives all back. 0, or an errno code.
int cthreads_try(int working, int idle, unsigned long bytes);

#endif
