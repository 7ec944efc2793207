"""Kills running programs. A bundle must be complete or absent, no upload may be lost, and receipts must be true.

An upload may be repeated only if its request was in progress when the program was killed.
"""

import collections
import itertools
import json
import os
import signal
import subprocess
import time

from campaign import SAMPLES, Failure, first_line, read
from server import Behavior, Pause, Server, element_key, normal

# The number of pings in the capture that is bundled.
PINGS = 4000
# The signals to choose from. SIGKILL is the most frequent one, because a program cannot clean up after it.
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


def stop_after(process, seconds, number=signal.SIGKILL):
    """Sends a signal to a process after a delay. Returns whether the process was ended by it."""
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        pass
    process.send_signal(number)
    try:
        return process.wait(300) != 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Failure("the program was still running 300 s after %s" % signal.Signals(number).name) from None


# Bundles

def bundles(campaign, part, count):
    """Kills `pingferry bundle` at random times, then runs it again."""
    folder = campaign.load(10, PINGS)

    def pack(path):
        subprocess.run(["tar", "-cf", path, "-C", folder, "."], check=True)
    captures = {"folder": folder, "archive": campaign.make("load.tar", pack)}
    # The expected bundle of each capture, and the time in seconds that it takes.
    known = {}
    for name, capture in captures.items():
        start = time.monotonic()
        path = campaign.bundle("of-%s.tar.zst" % name, ["--label", "load", capture])
        known[name] = (read(path), time.monotonic() - start)

    def run(number, folder):
        choice = campaign.random(part, number)
        name = choice.choice(sorted(captures))
        whole, seconds = known[name]
        output = folder + "/out"
        os.mkdir(output)
        words = ["bundle", "-q", "-o", output + "/b.tar.zst", "--label", "load", captures[name]]
        if choice.random() < 0.3:
            words.insert(1, "--force")
            with open(output + "/b.tar.zst", "wb") as file:
                file.write(b"older")
        signal_number = choice.choice(SIGNALS)
        killed = stop_after(campaign.start(folder, "pingferry", *words), choice.uniform(0, 1.1 * seconds), signal_number)
        check_bundle(output, whole, "--force" in words, signal_number if killed else None)
        if "--force" not in words:
            words.insert(1, "--force")
        done = campaign.pingferry(folder, *words)
        if done.returncode != 0 or read(output + "/b.tar.zst") != whole:
            raise Failure("the command after a kill ended with status %d: %s" % (done.returncode, first_line(done)))
        files = os.listdir(output) + [name for name in os.listdir(folder) if name != "out"]
        if files != ["b.tar.zst"]:
            raise Failure("temporary files are not removed by the next run: %s" % files)
        return "of %s, %s" % (name, "ended before the kill" if not killed else signal.Signals(signal_number).name)
    campaign.each(part, campaign.cases(count), run)


def check_bundle(output, whole, replaces, signal_number):
    """Checks the folder of a bundle after a kill.

    `whole` is the expected bundle. `replaces` states whether an older file had its name. `signal_number` is `None` if the
    program ended before the signal was sent.
    """
    path = output + "/b.tar.zst"
    found = read(path) if os.path.exists(path) else None
    if found is not None and found != whole and not (replaces and found == b"older"):
        raise Failure("the bundle is incomplete or altered: %d of %d bytes" % (len(found), len(whole)))
    if found is None and (replaces or signal_number is None):
        raise Failure("there is no bundle")
    others = [name for name in os.listdir(output) if name != "b.tar.zst"]
    if others and signal_number != signal.SIGKILL:
        raise Failure("temporary files after %s: %s" % (signal_number, others))


# Uploads

def expected_records(campaign, bundle):
    """Returns the items of each record that must arrive, by the identity of the record."""
    lines = campaign.pingferry(campaign.folder, "convert", "-q", "-o", "-", "--uploadable", bundle).stdout.splitlines()
    records = collections.defaultdict(list)
    for record in map(json.loads, lines):
        records[identity(record)] += record_items(record)
    return records


def expected_items(campaign, bundle):
    """Returns all items that must arrive."""
    return union(expected_records(campaign, bundle).values())


def identity(record):
    return record["system"], record["type"], record["id"]


def record_items(record):
    """Returns the keys of the items in a record, as `server.items` returns them."""
    if record["system"] == "mozilla":
        return [record["target"]["path"]]
    return [element_key(element) for element in record["payload"]["data"]]


def union(lists):
    return set(itertools.chain.from_iterable(lists))


def endpoints(server):
    return ["--endpoint", "mozilla=" + server.address, "--endpoint", "sift=" + server.address,
            "--endpoint", "leanplum=" + server.address]


