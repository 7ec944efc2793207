"""Unpacks bundles, and packs changed members in the format of `pingferry bundle`, independently of the program.

Source: "Bundle" (`Sources/Bundle/Bundle.docc/Bundle.md`), and "Zstandard Seekable Format" of the project zstd.
"""

import collections
import hashlib
import json
import struct
import subprocess

BLOCK = 512
SKIPPABLE_FRAME, SEEKABLE = 0x184D2A5E, 0x8F92EAB1
# The bit of the footer which states that the entries of the seek table have checksums.
WITH_CHECKSUMS = 0x80
# The positions of the size and of the checksum in a tar header.
SIZE, CHECKSUM = slice(124, 136), slice(148, 156)


def to_json(value):
    """Returns the canonical JSON of a value with ASCII keys, as one line."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def compress(data):
    """Returns one zstd frame that contains its size and a checksum."""
    return subprocess.run(
        ["zstd", "-qc", "--check", "--stream-size=%d" % len(data)], input=data, stdout=subprocess.PIPE, check=True).stdout


def pack_frames(contents):
    """Compresses the contents of frames, and returns them with their seek table."""
    frames = [compress(data) for data in contents]
    # The last four bytes of a frame are its checksum.
    table = b"".join(struct.pack("<II", len(frame), len(data)) + frame[-4:] for frame, data in zip(frames, contents))
    table += struct.pack("<IBI", len(frames), WITH_CHECKSUMS, SEEKABLE)
    return b"".join(frames) + struct.pack("<II", SKIPPABLE_FRAME, len(table)) + table


class Member:
    """A member of a bundle: its tar header and its contents."""

    def __init__(self, header, data):
        self.header, self.data = header, data

    @property
    def path(self):
        return self.header.partition(b"\0")[0].decode()

    def blocks(self):
        """Returns the header, which is adapted to the contents, the contents, and the padding."""
        header = bytearray(self.header)
        header[SIZE] = b"%011o\0" % len(self.data)
        header[CHECKSUM] = b" " * 8
        header[CHECKSUM] = b"%06o\0 " % sum(header)
        return bytes(header) + self.data + bytes(-len(self.data) % BLOCK)


class Bundle:
    """The members of a bundle, the last of which is the manifest."""

    def __init__(self, data):
        plain = subprocess.run(["zstd", "-dqc"], input=data, stdout=subprocess.PIPE, check=True).stdout
        self.members, start = [], 0
        while plain[start]:
            header = plain[start:start + BLOCK]
            size = int(header[SIZE].rstrip(b"\0"), 8)
            self.members.append(Member(header, plain[start + BLOCK:start + BLOCK + size]))
            start += BLOCK + size + -size % BLOCK
        self.manifest = json.loads(self.members.pop().data)
        self.manifest_header = header

    def segments(self):
        return [member for member in self.members if member.path.startswith("records/")]

    def records(self):
        return [json.loads(line) for segment in self.segments() for line in segment.data.splitlines()]

    def update_manifest(self):
        """Updates all hashes, sizes and counts in the manifest, and the digest."""
        records = self.records()
        self.manifest["totals"] = {
            "records": len(records), "uploadable": sum(not record["held"] for record in records),
            "system": collections.Counter(record["system"] for record in records),
            "type": collections.Counter("%s/%s" % (record["system"], record["type"]) for record in records),
            "held": collections.Counter(
                code for record in records for code in {reason.partition(":")[0] for reason in record["held"]})}
        self.update_hashes()

    def update_hashes(self):
        """Updates all hashes and sizes in the manifest, and the digest."""
        entries = {entry["path"]: entry for entry in self.manifest["segments"] + self.manifest["members"]}
        for member in self.members:
            entry = entries[member.path]
            entry.update(bytes=len(member.data), sha256=sha256(member.data))
            if "records" in entry:
                entry["records"] = member.data.count(b"\n")
        self.update_digest()

    def update_digest(self):
        lines = ["%s  %s\n" % (sha256(member.data), member.path) for member in self.members]
        lines += ["%s  parent\n" % parent for parent in self.manifest["parents"]]
        self.manifest["digest"] = sha256("".join(lines).encode())

    def frames(self):
        """Returns the contents of the frames, one for each member and one for the end, with the manifest as it is."""
        manifest = Member(self.manifest_header, to_json(self.manifest))
        return [member.blocks() for member in [*self.members, manifest]] + [bytes(2 * BLOCK)]

    def pack(self):
        """Returns the bytes of the bundle, with the manifest as it is."""
        return pack_frames(self.frames())
