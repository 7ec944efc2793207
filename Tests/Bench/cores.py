"""Measures how the commands use more cores.

Runs each command with as many jobs as the machine has cores, and estimates its time for more jobs from the part that did not become
faster: after Amdahl, the time with n jobs is the serial part and 1/n of the rest.
"""

import os

import measuring
from measuring import FOLDER, program

JOBS = [1, 2, 4, 8, 16]


def serial_share(times):
    """Returns the part of the time of one job that does not become shorter with the most jobs that were measured."""
    jobs = max(times)
    return max(0.0, (jobs * times[jobs] / times[1] - 1) / (jobs - 1))


def commands():
    """Returns the command lines without the number of jobs, by name."""
    load, bundle = measuring.load(), FOLDER + "/cores.tar.zst"
    measuring.measure([program("pingferry"), "bundle", "--quiet", "--force", "-o", bundle, load])
    return {
        "bundle of a folder": ["bundle", "--force", "-o", FOLDER + "/cores-again.tar.zst", load],
        "convert of a folder": ["convert", "--force", "-o", FOLDER + "/cores.ndjson", load],
        "verify of a bundle": ["verify", bundle],
        "convert of a bundle": ["convert", "--force", "-o", FOLDER + "/cores.ndjson", bundle],
    }


def run():
    """Prints the times for each number of jobs, relative to one job. There are no limits."""
    available = len(os.sched_getaffinity(0))
    measured = [jobs for jobs in JOBS if jobs <= available]
    print("%-22s %8s %s" % ("times of one job", "serial", " ".join("%8s" % ("%d jobs" % jobs) for jobs in JOBS)))
    for name, command in commands().items():
        turns = measuring.in_turns(
            {jobs: [program("pingferry"), command[0], "--quiet", "--jobs", str(jobs), *command[1:]] for jobs in measured})
        times = {jobs: measuring.best(results).clock for jobs, results in turns.items()}
        if len(times) == 1:
            print("%-22s %8.2f s with one core, from which nothing can be estimated" % (name, times[1]))
            continue
        serial = serial_share(times)
        # A star marks an estimate.
        cells = ["%8.2f " % (times[jobs] / times[1]) if jobs in times else "%8.2f*" % (serial + (1 - serial) / jobs) for jobs in JOBS]
        print("%-22s %8.2f %s" % (name, serial, "".join(cells)), flush=True)
    return True
