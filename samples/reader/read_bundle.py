#!/usr/bin/env python3
"""Verifies a bundle with Python 3.9 and `zstd`, and prints its counts: read_bundle.py [--records] BUNDLE

With `--records`, the records are printed first. Use them only if the exit status is 0. It is 65 if the bundle is
damaged, and 66 if it cannot be read. Concatenate volumes before. Source: "Bundle", in `Sources/Bundle/Bundle.docc`.
"""

import collections
import hashlib
import io
import json
import os
import struct
import subprocess
import sys

BLOCK, FIRST_SHA256 = 512, hashlib.sha256(b'{"format":"pingferry-bundle","version":1}\n').hexdigest()
Number = type("Number", (str,), {})


def require(condition, fault):
    if not condition:
        raise ValueError(fault)


def to_json(value):
    """Returns canonical JSON: the keys are sorted, there are no spaces, and numbers keep their digits."""
    if isinstance(value, dict):
        return "{%s}" % ",".join(["%s:%s" % (to_json(key), to_json(value[key])) for key in sorted(value)])
    if isinstance(value, list):
        return "[%s]" % ",".join([to_json(item) for item in value])
    return value if type(value) is Number else json.dumps(value, ensure_ascii=False)


def parse_canonical_object(line):
    value = json.loads(line, parse_int=Number, parse_float=Number, parse_constant=int)
    require(type(value) is dict and (to_json(value) + "\n").encode() == line, "%.60r is not a canonical line" % line)
    return value


def read_seek_table(file):
    """Compares the seek table with the frames, and returns an iterator over the sizes of their contents."""
    total, offset = os.fstat(file).st_size, 0
    count, flags, magic = struct.unpack("<IBI", os.pread(file, 9, max(0, total - 9)).rjust(9, b"\0"))
    length = 12 * count + 17
    require(magic == 0x8F92EAB1 and flags == 0x80 and length < total, "there is no seek table at the end")
    table = os.pread(file, length, total - length)
    require(table[:8] == struct.pack("<II", 0x184D2A5E, length - 8), "the seek table has no header")
    for compressed, size, checksum in struct.iter_unpack("<III", table[8:-9]):
        head, end = os.pread(file, 5, offset), os.pread(file, 4, max(0, offset + compressed - 4))
        require(head[:4] == b"(\xb5/\xfd" and head[4] & 4 and size and end == struct.pack("<I", checksum), "no frame")
        offset += compressed
    require(offset == total - length, "the seek table does not list all frames")
    return (size for _, size, _ in struct.iter_unpack("<III", table[8:-9]))


def members_of(archive, sizes):
    """Yields the name and the contents of each member of the archive."""
    while any(header := archive.read(BLOCK)):
        name, size = header.partition(b"\0")[0].decode("ascii"), int(header[124:135], 8)
        fields = name.encode().ljust(100, b"\0") + b"0000600\0" + 2 * b"0000000\0" + b"%011o\0%011o\0" % (size, 0)
        fields = ((fields + b"        0").ljust(257, b"\0") + b"ustar\x0000").ljust(329, b"\0") + 2 * b"0000000\0"
        fields = (fields[:148] + b"%06o\0 " % sum(fields) + fields[156:]).ljust(BLOCK, b"\0")
        require(header == fields and 0 <= size <= 1 << 28, "%r: wrong header" % name)
        contents = archive.read(size + -size % BLOCK)
        require(BLOCK + len(contents) == next(sizes, 0), "%s: incomplete, or not one frame" % name)
        require(len(contents) == size + -size % BLOCK and not any(contents[size:]), "%s: wrong padding" % name)
        yield name, contents[:size]
    require([*sizes] == [1024] and header + archive.read(1024) == bytes(1024), "the archive does not end with zeros")


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
        counts.update(records=counts["records"] + 1, uploadable=counts["uploadable"] + (not record["held"]))


