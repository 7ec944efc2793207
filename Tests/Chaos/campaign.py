"""The state that all parts share: inputs, running the programs, and counting the outcomes of cases."""

import collections
import concurrent.futures
import datetime
import itertools
import json
import os
import random
import shutil
import subprocess
import sys

# The credentials for the uploads of the samples to Sift and Leanplum.
LEANPLUM_KEYS = {"productionKey": "chaos", "developmentKey": "chaos"}
CREDENTIALS = {
    "sift": {"6431b0f2a9": "chaos"},
    "leanplum": {"app_DemoReader": LEANPLUM_KEYS, "*": {"appId": "app_chaos", **LEANPLUM_KEYS}}}
# The samples that contain no damaged items.
SAMPLES = ["samples/" + name for name in ("firefox", "webxr", "shop", "leanplum")]
# The maximum duration of a program, in seconds.
TIMEOUT = 300


class Failure(Exception):
    """A case failed, because data was lost, altered or sent twice, or because a program crashed or hung."""


class Campaign:
    """The options, the inputs, and the outcomes of cases."""

    def __init__(self, folder, given):
        self.folder, self.programs, self.seed = folder, given.programs, given.seed
        self.scale, self.jobs, self.case = given.scale, given.jobs, given.case
        self.counts = collections.defaultdict(collections.Counter)
        self.failures = []
        self.made = {}
        self.names = itertools.count()
        self.credentials = os.path.join(folder, "credentials.json")
        with open(self.credentials, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            json.dump(CREDENTIALS, file)
        for name in ("pingferry", "pingferry-upload"):
            if not os.access(os.path.join(self.programs, name), os.X_OK):
                sys.exit("chaos: there is no program %s in %s\nhint: run make build, or use --programs" % (name, self.programs))

    # Programs

    def environment(self, folder):
        """Returns environment variables with which programs keep their temporary files in `folder`."""
        return {"HOME": folder, "TMPDIR": folder, "PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no",
                "PINGFERRY_CREDENTIALS": self.credentials}

    def command(self, name, *words):
        return [os.path.join(self.programs, name), *words]

    def start(self, folder, name, *words):
        """Starts a program whose output is discarded, and returns the process."""
        return subprocess.Popen(
            self.command(name, *words), env=self.environment(folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, folder, name, *words, timeout=TIMEOUT):
        """Runs a program and returns the finished process. Fails if the program hangs or crashes."""
        try:
            done = subprocess.run(
                self.command(name, *words), env=self.environment(folder), stdin=subprocess.DEVNULL, capture_output=True,
                timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure("%s %s was still running after %d s" % (name, words[0], timeout)) from None
        if done.returncode < 0 or done.returncode >= 128:
            raise Failure("%s %s was ended by a signal: status %d" % (name, words[0], done.returncode))
        return done

    def pingferry(self, folder, *words, **options):
        return self.run(folder, "pingferry", *words, **options)

    def job(self, ledger, *words):
        """Returns the arguments that all upload jobs have in common.

        In the time zone of the job it is about noon, so that the daily limits are not reset during a case.
        """
        east = 12 - datetime.datetime.now(datetime.timezone.utc).hour
        zone = "Etc/GMT%+d" % -east if east else "UTC"
        return ["send", "--ledger", ledger, "--timezone", zone, "--proxy", "direct", "--daily-limit", "unlimited",
                "--per-type-limit", "unlimited", *words]

    def status(self, folder, ledger):
        """Returns the status of a ledger. Fails if the ledger cannot be opened."""
        done = self.run(folder, "pingferry-upload", "status", "--json", "--ledger", ledger)
        if done.returncode != 0:
            raise Failure("the ledger cannot be opened: status %d: %s" % (done.returncode, first_line(done)))
        return json.loads(done.stdout)

    # Folders and inputs

    def new_folder(self):
        """Creates a folder for a case."""
        folder = os.path.join(self.folder, "case-%d" % next(self.names))
        os.mkdir(folder)
        return folder

    def make(self, name, build):
        """Calls `build` with the path of an input on first use, and returns that path."""
        if name not in self.made:
            path = os.path.join(self.folder, name)
            build(path)
            self.made[name] = path
        return self.made[name]

    def bundle(self, name, captures):
        """Makes a bundle of captures once, and returns its path."""
        def build(path):
            done = self.pingferry(self.folder, "bundle", "-q", "-o", path, *captures)
            if done.returncode != 0:
                sys.exit("chaos: cannot create %s: %s" % (name, done.stderr.decode()))
        return self.make(name, build)

    def samples(self):
        """Returns the path of a bundle of the samples."""
        return self.bundle("samples.tar.zst", SAMPLES)

    def load(self, clients, pings):
        """Returns the path of a capture with a given number of clients and pings."""
        return self.make("load-%d" % pings, lambda path: subprocess.run(
            [sys.executable, "Tests/Load/make_load.py", path, "--containers", str(clients), "--pings", str(pings)],
            check=True))

    # Cases

    def cases(self, count):
        """Returns the numbers of the cases to run, of `count` cases at scale 1."""
        return range(max(1, round(count * self.scale))) if self.case is None else [self.case]

    def random(self, part, number):
        """Returns a generator of random numbers that are the same whenever the case is repeated."""
        return random.Random("%d/%s/%d" % (self.seed, part, number))

    def each(self, part, numbers, run, jobs=None):
        """Runs cases concurrently and counts their outcomes.

        `run` is called with the number and the folder of a case. It returns a description of the outcome, or raises `Failure`.
        """
        def one(number):
            folder = self.new_folder()
            try:
                return number, run(number, folder), None
            except Failure as failure:
                return number, None, str(failure)
            finally:
                shutil.rmtree(folder)
        with concurrent.futures.ThreadPoolExecutor(jobs or self.jobs) as pool:
            for number, outcome, failure in pool.map(one, numbers):
                self.counts[part][outcome if failure is None else "FAILED"] += 1
                if failure is not None:
                    self.failures.append("%s, case %d, seed %d: %s" % (part, number, self.seed, failure))

    def report(self):
        """Prints the table of outcomes and the failures. Returns the exit status."""
        for part, counts in self.counts.items():
            print("%-18s %6d cases" % (part, counts.total()))
            for outcome, count in sorted(counts.items()):
                print("%-18s %6d %s" % ("", count, outcome))
        print("%-18s %6d" % ("failures", len(self.failures)))
        for failure in self.failures[:50]:
            print("  " + failure)
        if len(self.failures) > 50:
            print("  and %d more" % (len(self.failures) - 50))
        return 1 if self.failures else 0


def first_line(done):
    """Returns the first line of the standard error of a finished process or, if that is empty, of its standard output."""
    return (done.stderr + done.stdout).decode(errors="replace").split("\n", 1)[0]


def read(path):
    with open(path, "rb") as file:
        return file.read()
