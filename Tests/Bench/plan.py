"""Measures planning the uploads of bundles with a client for each record: the memory of a plan, and the time until a job sends."""

import json
import os
import socket
import statistics
import subprocess
import tempfile
import time
import uuid

import measuring
from measuring import FOLDER, Limit, pingferry
import upload

# The numbers of records of the plan and of the job.
PLANNED, SENT, RUNS = 1_300_000, 1_000_000, 3
# The memory of a plan in bytes, and the time until a job sends its first request, in seconds.
MEMORY_GOAL, MEMORY_LIMIT = 420e6, 500e6
FIRST_REQUEST_GOAL, FIRST_REQUEST_LIMIT = 2, 60


def make_bundle(count):
    """Returns the path of a bundle, which is made once. Its records only differ in their ids, clients and positions."""
    def make(part):
        _, records = upload.make_inputs()
        with open(records, encoding="utf-8") as lines:
            line = lines.readline()
        record = json.loads(line)
        index = '"index":%d,' % record["source"]["index"]
        assert line.count(index) == 1
        bundle = subprocess.Popen(pingferry("bundle", "-", output=part), stdin=subprocess.PIPE, encoding="utf-8")
        for number in range(count):
            client, identity = (str(uuid.uuid5(uuid.NAMESPACE_OID, "%s %d" % (name, number))).upper() for name in ("client", "record"))
            bundle.stdin.write(line.replace(record["client"], client).replace(record["id"], identity).replace(
                index, '"index":%d,' % number))
        bundle.stdin.close()
        if bundle.wait() != 0:
            raise subprocess.CalledProcessError(bundle.returncode, bundle.args)
    return measuring.make_once("%s/plan-%d.tar.zst" % (FOLDER, count), make)


def seconds_until_first_request(bundle, folder):
    """Starts a job with a new ledger, and returns the time until it connects to a server. Then kills the job.

    If it does not connect in twice the limit, returns that time.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(2 * FIRST_REQUEST_LIMIT)
        command = upload.new_job(bundle, folder + "/ledger.sqlite", "http://127.0.0.1:%d" % server.getsockname()[1], "--quiet")
        start = time.monotonic()
        with subprocess.Popen(command) as job:
            try:
                server.accept()[0].close()
            except TimeoutError:
                print("no request of %s" % bundle)
            seconds = time.monotonic() - start
            job.kill()
    return seconds


def run():
    """Prints the measurements, and returns whether all limits were kept."""
    bundle, planned = make_bundle(SENT), make_bundle(PLANNED)
    with tempfile.TemporaryDirectory(dir=os.path.abspath(FOLDER)) as folder:
        dry_run = "dry run of %d clients" % PLANNED
        kept = measuring.compare("plan", {
            "verify": pingferry("verify", planned),
            dry_run: upload.new_job(planned, folder + "/none.sqlite", "http://127.0.0.1:1", "--dry-run"),
        }, runs=RUNS, limits={dry_run: Limit(memory=MEMORY_LIMIT)}, goals={dry_run: Limit(memory=MEMORY_GOAL)})
        seconds = statistics.median(seconds_until_first_request(bundle, folder) for _ in range(RUNS))
    print("first request of %d records after %.1f s" % (SENT, seconds), flush=True)
    if seconds > FIRST_REQUEST_GOAL:
        within = seconds <= FIRST_REQUEST_LIMIT
        print("    more than %s" % ("the goal of %d s" % FIRST_REQUEST_GOAL if within else "the limit of %d s" % FIRST_REQUEST_LIMIT))
    return kept and seconds <= FIRST_REQUEST_LIMIT
