// A signal handler may only access atomics and call async-signal-safe functions. Therefore the files are registered in
// a fixed table, and the handler runs no Swift code, allocates no memory and takes no locks.
#define _GNU_SOURCE
#include "cfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The number of slots is sufficient for the maximum of 999 volumes of a bundle and some further files.
enum { slot_count = 1056, name_size = 256, path_size = 4096, message_size = 256 };
enum { state_free, state_filling, state_live, state_claimed };

struct slot {
    atomic_int state;
    int folder;
    // The flag for unlinkat: AT_REMOVEDIR for a folder, or 0.
    int flag;
    // Whether the message of the signal handler contains the path.
    int is_shown;
    char name[name_size];
};

static struct slot slots[slot_count];
// The paths are separate from the slots, so that pages of unused paths occupy no memory.
static char paths[slot_count][path_size];
// The number of active deferrals of signals, and the number of the deferred signal or 0.
static atomic_int deferrals;
static atomic_int deferred_signal;
// The number of running signal handlers that may remove files.
static atomic_int removing;
static char start_of_message[message_size];
static atomic_int line_on_terminal;
static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static const int handled_count = sizeof handled / sizeof *handled;

#ifdef __APPLE__
// macOS has these functions and flags with other names.
#define renameat2 renameatx_np
#define RENAME_NOREPLACE RENAME_EXCL
#define RENAME_EXCHANGE RENAME_SWAP
#endif

int cfiles_rename_no_replace(int folder, const char *from, int to_folder, const char *to) {
    return renameat2(folder, from, to_folder, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

void cfiles_set_line(enum cfiles_line line) { atomic_store(&line_on_terminal, line); }

int cfiles_rename_exchange(int folder, const char *from, const char *to) {
    return renameat2(folder, from, folder, to, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

static int add_slot(int folder, int flag, const char *name, const char *shown_path) {
    if (strlen(name) >= name_size) return -1;
    for (int i = 0; i < slot_count; i++) {
        int expected = state_free;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, state_filling)) continue;
        slots[i].folder = folder;
        slots[i].flag = flag;
        strcpy(slots[i].name, name);
        slots[i].is_shown = shown_path[0] != 0;
        if (slots[i].is_shown) {
            strncpy(paths[i], shown_path, path_size - 1);
            paths[i][path_size - 1] = 0;
        }
        atomic_store(&slots[i].state, state_live);
        return i;
    }
    return -1;
}

int cfiles_partial_add(int folder, const char *name, const char *shown_path) {
    return add_slot(folder, 0, name, shown_path);
}

int cfiles_partial_add_folder(int parent, const char *name, const char *shown_path) {
    return add_slot(parent, AT_REMOVEDIR, name, shown_path);
}

int cfiles_partial_claim(int slot) {
    if (slot < 0) return 1;
    int expected = state_live;
    return atomic_compare_exchange_strong(&slots[slot].state, &expected, state_claimed);
}

void cfiles_partial_release(int slot) {
    if (slot >= 0) atomic_store(&slots[slot].state, state_free);
}

void cfiles_signals_defer(void) {
    atomic_fetch_add(&deferrals, 1);
    // A handler in another thread may be removing files and ending the process. In that case, no file may be created or
    // claimed. A handler that is still checking finds the deferral and returns.
    while (atomic_load(&removing) > 0) sched_yield();
}

void cfiles_signals_resume(void) {
    if (atomic_fetch_sub(&deferrals, 1) > 1) return;
    int number = atomic_exchange(&deferred_signal, 0);
    // `raise` would send the signal to this thread, which may have blocked the signal.
    if (number != 0) kill(getpid(), number);
}

// Returns the text that moves the cursor to the start of an empty line.
static const char *start_of_line(void) {
    switch (atomic_load(&line_on_terminal)) {
    case cfiles_line_temporary: return "\r\033[K";
    case cfiles_line_permanent: return "\n";
    default: return "";
    }
}

// Appends text to the message, which is written with a single call.
static size_t add(char *line, size_t length, size_t size, const char *text) {
    size_t count = strlen(text);
    if (count > size - length) count = size - length;
    memcpy(line + length, text, count);
    return length + count;
}

// Removes the registered files or folders and appends their shown paths to the message. Returns the new length of the
// message.
static size_t remove_all(int flag, char *line, size_t length, size_t size) {
    for (int i = 0; i < slot_count; i++) {
        int expected = state_live;
        if (slots[i].flag != flag || !atomic_compare_exchange_strong(&slots[i].state, &expected, state_claimed)) continue;
        unlinkat(slots[i].folder, slots[i].name, flag);
        if (!slots[i].is_shown) continue;
        length = add(line, length, size, "; nothing was written to ");
        length = add(line, length, size, paths[i]);
    }
    return length;
}

static void on_signal(int number) {
    // The handler stores the signal before it reads `deferrals`. cfiles_signals_resume decrements `deferrals` before it
    // reads the signal. Therefore one of the two always handles the signal.
    atomic_store(&deferred_signal, number);
    atomic_fetch_add(&removing, 1);
    if (atomic_load(&deferrals) > 0 || atomic_exchange(&deferred_signal, 0) == 0) {
        atomic_fetch_sub(&removing, 1);
        return;
    }
    int error = errno;
    cfiles_echo_on();
    char line[2 * path_size];
    const size_t size = sizeof line - 1;
    const size_t before = add(line, 0, size, start_of_line());
    size_t length = add(line, before, size, start_of_message);
    // Files are removed first, because a folder can be removed only if it is empty.
    length = remove_all(0, line, length, size);
    length = remove_all(AT_REMOVEDIR, line, length, size);
    line[length++] = '\n';

    // From now on, a second signal ends the process immediately, even if the write to the standard error blocks.
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigset_t all;
    sigemptyset(&all);
    for (int i = 0; i < handled_count; i++) {
        struct sigaction current;
        if (sigaction(handled[i], 0, &current) == 0 && current.sa_handler == on_signal)
            sigaction(handled[i], &action, 0);
        sigaddset(&all, handled[i]);
    }
    // A closed pipe ends the process without a message.
    if (number == SIGPIPE) length = before;
    if (length > 0 && write(STDERR_FILENO, line, length) < 0) error = errno;
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &all, 0);
    errno = error;
}

int cfiles_remove_on_interrupt(const char *message) {
    strncpy(start_of_message, message, message_size - 1);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < handled_count; i++) sigaddset(&action.sa_mask, handled[i]);
    for (int i = 0; i < handled_count; i++) {
        struct sigaction current;
        if (sigaction(handled[i], 0, &current) != 0) return errno;
        if (current.sa_handler == SIG_IGN) continue;
        if (sigaction(handled[i], &action, 0) != 0) return errno;
    }
    return 0;
}
