"""Flips bits in bundles and truncates bundles.

`verify` must report the damage, and `convert --salvage` must mark altered records.
"""

import collections
import io
import json
import subprocess
import tarfile

from campaign import Failure, read

PINGS = 6000


class Original:
    """A bundle before it is damaged, with its members and its records."""

    def __init__(self, campaign, name, data, known):
        self.name, self.data = name, data
        self.members = members(data)
        self.lines = collections.Counter(known)
        folder = campaign.new_folder()
        status, lines = salvage(campaign, folder, data)
        if status not in (0, 1) or sum((self.lines - lines).values()):
            raise Failure("%s: salvage restores %d of %d records of the undamaged bundle (status %d)"
                       % (name, lines.total(), self.lines.total(), status))


def originals(campaign, part):
    """Returns the bundles to damage: a small one, and one with several segments."""
    paths = {"small": campaign.samples(), "large": campaign.bundle("large.tar.zst", [campaign.load(20, PINGS)])}
    made = []
    for name, path in paths.items():
        known = campaign.pingferry(campaign.folder, "convert", "-q", "-o", "-", path).stdout.splitlines()
        try:
            made.append(Original(campaign, name, read(path), known))
        except Failure as failure:
            campaign.counts[part]["FAILED"] += 1
            campaign.failures.append("%s: %s" % (part, failure))
    return made


def members(data):
    """Returns the names and contents of the members that stock tools can extract, or `None` if they reject the archive."""
    plain = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    try:
        with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
            return [(member.name, archive.extractfile(member).read()) for member in archive if member.isfile()]
    except (tarfile.TarError, OSError, ValueError):
        return None


def salvage(campaign, folder, data):
    """Salvages the records of a bundle. Returns the exit status and the number of occurrences of each line."""
    path = folder + "/damaged.tar.zst"
    with open(path, "wb") as file:
        file.write(data)
    done = campaign.pingferry(folder, "convert", "-q", "--salvage", "-o", "-", path)
    return done.returncode, collections.Counter(done.stdout.splitlines())


def is_marked(line):
    """Returns whether a record is held, and has a note, because it is unproven."""
    try:
        record = json.loads(line)
    except ValueError:
        return False
    codes = [[text.split(":")[0].split(" ")[0] for text in record[key]] for key in ("notes", "held")]
    return all("unproven" in code for code in codes)


def without_mark(line):
    """Returns a record as JSON without its `unproven` notes and hold reasons."""
    record = json.loads(line)
    for key in ("notes", "held"):
        record[key] = [text for text in record[key] if not text.startswith("unproven")]
    return json.dumps(record, sort_keys=True)


def check(campaign, folder, original, data):
    """Checks `verify` and `convert --salvage` on a damaged bundle. Returns a description of the outcome."""
    path = folder + "/damaged.tar.zst"
    status, lines = salvage(campaign, folder, data)
    verified = campaign.pingferry(folder, "verify", path).returncode
    if verified == 0 and members(data) != original.members:
        raise Failure("%s: verify does not report that the contents changed" % original.name)
    if verified not in (0, 65):
        raise Failure("%s: verify ended with status %d" % (original.name, verified))
    if status not in (0, 1, 65):
        raise Failure("%s: salvage ended with status %d" % (original.name, status))
    more = lines - original.lines
    unmarked = [line for line in more if not is_marked(line)]
    if unmarked:
        raise Failure("%s: salvage writes %d altered records without a mark (status %d): %s"
                   % (original.name, len(unmarked), status, unmarked[0][:200]))
    known = {without_mark(line) for line in original.lines} if more else set()
    altered = sum(without_mark(line) not in known for line in more)
    missing = original.lines.total() - lines.total()
    if status == 0 and (more or missing > 0):
        raise Failure("%s: salvage writes %d marked records and omits %d, but exits with status 0"
                   % (original.name, more.total(), missing))
    if verified == 0:
        return original.name + ": contents unchanged"
    return original.name + (": reported, altered records marked" if altered else
                            ": reported, some records lost" if missing > 0 else ": reported, all records salvaged")


def flips(campaign, part, count):
    """Flips one bit in each case."""
    given = originals(campaign, part)

    def run(number, folder):
        choice = campaign.random(part, number)
        original = given[number % len(given)]
        data = bytearray(original.data)
        data[choice.randrange(len(data))] ^= 1 << choice.randrange(8)
        return check(campaign, folder, original, bytes(data))
    campaign.each(part, campaign.cases(count), run)


def cuts(campaign, part, count):
    """Truncates a bundle in each case."""
    given = originals(campaign, part)

    def run(number, folder):
        original = given[number % len(given)]
        length = campaign.random(part, number).randrange(len(original.data))
        return check(campaign, folder, original, original.data[:length])
    campaign.each(part, campaign.cases(count), run)
