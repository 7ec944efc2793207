/* Measures one call of libplist's plist_from_bin, in a fresh process.
 *
 * "libplist FILE" prints the processor time and the elapsed time, in seconds. */
#include <plist/plist.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END))
        return 1;
    long length = ftell(file);
    char *bytes = malloc(length);
    rewind(file);
    if (!bytes || fread(bytes, 1, length, file) != (size_t)length)
        return 1;
    plist_t root = NULL;
    double processor = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
    plist_from_bin(bytes, length, &root);
    double taken = seconds(CLOCK_MONOTONIC) - start;
    if (!root)
        return 1;
    printf("%f %f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - processor, taken);
    return 0;
}
