// The settings are stored before the flag is set, so that a signal handler that reads the flag finds complete settings.
#define _GNU_SOURCE
#include "cfiles.h"

#include <errno.h>
#include <stdatomic.h>
#include <termios.h>
#include <unistd.h>

static struct termios original;
static int hidden_terminal;
static atomic_int is_hidden;

int cfiles_echo_off(int terminal) {
    if (tcgetattr(terminal, &original) != 0) return errno;
    struct termios hidden = original;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    hidden.c_cc[VQUIT] = _POSIX_VDISABLE;
    hidden.c_cc[VSUSP] = _POSIX_VDISABLE;
    hidden_terminal = terminal;
    atomic_store(&is_hidden, 1);
    if (tcsetattr(terminal, TCSAFLUSH, &hidden) == 0) return 0;
    int error = errno;
    cfiles_echo_on();
    return error;
}

void cfiles_echo_on(void) {
    if (atomic_exchange(&is_hidden, 0)) tcsetattr(hidden_terminal, TCSAFLUSH, &original);
}
