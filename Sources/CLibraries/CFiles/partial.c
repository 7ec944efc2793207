// A signal handler may only touch atomics and call async-signal-safe functions, so everything that it needs
// lies in a fixed table filled in beforehand: no Swift, no allocation, no lock.
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

// Enough for the volumes of a bundle, of which there are at most 999, and a few files beside them.
enum { slot_count = 1056, name_size = 256, path_size = 4096, message_size = 256 };
enum { state_free, state_filling, state_live, state_taken };

struct slot {
    atomic_int state;
    int folder;
    // The flag of unlinkat: AT_REMOVEDIR for a folder.
    int flag;
    // Whether the path is to be told.
    int is_told;
    char name[name_size];
};

static struct slot slots[slot_count];
// Apart from the slots, so that a path that is not told takes no memory.
static char paths[slot_count][path_size];
// How many threads are between two steps that a signal must not part, and the signal that waits for them, or 0.
static atomic_int holding;
static atomic_int waiting;
// How many signals are at work, or are looking whether they may be.
static atomic_int removing;
static char start_of_message[message_size];
static atomic_int line_on_terminal;
static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static const int handled_count = sizeof handled / sizeof *handled;

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
        slots[i].is_told = shown_path[0] != 0;
        if (slots[i].is_told) {
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

int cfiles_partial_take(int slot) {
    if (slot < 0) return 1;
    int expected = state_live;
    return atomic_compare_exchange_strong(&slots[slot].state, &expected, state_taken);
}

void cfiles_partial_release(int slot) {
    if (slot >= 0) atomic_store(&slots[slot].state, state_free);
}

void cfiles_signals_hold(void) {
    atomic_fetch_add(&holding, 1);
    // A signal that is at work in another thread ends the process: nothing may be made or taken beside it. One that is looking
    // sees that it has to wait.
    while (atomic_load(&removing) > 0) sched_yield();
}

void cfiles_signals_let_go(void) {
    if (atomic_fetch_sub(&holding, 1) > 1) return;
    int number = atomic_exchange(&waiting, 0);
    // Not raise: this thread may block signals.
    if (number != 0) kill(getpid(), number);
}

// What brings the cursor to the beginning of an empty line.
static const char *start_of_line(void) {
    switch (atomic_load(&line_on_terminal)) {
    case cfiles_line_passing: return "\r\033[K";
    case cfiles_line_staying: return "\n";
    default: return "";
    }
}

// One line for all files, put together first so that it goes out in one write.
static size_t add(char *line, size_t length, size_t size, const char *text) {
    size_t count = strlen(text);
    if (count > size - length) count = size - length;
    memcpy(line + length, text, count);
    return length + count;
}

// Removes the recorded files, or the recorded folders, and adds to the line what is not there now.
static size_t remove_all(int flag, char *line, size_t length, size_t room) {
    for (int i = 0; i < slot_count; i++) {
        int expected = state_live;
        if (slots[i].flag != flag || !atomic_compare_exchange_strong(&slots[i].state, &expected, state_taken)) continue;
        unlinkat(slots[i].folder, slots[i].name, flag);
        if (!slots[i].is_told) continue;
        length = add(line, length, room, "; nothing was written to ");
        length = add(line, length, room, paths[i]);
    }
    return length;
}

static void on_signal(int number) {
    // Noted before the look, as threads let go before they look: one of the two sees the other.
    atomic_store(&waiting, number);
    atomic_fetch_add(&removing, 1);
    if (atomic_load(&holding) > 0 || atomic_exchange(&waiting, 0) == 0) {
        atomic_fetch_sub(&removing, 1);
        return;
    }
    int error = errno;
    cfiles_echo_on();
    char line[2 * path_size];
    const size_t room = sizeof line - 1;
    const size_t before = add(line, 0, room, start_of_line());
    size_t length = add(line, before, room, start_of_message);
    // Files first: a folder has to be empty.
    length = remove_all(0, line, length, room);
    length = remove_all(AT_REMOVEDIR, line, length, room);
    line[length++] = '\n';

    // From here on a second signal ends the process at once, also when standard error blocks.
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
    // A reader that goes away ends the program without a word.
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