def finish(campaign, folder, ledger, server, bundle, wanted, kills):
    """Runs jobs until all uploads are finished, and checks the items that the server received and the ledger."""
    server.behavior = None
    words = campaign.job(ledger, "-q", *endpoints(server), bundle)
    for _ in range(3):
        done = campaign.run(folder, "pingferry-upload", *words)
        if done.returncode not in (69, 75):
            break
    if done.returncode != 0:
        raise Failure("the job after a kill ended with status %d: %s" % (done.returncode, first_line(done)))
    every = union(wanted.values())
    lost = every - set(server.accepted)
    if lost:
        raise Failure("%d of %d items never arrived: %s" % (len(lost), len(every), sorted(lost)[0][:200]))
    check_settled(campaign, folder, ledger)
    if check_receipt(campaign, folder, ledger, server, bundle, wanted) != every:
        raise Failure("the receipt does not state that all items were delivered")
    if any(len(bodies) > 1 for bodies in server.bodies.values()):
        raise Failure("a document was sent with two different bodies, so that the server counts it twice")
    # Only items whose request was in progress at a kill are sent again, under the same identifier.
    most = max(server.accepted.values())
    if most > kills + 1:
        raise Failure("an item was sent %d times after %d kills" % (most, kills))
    before = server.requests
    done = campaign.run(folder, "pingferry-upload", *words)
    if done.returncode != 0 or server.requests != before:
        raise Failure("one more job repeats %d requests (status %d)" % (server.requests - before, done.returncode))


def check_settled(campaign, folder, ledger):
    """Checks that all items are delivered, except for held ones."""
    totals = campaign.status(folder, ledger)["totals"]
    waiting = [reason for reason in totals["waiting"] if reason["code"] != "held"]
    if totals["inFlight"] or totals["refused"] or waiting:
        raise Failure("the ledger contains unfinished uploads: %s" % totals)


def upload_bundle(campaign):
    """Returns a bundle with pings of many clients and with lists for Sift and Leanplum."""
    return campaign.bundle("uploads.tar.zst", [*SAMPLES, campaign.load(20, 300)])


def check_receipt(campaign, folder, ledger, server, bundle, wanted):
    """Makes a receipt and compares it with the items that the server accepted. Returns the delivered items.

    An accepted item is delivered, or in flight if the program was killed before it stored the response.
    """
    done = campaign.run(
        folder, "pingferry-upload", "receipt", "-q", "--receipt-records", "--ledger", ledger, bundle)
    if done.returncode != 0:
        raise Failure("there is no receipt: status %d: %s" % (done.returncode, first_line(done)))
    outcomes = collections.defaultdict(set)
    for record in json.loads(done.stdout)["predicate"]["records"]:
        outcomes[record["outcome"]].update(wanted.get(identity(record), []))
    delivered, accepted = outcomes["delivered"], set(server.accepted)
    unsettled = accepted - delivered - outcomes["in-flight"]
    for kind, items in (("delivered", delivered - accepted), ("not delivered", unsettled)):
        if items:
            raise Failure("the receipt states that %d items are %s: %s" % (len(items), kind, sorted(items)[0][:200]))
    return delivered


def check_ledger(campaign, folder, ledger, server):
    """Checks that a ledger can be opened after a kill. Returns whether it exists.

    Before the first request, the ledger may be incomplete. In this case `status` must report that there is no ledger.
    """
    if not os.path.exists(ledger):
        return False
    if not server.requests:
        done = campaign.run(folder, "pingferry-upload", "status", "--json", "--ledger", ledger)
        if done.returncode == 66:
            return False
    campaign.status(folder, ledger)
    return True


def wait_for_ledger(process, folder):
    """Waits until a process creates a file in `folder`, or ends."""
    while process.poll() is None and not os.listdir(folder):
        time.sleep(0.0001)


def new_ledgers(campaign, part, count):
    """Kills uploads within 20 ms after the ledger is created."""
    bundle = upload_bundle(campaign)
    wanted = expected_records(campaign, bundle)

    def run(number, folder):
        choice = campaign.random(part, number)
        ledger_folder = folder + "/ledger"
        os.mkdir(ledger_folder)
        ledger = ledger_folder + "/l.sqlite"
        with Server() as server:
            words = campaign.job(ledger, "-q", *endpoints(server), bundle)
            process = campaign.start(folder, "pingferry-upload", *words)
            wait_for_ledger(process, ledger_folder)
            delay = choice.uniform(0, 0.02)
            killed = stop_after(process, delay)
            if check_ledger(campaign, folder, ledger, server):
                check_receipt(campaign, folder, ledger, server, bundle, wanted)
            finish(campaign, folder, ledger, server, bundle, wanted, 1)
            return "killed within %s ms" % ("10" if delay < 0.01 else "20") if killed else "ended before the kill"
    campaign.each(part, campaign.cases(count), run)


def uploads(campaign, part, count):
    """Kills upload jobs at random times, several of them with the same ledger."""
    bundle = upload_bundle(campaign)
    wanted = expected_records(campaign, bundle)

    def run(number, folder):
        choice = campaign.random(part, number)
        ledger = folder + "/l.sqlite"
        # Some responses are delayed, so that requests are in progress at the time of a kill.
        slow = Behavior(lambda path: [Pause(choice.uniform(0, 0.05)), *normal(path)], accepts=True)
        with Server(slow) as server:
            words = campaign.job(ledger, "-q", *endpoints(server), bundle)
            kills = 0
            for _ in range(choice.randint(1, 4)):
                requests = server.requests + choice.randint(0, 60)
                process = campaign.start(folder, "pingferry-upload", *words)
                while process.poll() is None and server.requests < requests:
                    time.sleep(0.001)
                kills += stop_after(process, choice.uniform(0, 0.03))
                if check_ledger(campaign, folder, ledger, server):
                    check_receipt(campaign, folder, ledger, server, bundle, wanted)
            finish(campaign, folder, ledger, server, bundle, wanted, kills)
            return "killed %d times" % kills
    campaign.each(part, campaign.cases(count), run)
