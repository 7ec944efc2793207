// A signal handler may only access atomics and call async-signal-safe functions. The handler in this file writes one
// byte to a pipe, and a thread that reads from the pipe does the rest.
#define _GNU_SOURCE
#include "cfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static int pipe_ends[2] = {-1, -1};
static atomic_int was_stopped;
static const int handled[] = {SIGINT, SIGTERM, SIGHUP};
static const int handled_count = sizeof handled / sizeof *handled;
static struct sigaction previous[sizeof handled / sizeof *handled];

static void on_signal(int number) {
    if (number != SIGUSR1 && atomic_exchange(&was_stopped, 1)) _exit(128 + number);
    int error = errno;
    char byte = (char)number;
    while (write(pipe_ends[1], &byte, 1) < 0 && errno == EINTR) {}
    errno = error;
}

int cfiles_catch_stop(void) {
    if (pipe(pipe_ends) != 0) return errno;
    for (int i = 0; i < 2; i++)
        if (fcntl(pipe_ends[i], F_SETFD, FD_CLOEXEC) != 0) return errno;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < handled_count; i++) {
        if (sigaction(handled[i], 0, &previous[i]) != 0) return errno;
        if (previous[i].sa_handler == SIG_IGN) continue;
        if (sigaction(handled[i], &action, 0) != 0) return errno;
    }
    return sigaction(SIGUSR1, &action, 0) == 0 ? 0 : errno;
}

int cfiles_wait_for_stop(void) {
    char byte;
    ssize_t count;
    while ((count = read(pipe_ends[0], &byte, 1)) < 0 && errno == EINTR) {}
    return count == 1 ? byte : 0;
}

void cfiles_end_by_stop(int number) {
    for (int i = 0; i < handled_count; i++)
        if (handled[i] == number) sigaction(number, &previous[i], 0);
    kill(getpid(), number);
}

static atomic_int was_requested;

static void on_request(int number) {
    (void)number;
    atomic_store(&was_requested, 1);
}

int cfiles_note_requests(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_request;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGUSR1, &action, 0) == 0 ? 0 : errno;
}

int cfiles_take_request(void) { return atomic_exchange(&was_requested, 0); }
