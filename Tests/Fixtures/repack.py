#!/usr/bin/env python3
"""Changes a bundle and writes it again with correct hashes, sizes and digest.

    repack.py IN OUT CHANGE

The change `none` writes a bundle with the same contents. The script implements the description of the format independently of the
program, so that it also tests the description.
"""

import hashlib
import json
import struct
import subprocess
import sys

FIRST = "records/000001.ndjson"
MANIFEST = "manifest.json"


def unpack(path):
    """Returns the tar header of the first member, and the contents of all members in order, by name."""
    tar = subprocess.run(["zstd", "-dqc", path], stdout=subprocess.PIPE, check=True).stdout
    members, at = {}, 0
    while tar[at:at + 512] != bytes(512):
        name, size = tar[at:at + 100].rstrip(b"\0").decode(), int(tar[at + 124:at + 135], 8)
        members[name] = tar[at + 512:at + 512 + size]
        at += 512 + (size + 511) // 512 * 512
    return tar[:512], members


def header(template, name, size):
    """Returns a tar header with the name, size and checksum of a member. The other fields are those of `template`."""
    block = bytearray(template)
    block[:100] = name.encode().ljust(100, b"\0")
    block[124:136] = b"%011o\0" % size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def frame(data):
    """Returns a zstd frame that contains `data`."""
    command = ["zstd", "-qc", "--check", "--single-thread", "--stream-size=%d" % len(data)]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def pack(path, template, members):
    """Writes a bundle with one frame for each member, and with a seek table."""
    contents = [header(template, name, len(data)) + data + bytes(-len(data) % 512) for name, data in members.items()]
    contents.append(bytes(1024))
    frames = [frame(data) for data in contents]
    table = b"".join(struct.pack("<II", len(packed), len(data)) + packed[-4:] for packed, data in zip(frames, contents))
    with open(path, "wb") as stream:
        stream.write(b"".join(frames) + struct.pack("<II", 0x184D2A5E, len(table) + 9) + table)
        stream.write(struct.pack("<IBI", len(frames), 0x80, 0x8F92EAB1))


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def update_manifest(members, manifest):
    """Updates the hashes, sizes and digest in the manifest. The counts are not changed."""
    records = {entry["path"]: entry["records"] for entry in manifest["segments"]}
    manifest["segments"], manifest["members"], lines = [], [], ""
    for name, data in members.items():
        if name == MANIFEST:
            continue
        entry = {"bytes": len(data), "path": name, "sha256": hashlib.sha256(data).hexdigest()}
        lines += "%s  %s\n" % (entry["sha256"], name)
        if name in records:
            entry["records"] = records[name]
        manifest["segments" if name in records else "members"].append(entry)
    manifest["digest"] = hashlib.sha256(lines.encode()).hexdigest()
    members[MANIFEST] = canonical(manifest)


def in_first_record(**keys):
    """Returns a change that sets keys of the first record."""
    def change(members, _):
        line, rest = members[FIRST].split(b"\n", 1)
        members[FIRST] = canonical(dict(json.loads(line), **keys)) + rest
    return change


def in_lines(edit):
    """Returns a change that edits the list of lines of the first segment."""
    def change(members, _):
        members[FIRST] = b"".join(edit(members[FIRST].splitlines(keepends=True)))
    return change


def in_manifest(edit):
    """Returns a change that edits the manifest."""
    def change(_, manifest):
        edit(manifest)
    return change


def in_member(name, edit):
    """Returns a change that edits the contents of a member."""
    def change(members, _):
        members[name] = edit(members[name])
    return change


PATH = "/submit/telemetry/A/core/Focus/8.1.3/release/4236"
# The changes by name.
CHANGES = {
    "none": lambda members, manifest: None,
    "foreign-host": in_first_record(target={"path": "https://telemetry.example" + PATH}),
    "dots-in-target": in_first_record(target={"path": "/submit/telemetry/../../x/y/z/a"}),
    "header-in-target": in_first_record(target={"path": PATH + " HTTP/1.1\r\nHost: x"}),
    "method": in_first_record(target={"method": "DELETE", "path": PATH}),
    "no-target": in_first_record(target=None),
    "extra-key": in_first_record(zzz=1),
    "unknown-system": in_first_record(system="unknown"),
    "wrong-hash-id": in_first_record(id="sha256:" + "0" * 64),
    "bad-time": in_first_record(time="2020-02-30T00:00:00.000Z"),
    "not-canonical": in_lines(lambda lines: [lines[0].replace(b'":', b'": ', 1)] + lines[1:]),
    "blank-line": in_lines(lambda lines: [b"\n"] + lines),
    "no-line-feed": in_lines(lambda lines: lines[:-1] + [lines[-1][:-1]]),
    "record-less": in_lines(lambda lines: lines[:-1]),
    "record-twice": in_lines(lambda lines: lines[:-1] + lines[:1]),
    "no-records": in_lines(lambda lines: []),
    "total": in_manifest(lambda manifest: manifest["totals"].update(records=99)),
    "segment-count": in_manifest(lambda manifest: manifest["segments"][0].update(records=99)),
    "version": in_manifest(lambda manifest: manifest.update(version=99)),
    "extra-key-in-manifest": in_manifest(lambda manifest: manifest.update(zzz=1)),
    "no-clients": in_member("clients.ndjson", lambda data: b""),
    "no-quarantine-list": in_member("quarantine.ndjson", lambda data: b""),
    "odd-problem": in_member("problems.ndjson", lambda data: data + b"{}\n"),
}


def main():
    source, output, change = sys.argv[1:]
    template, members = unpack(source)
    manifest = json.loads(members[MANIFEST])
    CHANGES[change](members, manifest)
    update_manifest(members, manifest)
    pack(output, template, members)


if __name__ == "__main__":
    main()
