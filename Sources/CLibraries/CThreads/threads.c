// If a thread cannot be created, the dispatch library tries again each second, indefinitely. This cannot be configured.
// Therefore this file replaces pthread_create with a function that calls the original function.
#ifdef __linux__
#define _GNU_SOURCE
#include "cthreads.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { attempts = 20, large_block = 4 << 20 };

typedef int creation(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

// The original pthread_create in a static program. Dynamic programs do not have this symbol.
extern creation __pthread_create __attribute__((weak));
// The pthread_create of AddressSanitizer, which must know of each thread. Only programs with the sanitizer have this symbol.
extern creation __interceptor_pthread_create __attribute__((weak));

static const char *program_name;
static atomic_int status_without;

void cthreads_exit_if_no_thread(const char *program, int status) {
    program_name = program;
    atomic_store(&status_without, status);
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    static _Atomic(creation *) next;
    creation *function = atomic_load(&next);
    if (!function) {
        function = __interceptor_pthread_create ? __interceptor_pthread_create
            : __pthread_create ? __pthread_create
            : (creation *)dlsym(RTLD_NEXT, "pthread_create");
        if (!function) return ENOSYS;
        atomic_store(&next, function);
    }
    return function(thread, attributes, body, argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    int code = create(thread, attributes, body, argument);
    int status = atomic_load(&status_without);
    if ((code != EAGAIN && code != ENOMEM) || status == 0) return code;
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    for (int i = 0; i < attempts && code != 0; i++) {
        nanosleep(&pause, 0);
        code = create(thread, attributes, body, argument);
    }
    if (code == 0) return 0;
    // The buffer is on the stack, because an allocation may fail.
    char line[256];
    int length = snprintf(line, sizeof line,
        "%s: cannot create a thread: %s\nhint: allow more processes (ulimit -u) or more address space (ulimit -v)\n",
        program_name, strerror(code));
    if (length > (int)sizeof line - 1) length = sizeof line - 1;
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) _exit(status);
    _exit(status);
}

int cthreads_set_up_heap(void) {
    // Large blocks are allocated from the system and returned to it. The threshold is fixed, because freeing a large
    // block would otherwise raise it, so that later blocks fragment the heap. For a million files, a variable threshold
    // takes 14 % more memory, and a lower threshold takes 10 % more time.
    if (mallopt(M_MMAP_THRESHOLD, large_block) != 1 || mallopt(M_TRIM_THRESHOLD, 4 * large_block) != 1) return EINVAL;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0) return errno;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int heaps = limit.rlim_cur != RLIM_INFINITY || processors < 1 ? 1 : (int)processors;
    return mallopt(M_ARENA_MAX, heaps) == 1 ? 0 : EINVAL;
}

void cthreads_release_free_memory(void) { malloc_trim(0); }
#else
#include "cthreads.h"

// The C library of macOS does not allow this, and returns free memory on its own.
void cthreads_exit_if_no_thread(const char *program, int status) { (void)program, (void)status; }
int cthreads_set_up_heap(void) { return 0; }
void cthreads_release_free_memory(void) {}
#endif
