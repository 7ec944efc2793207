"""What all parts of the campaign share: running the programs, counting what became of the cases."""

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

# What goes to Sift and Leanplum from the samples needs a credential.
LEANPLUM_KEYS = {"productionKey": "chaos", "developmentKey": "chaos"}
CREDENTIALS = {
    "sift": {"6431b0f2a9": "chaos"},
    "leanplum": {"app_DemoReader": LEANPLUM_KEYS, "*": {"appId": "app_chaos", **LEANPLUM_KEYS}}}
# Captures that are read without a complaint.
SAMPLES = ["samples/" + name for name in ("firefox", "webxr", "shop", "leanplum")]
LONGEST = 300


class Loss(Exception):
    """What the campaign looks for: something was lost, altered, counted twice, or hangs."""


class Campaign:
    """The options, the places, and the counts."""

    def __init__(self, folder, given):
        self.folder, self.programs, self.seed = folder, os.path.abspath(given.programs), given.seed
        self.scale, self.jobs, self.case = given.scale, given.jobs, given.case
        self.counts = collections.defaultdict(collections.Counter)
        self.losses = []
        self.made = {}
        self.names = itertools.count()
        self.credentials = os.path.join(folder, "credentials.json")
        with open(self.credentials, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            json.dump(CREDENTIALS, file)
        for name in ("pingferry", "pingferry-upload"):
            if not os.access(os.path.join(self.programs, name), os.X_OK):
                sys.exit("chaos: no %s in %s: run make build, or give --programs" % (name, given.programs))

    # The programs

    def environment(self, folder):
        return {"HOME": folder, "TMPDIR": folder, "PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no",
                "PINGFERRY_CREDENTIALS": self.credentials}

    def words(self, name, *words):
        return [os.path.join(self.programs, name), *words]

    def start(self, folder, name, *words):
        """A program that runs; its output is of no interest."""
        return subprocess.Popen(
            self.words(name, *words), env=self.environment(folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, folder, name, *words, limit=LONGEST):
        """A program that has come to its end. One that hangs or crashes is a loss."""
        try:
            done = subprocess.run(
                self.words(name, *words), env=self.environment(folder), stdin=subprocess.DEVNULL, capture_output=True,
                timeout=limit)
        except subprocess.TimeoutExpired:
            raise Loss("%s %s was still running after %d s" % (name, words[0], limit)) from None
        if done.returncode < 0 or done.returncode >= 128:
            raise Loss("%s %s ended by a signal: %d" % (name, words[0], done.returncode))
        return done

    def offline(self, folder, *words, **options):
        return self.run(folder, "pingferry", *words, **options)

    def job(self, ledger, *words):
        """The options that all uploads have. It is around noon in the timezone, so that no midnight falls into a case."""
        east = 12 - datetime.datetime.now(datetime.timezone.utc).hour
        zone = "Etc/GMT%+d" % -east if east else "UTC"
        return ["send", "--ledger", ledger, "--timezone", zone, "--proxy", "direct", "--daily-limit", "unlimited",
                "--per-type-limit", "unlimited", *words]

    def status(self, folder, ledger):
        """What the ledger says. One that cannot be opened is a loss."""
        done = self.run(folder, "pingferry-upload", "status", "--json", "--ledger", ledger)
        if done.returncode != 0:
            raise Loss("the ledger cannot be opened: status %d: %s" % (done.returncode, said(done)))
        return json.loads(done.stdout)

    # Places and inputs

    def place(self):
        """A new folder for a case."""
        folder = os.path.join(self.folder, "case-%d" % next(self.names))
        os.mkdir(folder)
        return folder

    def make(self, name, build):
        """An input that is made once, by a function that is given its path."""
        if name not in self.made:
            path = os.path.join(self.folder, name)
            build(path)
            self.made[name] = path
        return self.made[name]

    def bundle(self, name, captures):
        def build(path):
            done = self.offline(self.folder, "bundle", "-q", "-o", path, *captures)
            if done.returncode != 0:
                sys.exit("chaos: cannot make %s: %s" % (name, done.stderr.decode()))
        return self.make(name, build)

    def samples(self):
        return self.bundle("samples.tar.zst", SAMPLES)

    def load(self, clients, pings):
        """A capture of many pings."""
        return self.make("load-%d" % pings, lambda path: subprocess.run(
            [sys.executable, "Tests/Load/make_load.py", path, "--containers", str(clients), "--pings", str(pings)],
            check=True))

    # The cases

    def cases(self, count):
        """The numbers of the cases of a part."""
        return range(max(1, round(count * self.scale))) if self.case is None else [self.case]

    def random(self, part, number):
        """The choices of one case, which are the same whenever it is repeated."""
        return random.Random("%d/%s/%d" % (self.seed, part, number))

    def each(self, part, numbers, run, jobs=None):
        """Runs cases beside each other. `run` takes a number and a folder, and says in words how the case ended."""
        def one(number):
            folder = self.place()
            try:
                return number, run(number, folder), None
            except Loss as loss:
                return number, None, str(loss)
            finally:
                shutil.rmtree(folder)
        with concurrent.futures.ThreadPoolExecutor(jobs or self.jobs) as pool:
            for number, outcome, loss in pool.map(one, numbers):
                self.counts[part][outcome if loss is None else "LOST"] += 1
                if loss is not None:
                    self.losses.append("%s, case %d, seed %d: %s" % (part, number, self.seed, loss))

    def report(self):
        """Prints the table; the exit status."""
        for part, counts in self.counts.items():
            print("%-18s %6d cases" % (part, counts.total()))
            for outcome, count in sorted(counts.items()):
                print("%-18s %6d %s" % ("", count, outcome))
        print("%-18s %6d" % ("losses", len(self.losses)))
        for loss in self.losses[:50]:
            print("  " + loss)
        if len(self.losses) > 50:
            print("  and %d more" % (len(self.losses) - 50))
        return 1 if self.losses else 0


def said(done):
    """The first line of what a program said, its errors first."""
    return (done.stderr + done.stdout).decode(errors="replace").split("\n", 1)[0]


def contents(path):
    with open(path, "rb") as file:
        return file.read()
