"""Programs that are killed: a bundle appears complete or not at all, and an upload loses and repeats nothing."""

import itertools
import json
import os
import signal
import subprocess
import time

from campaign import SAMPLES, Loss, contents, said
from server import Behaviour, Pause, Server, element_key, normal

PINGS = 4000
# SIGKILL mostly; the others let a program clean up.
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


def stop_after(process, seconds, number=signal.SIGKILL):
    """Sends a signal after some time; whether the program was still at work."""
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        pass
    process.send_signal(number)
    try:
        return process.wait(30) != 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Loss("still running 30 s after %s" % signal.Signals(number).name) from None


# Bundles

def bundles(campaign, part, count):
    folder = campaign.load(10, PINGS)

    def pack(path):
        subprocess.run(["tar", "-cf", path, "-C", folder, "."], check=True)
    captures = {"folder": folder, "archive": campaign.make("load.tar", pack)}
    known = {}
    for name, capture in captures.items():
        start = time.monotonic()
        path = campaign.bundle("of-%s.tar.zst" % name, ["--label", "load", capture])
        known[name] = (contents(path), time.monotonic() - start)

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
        number = choice.choice(SIGNALS)
        killed = stop_after(campaign.start(folder, "pingferry", *words), choice.uniform(0, 1.1 * seconds), number)
        check_bundle(output, whole, "--force" in words, number if killed else None)
        if "--force" not in words:
            words.insert(1, "--force")
        done = campaign.offline(folder, *words)
        if done.returncode != 0 or contents(output + "/b.tar.zst") != whole:
            raise Loss("bundling again after a kill: status %d: %s" % (done.returncode, said(done)))
        left = os.listdir(output) + [name for name in os.listdir(folder) if name != "out"]
        if left != ["b.tar.zst"]:
            raise Loss("temporary files stay for ever: %s" % left)
        return "of %s, %s" % (name, "ended before the kill" if not killed else signal.Signals(number).name)
    campaign.each(part, campaign.cases(count), run)


def check_bundle(output, whole, replaces, number):
    """What stands in the output's folder after a kill."""
    path = output + "/b.tar.zst"
    found = contents(path) if os.path.exists(path) else None
    if found is not None and found != whole and not (replaces and found == b"older"):
        raise Loss("a bundle that is not whole has its name: %d of %d bytes" % (len(found), len(whole)))
    if found is None and (replaces or number is None):
        raise Loss("there is no bundle")
    others = [name for name in os.listdir(output) if name != "b.tar.zst"]
    if others and number != signal.SIGKILL:
        raise Loss("temporary files after %s: %s" % (number, others))


# Uploads

def expected(campaign, bundle):
    """What has to arrive, as `server.items` names it."""
    lines = campaign.offline(campaign.folder, "convert", "-q", "-o", "-", "--uploadable", bundle).stdout.splitlines()
    records = [json.loads(line) for line in lines]
    return set(itertools.chain.from_iterable(
        [record["target"]["path"]] if record["system"] == "mozilla" else
        [element_key(element) for element in record["payload"]["data"]] for record in records))


def endpoints(server):
    return ["--endpoint", "mozilla=" + server.address, "--endpoint", "sift=" + server.address,
            "--endpoint", "leanplum=" + server.address]


def finish(campaign, folder, ledger, server, bundle, wanted, kills):
    """Runs jobs until nothing is left, and checks what the server has and what the ledger knows."""
    server.behaviour = None
    words = campaign.job(ledger, "-q", *endpoints(server), bundle)
    for _ in range(3):
        done = campaign.run(folder, "pingferry-upload", *words)
        if done.returncode != 75:
            break
    if done.returncode != 0:
        raise Loss("the job after a kill ended with %d: %s" % (done.returncode, said(done)))
    lost = wanted - set(server.accepted)
    if lost:
        raise Loss("%d of %d items never arrived: %s" % (len(lost), len(wanted), sorted(lost)[0][:200]))
    check_settled(campaign, folder, ledger)
    if any(len(bodies) > 1 for bodies in server.bodies.values()):
        raise Loss("a document was sent with two bodies: the server counts it twice")
    # What was in flight at a kill is sent again under the same id, and nothing else is.
    most = max(server.accepted.values())
    if most > kills + 1:
        raise Loss("an item was sent %d times after %d kills" % (most, kills))
    before = server.requests
    done = campaign.run(folder, "pingferry-upload", *words)
    if done.returncode != 0 or server.requests != before:
        raise Loss("one more job sends %d requests again (status %d)" % (server.requests - before, done.returncode))


def check_settled(campaign, folder, ledger):
    """All is delivered, but for what is held."""
    totals = campaign.status(folder, ledger)["totals"]
    waiting = [reason for reason in totals["waiting"] if reason["code"] != "held"]
    if totals["inFlight"] or totals["refused"] or waiting:
        raise Loss("the ledger has something left: %s" % totals)


def upload_bundle(campaign):
    """Pings of many clients, and lists of Sift and Leanplum."""
    return campaign.bundle("uploads.tar.zst", [*SAMPLES, campaign.load(20, 300)])


def look(campaign, folder, ledger, server):
    """Opens a ledger after a kill. Before the first request it may not be one yet; then status says that there is none."""
    if not os.path.exists(ledger):
        return
    if not server.requests:
        done = campaign.run(folder, "pingferry-upload", "status", "--json", "--ledger", ledger)
        if done.returncode == 66:
            return
    campaign.status(folder, ledger)


def wait_for_ledger(process, folder):
    """Waits until something of a ledger is there."""
    while process.poll() is None and not os.listdir(folder):
        time.sleep(0.0001)


def new_ledgers(campaign, part, count):
    """Kills within the first 20 ms of a new ledger."""
    bundle = upload_bundle(campaign)
    wanted = expected(campaign, bundle)

    def run(number, folder):
        choice = campaign.random(part, number)
        place = folder + "/ledger"
        os.mkdir(place)
        ledger = place + "/l.sqlite"
        with Server() as server:
            words = campaign.job(ledger, "-q", *endpoints(server), bundle)
            process = campaign.start(folder, "pingferry-upload", *words)
            wait_for_ledger(process, place)
            delay = choice.uniform(0, 0.02)
            killed = stop_after(process, delay)
            look(campaign, folder, ledger, server)
            finish(campaign, folder, ledger, server, bundle, wanted, 1)
            return "killed within %s ms" % ("10" if delay < 0.01 else "20") if killed else "ended before the kill"
    campaign.each(part, campaign.cases(count), run)


def uploads(campaign, part, count):
    """Kills at any moment of jobs, several on one ledger."""
    bundle = upload_bundle(campaign)
    wanted = expected(campaign, bundle)

    def run(number, folder):
        choice = campaign.random(part, number)
        ledger = folder + "/l.sqlite"
        # Some answers come late, so that something is in flight.
        slow = Behaviour(lambda path: [Pause(choice.uniform(0, 0.05)), *normal(path)], accepts=True)
        with Server(slow) as server:
            words = campaign.job(ledger, "-q", *endpoints(server), bundle)
            kills = 0
            for _ in range(choice.randint(1, 4)):
                requests = server.requests + choice.randint(0, 60)
                process = campaign.start(folder, "pingferry-upload", *words)
                while process.poll() is None and server.requests < requests:
                    time.sleep(0.001)
                kills += stop_after(process, choice.uniform(0, 0.03))
                look(campaign, folder, ledger, server)
            finish(campaign, folder, ledger, server, bundle, wanted, kills)
            return "killed %d times" % kills
    campaign.each(part, campaign.cases(count), run)
