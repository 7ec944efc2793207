#define _GNU_SOURCE
#include "cprocesses.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int add_files(posix_spawn_file_actions_t *actions, int input, int output, int errors) {
    int code = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, errors, STDERR_FILENO);
    return code;
}

/// Resets all signals to their default handling and unblocks them, so that the program does not inherit the settings.
static int reset_signals(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int code = posix_spawnattr_setsigdefault(attributes, &all);
    if (code == 0) code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0) code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return code;
}

/// Restores the default handling of SIGCHLD if the parent of this process caused this process to ignore it. If SIGCHLD
/// is ignored, the kernel discards the exit status of child processes.
static void restore_child_signal(void) {
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}

/// Starts a program, and tries again while its file is open for writing (ETXTBSY). A package upgrade keeps the file
/// open for a short time, and so does another process that was forked while the file was being written.
static int start_when_written(
    pid_t *number, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const arguments[], char *const environment[]) {
    int code = posix_spawn(number, path, actions, attributes, arguments, environment);
    // The pauses start at 1 ms and double up to a total of about 1 s.
    for (long pause = 1000000; code == ETXTBSY && pause < 1000000000; pause *= 2) {
        struct timespec time = {0, pause};
        nanosleep(&time, NULL);
        code = posix_spawn(number, path, actions, attributes, arguments, environment);
    }
    return code;
}

int cprocesses_start(
    const char *path, char *const arguments[], char *const environment[], int input, int output, int errors, int *process) {
    restore_child_signal();
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    posix_spawnattr_t attributes;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        pid_t number = 0;
        code = add_files(&actions, input, output, errors);
        if (code == 0) code = reset_signals(&attributes);
        if (code == 0) code = start_when_written(&number, path, &actions, &attributes, arguments, environment);
        *process = number;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

#ifdef __linux__
int cprocesses_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno; }

int cprocesses_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

static void discard_signal(const sigset_t *signals) {
    struct timespec now = {0, 0};
    while (sigtimedwait(signals, NULL, &now) < 0 && errno == EINTR) {}
}
#else
// A program that another thread starts between these calls inherits the pipe.
int cprocesses_pipe(int ends[2]) {
    if (pipe(ends) != 0) return errno;
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
}

// macOS has no files in memory. Therefore the file is on a disk, without a name.
int cprocesses_memory_file(const char *name) {
    (void)name;
    char path[] = "/tmp/pingferry-XXXXXX";
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

static void discard_signal(const sigset_t *signals) {
    sigset_t pending;
    int number;
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE)) sigwait(signals, &number);
}
#endif

static int write_all(int pipe, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(pipe, bytes, count);
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

int cprocesses_write(int pipe, const void *bytes, size_t count) {
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    // A SIGPIPE that was pending before is not removed.
    sigpending(&pending);
    int code = pthread_sigmask(SIG_BLOCK, &broken, &before);
    if (code != 0) return code;
    code = write_all(pipe, bytes, count);
    if (code == EPIPE && !sigismember(&pending, SIGPIPE)) discard_signal(&broken);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

int cprocesses_wait(int process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
