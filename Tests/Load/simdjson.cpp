/* Measures how fast simdjson parses files into its document tree.
 *
 * "simdjson FOLDER" prints the bytes per second of processor time for all files in the folder, in the best of 15 runs. */
#include <simdjson.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <vector>

static double seconds()
{
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 1;
    std::vector<simdjson::padded_string> texts;
    double bytes = 0, best = std::numeric_limits<double>::infinity();
    for (const auto &entry : std::filesystem::directory_iterator(arguments[1])) {
        texts.push_back(simdjson::padded_string::load(entry.path().string()));
        bytes += texts.back().size();
    }
    simdjson::dom::parser parser;
    for (int run = 0; run < 15; run++) {
        double start = seconds();
        for (const auto &text : texts) {
            simdjson::dom::element root;
            if (parser.parse(text).get(root))
                return 1;
        }
        best = std::min(best, seconds() - start);
    }
    std::printf("%f\n", bytes / best);
    return 0;
}
