"""Full disks: an output is whole or not there, and a ledger goes on once there is room."""

import contextlib
import os
import subprocess
import sys

import kills
from campaign import Loss, contents, said
from server import Server

PAGE = 4096
# What the ledger of a job needs at most, with its journal.
LEDGER = 3_000_000


@contextlib.contextmanager
def disk(place, size):
    """A disk of some bytes, mounted at a folder."""
    os.mkdir(place)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def can_mount(campaign):
    try:
        with disk(campaign.place() + "/try", PAGE):
            return True
    except (subprocess.CalledProcessError, OSError):
        return False


def full(campaign, part, count):
    if not can_mount(campaign):
        campaign.counts[part]["skipped: only root can make disks"] += 1
        print("full-disks needs root", file=sys.stderr)
        return
    sizes = campaign.cases(count)
    share = max(2, count if campaign.case is not None else len(sizes))
    outputs(campaign, part, sizes, share)
    spools(campaign, part, sizes, share)
    ledgers(campaign, part, sizes, share)


def size_of(number, share, need):
    """The disks go from one page to more than what is needed, a step a case, and most of them are small."""
    return PAGE + PAGE * (int(need * 1.4 * (number / (share - 1)) ** 2) // PAGE)


def outputs(campaign, part, sizes, share):
    """The disk that a bundle or records are written to."""
    capture = campaign.load(10, kills.PINGS)
    for command, name in (("bundle", "out.tar.zst"), ("convert", "out.ndjson"), ("convert", "out.ndjson.zst")):
        whole = contents(campaign.make("whole-" + name, lambda path, command=command: campaign.offline(
            campaign.folder, command, "-q", "-o", path, "--label", "load", capture)))

        def run(number, folder, command=command, name=name, whole=whole):
            size = size_of(number, share, len(whole))
            with disk(folder + "/disk", size) as place:
                path = place + "/" + name
                done = campaign.offline(folder, command, "-q", "-o", path, "--label", "load", capture)
                return "%s %s: %s" % (command, name, check_output(done, place, path, whole, size))
        campaign.each(part, sizes, run)


def check_output(done, place, path, whole, size):
    if done.returncode == 0:
        if contents(path) != whole:
            raise Loss("status 0, and the output is not whole")
        return "enough room"
    if done.returncode not in (73, 74):
        raise Loss("a full disk ends with %d: %s" % (done.returncode, said(done)))
    if os.listdir(place):
        raise Loss("a full disk leaves %s" % os.listdir(place))
    if size > len(whole) + 16 * PAGE:
        raise Loss("there is room enough, and yet: %s" % said(done))
    return "refused, nothing left behind"


def spools(campaign, part, sizes, share):
    """The disk that holds what an archive is unpacked to."""
    def pack(path):
        subprocess.run(["tar", "-cf", path, "-C", campaign.load(10, kills.PINGS), "."], check=True)
    archive = campaign.make("load.tar", pack)
    whole = contents(campaign.bundle("of-archive.tar.zst", ["--label", "load", archive]))

    def run(number, folder):
        with disk(folder + "/disk", size_of(number, share, os.path.getsize(archive))) as place:
            path = folder + "/out.tar.zst"
            done = subprocess.run(
                campaign.words("pingferry", "bundle", "-q", "-o", path, "--label", "load", archive),
                env={**campaign.environment(folder), "TMPDIR": place}, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=300)
            if done.returncode == 0 and contents(path) == whole:
                return "spool: enough room"
            if done.returncode != 74 or os.path.exists(path) or os.listdir(place):
                raise Loss("a full TMPDIR ends with %d, and leaves %s: %s"
                           % (done.returncode, os.listdir(place) + os.listdir(folder), said(done)))
            return "spool: refused, nothing left behind"
    campaign.each(part, sizes, run)


def ledgers(campaign, part, sizes, share):
    """The disk that the ledger is on: once there is room, the next job goes on."""
    bundle = kills.upload_bundle(campaign)
    wanted = kills.expected(campaign, bundle)

    def run(number, folder):
        with Server() as server, disk(folder + "/disk", size_of(number, share, LEDGER)) as place:
            ledger = place + "/l.sqlite"
            words = campaign.job(ledger, "-q", *kills.endpoints(server), bundle)
            done = campaign.run(folder, "pingferry-upload", *words)
            if done.returncode == 0 and wanted - set(server.accepted):
                raise Loss("status 0, and not everything was sent")
            if done.returncode not in (0, 73, 74):
                raise Loss("a full disk ends with %d: %s" % (done.returncode, said(done)))
            subprocess.run(["mount", "-o", "remount,size=64m", place], check=True)
            kills.finish(campaign, folder, ledger, server, bundle, wanted, 1)
            return "ledger: " + ("enough room" if done.returncode == 0 else "refused, the next job goes on")
    campaign.each(part, sizes, run)