def verify(path, prints_records):
    """Verifies a bundle, and returns its manifest."""
    members, clients, listed, stored, seen, tally = [], {}, hashlib.sha256(), set(), set(), collections.Counter()
    totals = {"records": 0, "uploadable": 0} | {key: collections.Counter() for key in ("held", "system", "type")}
    with open(path, "rb", 0) as file, subprocess.Popen(["zstd", "-dcqq"], stdin=file, stdout=subprocess.PIPE) as zstd:
        for name, contents in members_of(zstd.stdout, read_seek_table(file.fileno())):
            digest, kind = hashlib.sha256(contents).hexdigest(), name.split("/")[0].split(".")[0]
            members.append({"bytes": len(contents), "path": name, "sha256": digest})
            members[-1].update({"records": contents.count(b"\n")} if kind == "records" else {})
            require("quarantine/" not in name or name[11:] == digest, name + " is not named after its SHA-256")
            for line in io.BytesIO(contents if name.endswith(".ndjson") else b""):
                value = parse_canonical_object(line)
                tally[kind] += 1
                if kind == "records":
                    fields = to_json([value[key] for key in ("system", "type", "id", "payload")])
                    identity = hashlib.sha256(fields.encode()).digest()
                    require(identity not in seen, "the record %r occurs twice" % value["id"])
                    seen.add(identity)
                    tally.update({note for note in value["notes"] if note.startswith("pseudonymized ")})
                    count(value, totals, clients)
                listed.update(line if kind == "clients" else b"")
                stored |= {"quarantine/" + value["sha256"]} if kind == "quarantine" and value["stored"] else set()
            sys.stdout.buffer.write(contents if prints_records and kind == "records" else b"")
    require(members and name == "manifest.json", "there is no manifest at the end")
    manifest, members = json.loads(contents), members[:-1]
    lines = ["%(sha256)s  %(path)s\n" % member for member in members]
    lines += ["%s  parent\n" % parent for parent in manifest["parents"]]
    manifest |= {"digest": hashlib.sha256("".join(lines).encode()).hexdigest(), "format": "pingferry-bundle"}
    manifest |= {"totals": totals, "version": 1, "segments": [item for item in members if "records" in item]}
    manifest["members"] = [item for item in members if "records" not in item]
    require(zstd.returncode == 0 and contents == (to_json(manifest) + "\n").encode(), "manifest and members differ")
    expected = "".join(to_json(clients[key]) + "\n" for key in sorted(clients, key=lambda key: key[:2])).encode()
    require(listed.digest() == hashlib.sha256(expected).digest(), "the list of clients differs from the records")
    names = ["records/%06d.ndjson" % (number + 1) for number in range(len(manifest["segments"]))] + sorted(stored)
    for kind in ["quarantine", "problems", "clients"] + ["withdrawals"] * (tally["withdrawals"] > 0):
        parts = sum(item["path"].startswith(kind + ".") for item in members)
        names += [kind + ".ndjson"] + ["%s.%06d.ndjson" % (kind, number) for number in range(2, parts + 1)]
    found = [members[0]["sha256"], *[item["path"] for item in members]]
    require(found == [FIRST_SHA256, "pingferry-bundle.json", *names], "members are missing or in another order")
    require("pseudonymized" not in manifest or tally["pseudonymized %(pseudonymized)s" % manifest] == len(seen)
            + tally["quarantine"] + tally["problems"] + tally["withdrawals"], "not all ids are pseudonyms")
    return manifest


def main(arguments):
    sys.setrecursionlimit(4000)
    path = arguments[-1] if arguments else sys.exit(__doc__.strip())
    try:
        manifest = verify(path, arguments[0] == "--records")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        print("read_bundle: %s: %s" % (path, getattr(error, "strerror", error)), file=sys.stderr)
        return 66 if isinstance(error, OSError) else 65
    print("good, %(records)d records (%(uploadable)d uploadable)\ndigest " % manifest["totals"] + manifest["digest"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
