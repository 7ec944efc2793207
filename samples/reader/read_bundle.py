#!/usr/bin/env python3
"""Verifies a bundle and prints its digest and the number of its records, with Python 3.9 and the program `zstd`.

    read_bundle.py [--records] BUNDLE

With `--records`, the records are printed first. Use them only if the exit status is 0. It is 65 if the bundle is
damaged, and 66 if it cannot be read. Concatenate volumes before. Source: "Bundle", in `Sources/Bundle/Bundle.docc`.
"""

import collections
import hashlib
import json
import os
import struct
import subprocess
import sys

BLOCK = 512


def require(condition, fault):
    if not condition:
        raise ValueError(fault)


def to_json(value):
    """Returns canonical JSON: the keys are sorted, and there are no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def read_seek_table(file):
    """Compares the seek table with the frames.

    Returns the offsets in the archive at which frames begin or end.
    """
    total = os.fstat(file).st_size
    count, flags, magic = struct.unpack("<IBI", os.pread(file, 9, max(0, total - 9)).rjust(9, b"\0"))
    length, offset, bounds = 12 * count + 17, 0, [0]
    require(magic == 0x8F92EAB1 and flags == 0x80 and length < total, "there is no seek table at the end")
    table = os.pread(file, length, total - length)
    require(table[:8] == struct.pack("<II", 0x184D2A5E, length - 8), "the seek table has no header")
    for compressed, size, checksum in struct.iter_unpack("<III", table[8:-9]):
        offset += compressed
        bounds.append(bounds[-1] + size)
        end = os.pread(file, 4, max(0, offset - 4))
        require(end == struct.pack("<I", checksum), "a frame differs from the seek table")
    require(offset == total - length, "the seek table does not list all frames")
    return set(bounds)


def tar_header(name, size):
    """Returns the header of a member, in which only the name, the size and the checksum vary."""
    header = name.encode().ljust(100, b"\0") + b"0000600\0" + 2 * b"0000000\0" + b"%011o\0%011o\0        0" % (size, 0)
    header = (header.ljust(257, b"\0") + b"ustar\x0000").ljust(329, b"\0") + 2 * b"0000000\0"
    return (header[:148] + b"%06o\0 " % sum(header) + header[156:]).ljust(BLOCK, b"\0")


def members_of(archive, bounds):
    """Yields the name and the contents of each member of the archive."""
    offset, header = 0, archive.read(BLOCK)
    while any(header):
        name, size = header.partition(b"\0")[0].decode("ascii"), int(header[124:135], 8)
        require(header == tar_header(name, size) and size <= 1 << 28 and offset in bounds, "%r: wrong header" % name)
        contents = archive.read(size + -size % BLOCK)
        require(len(contents) == size + -size % BLOCK and not any(contents[size:]), "%s: incomplete" % name)
        yield name, contents[:size]
        offset, header = offset + BLOCK + len(contents), archive.read(BLOCK)
    end = offset + len(header) + len(archive.read(BLOCK + 1))
    require(offset in bounds and end == max(bounds) == offset + 2 * BLOCK, "the archive does not end with two blocks")


def count(record, totals, clients):
    """Adds a record to the totals, and to the line about its client."""
    system, client, app = record["system"], record["client"], record["app"] or {}
    line = clients.setdefault((system, (client or "").encode().lower(), client is None), {
        "apps": [], "client": client, "first": None, "last": None, "records": 0, "system": system,
        "type": collections.Counter(), "uploadable": 0})
    line["apps"] = sorted({*line["apps"], app.get("name") or app.get("id")} - {None})
    times = sorted({line["first"], line["last"], record["time"]} - {None}) or [None]
    line["first"], line["last"] = times[0], times[-1]
    line["type"][record["type"]] += 1
    totals["held"].update({reason.split(":")[0] for reason in record["held"]})
    totals["system"][system] += 1
    totals["type"]["%s/%s" % (system, record["type"])] += 1
    for counts in (line, totals):
        counts["records"] += 1
        counts["uploadable"] += not record["held"]


def verify(file, prints_records):
    """Verifies a bundle, and returns its digest and its totals."""
    members, clients, lists, seen, notes = [], {}, collections.defaultdict(list), set(), collections.Counter()
    totals = {"records": 0, "uploadable": 0} | {key: collections.Counter() for key in ("held", "system", "type")}
    bounds = read_seek_table(file.fileno())
    file.seek(0)
    zstd = subprocess.Popen(["zstd", "-dcq"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for name, contents in members_of(zstd.stdout, bounds):
        members.append({"bytes": len(contents), "path": name, "sha256": hashlib.sha256(contents).hexdigest()})
        lines = contents.splitlines() if name.endswith(".ndjson") else []
        if not name.startswith("records/"):
            lists[name.split(".")[0]] += lines
            continue
        members[-1]["records"] = len(lines)
        for record in map(json.loads, lines):
            identity = hashlib.sha256(to_json([record[key] for key in ("system", "type", "id", "payload")])).digest()
            require(identity not in seen, "the record %r occurs twice" % record["id"])
            seen.add(identity)
            notes.update(set(record["notes"]))
            count(record, totals, clients)
        sys.stdout.buffer.write(contents if prints_records else b"")
    require(zstd.wait() == 0, "zstd reports damage")
    manifest, members = json.loads(contents), members[:-1]
    require(name == "manifest.json" and manifest["version"] in (1, 2, 3, 4), "not a manifest of version 1 to 4")
    lines = ["%(sha256)s  %(path)s\n" % member for member in members]
    lines += ["%s  parent\n" % parent for parent in manifest.get("parents", [])]
    manifest |= {"digest": hashlib.sha256("".join(lines).encode()).hexdigest(), "format": "pingferry-bundle"}
    manifest["totals"] = totals
    manifest["segments"] = [member for member in members if "records" in member]
    manifest["members"] = [member for member in members if "records" not in member]
    require(contents == to_json(manifest) + b"\n", "the manifest differs from the members")
    found = [to_json(clients[key]) for key in sorted(clients, key=lambda key: key[:2])]
    require(lists["clients"] == found, "the list of clients differs from the records")
    stored = {"quarantine/" + entry["sha256"] for entry in map(json.loads, lists["quarantine"]) if entry["stored"]}
    names = ["records/%06d.ndjson" % (number + 1) for number in range(len(manifest["segments"]))] + sorted(stored)
    names = ["pingferry-bundle.json", *names, "quarantine.ndjson", "problems.ndjson", "clients.ndjson"]
    # After 4 MiB, a list is continued in a member such as `quarantine.000002.ndjson`.
    found = [member["path"] for member in members if ".0" not in member["path"]]
    require(found == names, "members are missing or in another order")
    note, others = "pseudonymized %s" % manifest.get("pseudonymized"), lists["quarantine"] + lists["problems"]
    require("pseudonymized" not in manifest or notes[note] == len(seen) and not others, "not all ids are pseudonyms")
    return manifest


def main(arguments):
    if not arguments:
        sys.exit(__doc__.strip())
    try:
        with open(arguments[-1], "rb", 0) as file:
            manifest = verify(file, arguments[0] == "--records")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        print("read_bundle: %s: %s" % (arguments[-1], getattr(error, "strerror", error)), file=sys.stderr)
        return 66 if isinstance(error, OSError) else 65
    print("good, %(records)d records (%(uploadable)d uploadable)" % manifest["totals"])
    print("digest " + manifest["digest"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
