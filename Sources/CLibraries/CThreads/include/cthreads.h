#ifndef PINGFERRY_CTHREADS_H
#define PINGFERRY_CTHREADS_H

/// From now on, ends the process with a message and the exit status `status` if a thread cannot be created within one
/// second. Otherwise the dispatch library would try again indefinitely.
void cthreads_exit_if_no_thread(const char *program, int status);

/// Configures the heap so that large blocks are allocated outside of it. If the address space is limited, all threads
/// share one heap. Otherwise the C library would try to reserve a heap of 128 MiB for the thread at each allocation,
/// which takes hundreds of times as long. Returns 0 or an errno code.
int cthreads_set_up_heap(void);

#endif
