#ifndef PINGFERRY_CTHREADS_H
#define PINGFERRY_CTHREADS_H

/// From now on, ends the process with a message and the exit status `status` if a thread cannot be created within one
/// second. Without this function, the dispatch library would try again indefinitely.
void cthreads_exit_if_no_thread(const char *program, int status);

/// Configures the heaps of the C library so that large blocks are allocated outside of them. There is at most one heap
/// for each processor, because more heaps would fragment the memory. If the address space is limited, all threads share
/// one heap. With more heaps, the C library would try to reserve a heap of 128 MiB for the thread at each allocation,
/// which takes hundreds of times as long. Returns 0 or an errno code.
int cthreads_set_up_heap(void);

/// Returns the free pages of all heaps to the system. Large blocks are outside of the heaps and cannot reuse these
/// pages.
void cthreads_release_free_memory(void);

#endif
