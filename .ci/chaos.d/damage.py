"""Flipped bits and cuts: verify notices them, and salvage gives no altered record without a mark."""

import collections
import io
import json
import subprocess
import tarfile

from campaign import Loss, contents

PINGS = 6000


def recompressed(data, *options):
    """A bundle as other tools make it again: one frame, and no seek table."""
    plain = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return subprocess.run(["zstd", "-cq", *options], input=plain, stdout=subprocess.PIPE, check=True).stdout


def packed_again(data):
    """A bundle that was unpacked and packed again by tar."""
    plain = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
    output = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(plain)) as source, \
            tarfile.open(fileobj=output, mode="w", format=tarfile.GNU_FORMAT) as target:
        for member in source:
            member.pax_headers, member.mtime = {}, 1_600_000_000
            target.addfile(member, source.extractfile(member))
    return subprocess.run(["zstd", "-cq"], input=output.getvalue(), stdout=subprocess.PIPE, check=True).stdout


class Original:
    """A bundle before it is damaged, and what it holds."""

    def __init__(self, campaign, name, data, known):
        self.name, self.data = name, data
        self.members = members(data)
        self.lines = collections.Counter(known)
        folder = campaign.place()
        status, lines = salvage(campaign, folder, data)
        if status not in (0, 1) or sum((self.lines - lines).values()):
            raise Loss("%s: salvage gives %d of %d records of the undamaged bundle (status %d)"
                       % (name, lines.total(), self.lines.total(), status))


def originals(campaign, part):
    """The bundles that are damaged: small, with several segments, and written again by other tools."""
    small = campaign.samples()
    large = campaign.bundle("large.tar.zst", [campaign.load(20, PINGS)])
    made = []
    for name, path, change in (
            ("native", small, lambda data: data), ("native, large", large, lambda data: data),
            ("recompressed", small, recompressed), ("without checksums", small, lambda data: recompressed(data, "--no-check")),
            ("packed again by tar", small, packed_again)):
        known = campaign.offline(campaign.folder, "convert", "-q", "-o", "-", path).stdout.splitlines()
        try:
            made.append(Original(campaign, name, change(contents(path)), known))
        except Loss as loss:
            campaign.counts[part]["LOST"] += 1
            campaign.losses.append("%s: %s" % (part, loss))
    return made


def members(data):
    """What a damaged bundle holds for stock tools: names and bytes; None where they can make nothing of it."""
    plain = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    try:
        with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
            return [(member.name, archive.extractfile(member).read()) for member in archive if member.isfile()]
    except (tarfile.TarError, OSError, ValueError):
        return None


def salvage(campaign, folder, data):
    """The exit status, and how often each line came out."""
    path = folder + "/damaged.tar.zst"
    with open(path, "wb") as file:
        file.write(data)
    done = campaign.offline(folder, "convert", "-q", "--salvage", "-o", "-", path)
    return done.returncode, collections.Counter(done.stdout.splitlines())


def is_marked(line):
    """Whether a record says of itself that it is not proven, and is held for that."""
    try:
        record = json.loads(line)
    except ValueError:
        return False
    codes = [[text.split(":")[0].split(" ")[0] for text in record[key]] for key in ("notes", "held")]
    return all("unproven" in code for code in codes)


def without_mark(line):
    record = json.loads(line)
    for key in ("notes", "held"):
        record[key] = [text for text in record[key] if not text.startswith("unproven")]
    return json.dumps(record, sort_keys=True)


def check(campaign, folder, original, data):
    """Damages of one bundle: how the case ended."""
    path = folder + "/damaged.tar.zst"
    status, lines = salvage(campaign, folder, data)
    verified = campaign.offline(folder, "verify", path).returncode
    if verified == 0 and members(data) != original.members:
        raise Loss("%s: verify does not notice that the content changed" % original.name)
    if verified not in (0, 65):
        raise Loss("%s: verify ended with %d" % (original.name, verified))
    if status not in (0, 1, 65):
        raise Loss("%s: salvage ended with %d" % (original.name, status))
    more = lines - original.lines
    unmarked = [line for line in more if not is_marked(line)]
    if unmarked:
        raise Loss("%s: salvage gives %d altered records without a mark (status %d): %s"
                   % (original.name, len(unmarked), status, unmarked[0][:200]))
    known = {without_mark(line) for line in original.lines} if more else set()
    altered = sum(without_mark(line) not in known for line in more)
    missing = original.lines.total() - lines.total()
    if status == 0 and (more or missing > 0):
        raise Loss("%s: salvage gives %d records with a mark and leaves %d out, with status 0"
                   % (original.name, more.total(), missing))
    if verified == 0:
        return original.name + ": content unchanged"
    return original.name + (": noticed, altered records marked" if altered else
                            ": noticed, some records given up" if missing > 0 else ": noticed, all records salvaged")


def flips(campaign, part, count):
    given = originals(campaign, part)

    def run(number, folder):
        choice = campaign.random(part, number)
        original = given[number % len(given)]
        data = bytearray(original.data)
        data[choice.randrange(len(data))] ^= 1 << choice.randrange(8)
        return check(campaign, folder, original, bytes(data))
    campaign.each(part, campaign.cases(count), run)


def cuts(campaign, part, count):
    given = originals(campaign, part)

    def run(number, folder):
        original = given[number % len(given)]
        length = campaign.random(part, number).randrange(len(original.data))
        return check(campaign, folder, original, original.data[:length])
    campaign.each(part, campaign.cases(count), run)
