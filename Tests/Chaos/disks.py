"""Tests full disks. An output must be complete or absent, and uploads must continue once space is available."""

import contextlib
import os
import subprocess
import sys

import kills
from campaign import TIMEOUT, Failure, first_line, read
from server import Server

# The size of a page, in bytes.
PAGE = 4096
# The maximum size of the ledger of a job and its journal, in bytes.
LEDGER_SIZE = 3_000_000


@contextlib.contextmanager
def disk(path, size):
    """Mounts a file system of `size` bytes at the new folder `path`. It is unmounted at the end of the `with` statement."""
    os.mkdir(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def can_mount(campaign):
    """Returns whether file systems can be mounted, which needs root."""
    try:
        with disk(campaign.new_folder() + "/try", PAGE):
            return True
    except (subprocess.CalledProcessError, OSError):
        return False


def full(campaign, part, count):
    """Runs the cases of all kinds of files on disks of various sizes."""
    if not can_mount(campaign):
        campaign.counts[part]["skipped: mounting a disk needs root"] += 1
        print("chaos: full-disks is skipped, because mounting a disk needs root", file=sys.stderr)
        return
    numbers = campaign.cases(count)
    steps = max(2, count if campaign.case is not None else len(numbers))
    outputs(campaign, part, numbers, steps)
    spools(campaign, part, numbers, steps)
    ledgers(campaign, part, numbers, steps)


def disk_size(number, steps, required):
    """Returns the size of the disk of a case: from one page to 1.4 times the required size. Most disks are small."""
    return PAGE + PAGE * (int(required * 1.4 * (number / (steps - 1)) ** 2) // PAGE)


def outputs(campaign, part, numbers, steps):
    """Fills the disk to which a bundle or records are written."""
    capture = campaign.load(10, kills.PINGS)
    for command, name in (("bundle", "out.tar.zst"), ("convert", "out.ndjson"), ("convert", "out.ndjson.zst")):
        whole = read(campaign.make("whole-" + name, lambda path, command=command: campaign.pingferry(
            campaign.folder, command, "-q", "-o", path, "--label", "load", capture)))

        def run(number, folder, command=command, name=name, whole=whole):
            size = disk_size(number, steps, len(whole))
            with disk(folder + "/disk", size) as mounted:
                path = mounted + "/" + name
                done = campaign.pingferry(folder, command, "-q", "-o", path, "--label", "load", capture)
                return "%s %s: %s" % (command, name, check_output(done, path, whole, size))
        campaign.each(part, numbers, run)


def check_output(done, path, whole, size):
    """Checks the only file of a disk of `size` bytes. Returns a description of the outcome."""
    names = os.listdir(os.path.dirname(path))
    if done.returncode == 0:
        if read(path) != whole:
            raise Failure("status 0, but the output is incomplete")
        return "enough space"
    if done.returncode not in (73, 74):
        raise Failure("status %d on a full disk: %s" % (done.returncode, first_line(done)))
    if names:
        raise Failure("a full disk leaves the files %s" % names)
    if size > len(whole) + 16 * PAGE:
        raise Failure("failed although the disk is large enough: %s" % first_line(done))
    return "failed, no files left"


def spools(campaign, part, numbers, steps):
    """Fills the disk of temporary files, to which an archive is unpacked."""
    def pack(path):
        subprocess.run(["tar", "-cf", path, "-C", campaign.load(10, kills.PINGS), "."], check=True)
    archive = campaign.make("load.tar", pack)
    whole = read(campaign.bundle("of-archive.tar.zst", ["--label", "load", archive]))

    def run(number, folder):
        with disk(folder + "/disk", disk_size(number, steps, os.path.getsize(archive))) as mounted:
            path = folder + "/out.tar.zst"
            done = subprocess.run(
                campaign.command("pingferry", "bundle", "-q", "-o", path, "--label", "load", archive),
                env={**campaign.environment(folder), "TMPDIR": mounted}, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=TIMEOUT)
            if done.returncode == 0 and read(path) == whole:
                return "spool: enough space"
            if done.returncode != 74 or os.path.exists(path) or os.listdir(mounted):
                raise Failure("status %d on a full TMPDIR, which leaves the files %s: %s"
                           % (done.returncode, os.listdir(mounted) + os.listdir(folder), first_line(done)))
            return "spool: failed, no files left"
    campaign.each(part, numbers, run)


def ledgers(campaign, part, numbers, steps):
    """Fills the disk of the ledger. Once space is available, the next job must deliver everything that remains."""
    bundle = kills.upload_bundle(campaign)
    wanted = kills.expected_records(campaign, bundle)

    def run(number, folder):
        with Server() as server, disk(folder + "/disk", disk_size(number, steps, LEDGER_SIZE)) as mounted:
            ledger = mounted + "/l.sqlite"
            words = campaign.job(ledger, "-q", *kills.endpoints(server), bundle)
            done = campaign.run(folder, "pingferry-upload", *words)
            if done.returncode == 0 and kills.union(wanted.values()) - set(server.accepted):
                raise Failure("status 0, but some items were not sent")
            if done.returncode not in (0, 73, 74):
                raise Failure("status %d on a full disk: %s" % (done.returncode, first_line(done)))
            subprocess.run(["mount", "-o", "remount,size=64m", mounted], check=True)
            kills.finish(campaign, folder, ledger, server, bundle, wanted, 1)
            return "ledger: " + ("enough space" if done.returncode == 0 else "failed, the next job continues")
    campaign.each(part, numbers, run)
