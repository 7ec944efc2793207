// Prepares the Swift runtime and the dispatch library for a system without /proc, such as an empty chroot, and for users other
// than root.
#include "cstartup.h"

#ifdef __linux__
#include <langinfo.h>
#include <stdlib.h>
#include <unistd.h>

void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

// Without /proc, the runtime cannot determine the arguments of the program or its own folder. Without its folder, the
// runtime aborts. With the lowest priority number that programs may use, this function runs before the initializers of
// the runtime.
__attribute__((constructor(101))) static void prepare_runtime(int count, char **arguments) {
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
    if (access("/proc/self/exe", F_OK) != 0) setenv("SWIFT_ROOT", "/", 0);
    // Only root can raise the priority of threads. Otherwise, the dispatch library writes a line about this to the system log.
    setenv("LIBDISPATCH_LOG", "NO", 0);
}

// These two functions replace functions of the dispatch library in the static program (`ld --wrap`). The library
// registers each of its threads, reads the states of the threads in /proc each second, and starts more threads if some
// are waiting. If the library cannot read the states, it crashes. Registration is not needed, because no thread of a
// program waits for a thread that has not started.
void __wrap__dispatch_workq_worker_register(void *queue) { (void)queue; }
void __wrap__dispatch_workq_worker_unregister(void *queue) { (void)queue; }

char *__real_nl_langinfo(nl_item item) __attribute__((weak));

// Replaces `nl_langinfo` of the C library in the static program. libarchive uses the result as the character set to
// which it converts names, and needs no locale if the result is UTF-8. Without locale files, the original function
// would return ASCII.
char *__wrap_nl_langinfo(nl_item item) { return item == CODESET ? "UTF-8" : __real_nl_langinfo(item); }
#endif
