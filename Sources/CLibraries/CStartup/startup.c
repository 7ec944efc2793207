// Prepares the Swift runtime and the dispatch library for a system without /proc, such as an empty chroot.
#include "cstartup.h"

#include <langinfo.h>
#include <stdlib.h>
#include <unistd.h>

void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

// Without /proc, the runtime knows neither the arguments nor its own folder, and aborts because of the latter. The
// priority, the lowest that programs may use, makes this function run before the initializers of the runtime.
__attribute__((constructor(101))) static void prepare_runtime(int count, char **arguments) {
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
    if (access("/proc/self/exe", F_OK) != 0) setenv("SWIFT_ROOT", "/", 0);
}

// These two functions replace functions of the dispatch library in the static program (`ld --wrap`). The library
// registers its threads to read their states in /proc each second, in order to start more threads if some wait. If it
// cannot read them, it crashes. No thread of a program waits for another one that has not started, so that registration
// is not needed.
void __wrap__dispatch_workq_worker_register(void *queue) { (void)queue; }
void __wrap__dispatch_workq_worker_unregister(void *queue) { (void)queue; }

char *__real_nl_langinfo(nl_item item) __attribute__((weak));

// Replaces the function of the C library in the static program. libarchive asks for the character set to which it converts
// names, and then needs no locale for UTF-8. Without files of locales, it would convert them to ASCII.
char *__wrap_nl_langinfo(nl_item item) { return item == CODESET ? "UTF-8" : __real_nl_langinfo(item); }
