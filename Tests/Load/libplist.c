/* Speed of libplist's plist_from_bin alone: libplist FILE prints bytes a second of processor time. */
#include <plist/plist.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
    double best = 1e9;
    for (int run = 0; run < 3; run++) {
        plist_t root = NULL;
        clock_t start = clock();
        plist_from_bin(bytes, length, &root);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (!root)
            return 1;
        if (seconds < best)
            best = seconds;
        plist_free(root);
    }
    printf("%.0f\n", length / best);
    return 0;
}
