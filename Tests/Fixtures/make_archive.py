#!/usr/bin/env python3
"""Writes an archive with exactly the given members in the given order, even if they are invalid.

    make_archive.py OUT FORMAT < members.json

FORMAT is `zip`, `stored` (a zip archive without compression), or a format of tarfile: `ustar`, `gnu` or `pax`. The input is an
array of members with these keys:

- `name`: the path of the member. In a zip archive, `raw` can state it as hexadecimal bytes instead.
- `text`: the contents of a file. `size` appends a number of zero bytes.
- `type`: `file` (the default), `dir`, `symlink`, `hardlink`, `fifo`, `char`, `block`, or any type character of tar.
- `link`: the target of a link.
"""

import io
import json
import stat
import sys
import tarfile
import warnings
import zipfile

TYPES = {"file": tarfile.REGTYPE, "dir": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE, "hardlink": tarfile.LNKTYPE,
         "fifo": tarfile.FIFOTYPE, "char": tarfile.CHRTYPE, "block": tarfile.BLKTYPE}
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def contents(member):
    return member.get("text", "").encode() + bytes(member.get("size", 0))


def write_tar(path, form, members):
    with tarfile.open(path, "w", format=FORMATS[form]) as archive:
        for member in members:
            info = tarfile.TarInfo(member["name"])
            kind = member.get("type", "file")
            info.type = TYPES.get(kind, kind.encode())
            info.linkname = member.get("link", "")
            data = contents(member)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def write_zip(path, compression, members):
    warnings.simplefilter("ignore")
    with zipfile.ZipFile(path, "w", compression) as archive:
        for number, member in enumerate(members):
            # A raw name replaces this temporary name of the same length below.
            raw = bytes.fromhex(member.get("raw", ""))
            name = ("%04d" % number).ljust(len(raw), "x") if raw else member["name"]
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            info.create_system = 3
            kind = {"dir": stat.S_IFDIR, "symlink": stat.S_IFLNK}.get(member.get("type"), stat.S_IFREG)
            info.external_attr = (kind | 0o644) << 16
            archive.writestr(info, member["link"].encode() if kind == stat.S_IFLNK else contents(member))
    for number, member in enumerate(members):
        if "raw" in member:
            raw = bytes.fromhex(member["raw"])
            with open(path, "rb") as stream:
                data = stream.read()
            with open(path, "wb") as stream:
                stream.write(data.replace(("%04d" % number).ljust(len(raw), "x").encode(), raw))


def main():
    path, form = sys.argv[1:]
    members = json.load(sys.stdin)
    if form in FORMATS:
        write_tar(path, form, members)
    else:
        write_zip(path, zipfile.ZIP_STORED if form == "stored" else zipfile.ZIP_DEFLATED, members)


if __name__ == "__main__":
    main()
