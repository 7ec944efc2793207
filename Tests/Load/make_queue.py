#!/usr/bin/env python3
"""Writes a queue of Sift's SDK of any size, up to and beyond the maximum size of a property list.

    make_queue.py FILE --bytes N [--seed 1]

FILE is a binary property list of exactly N bytes, in the format of NSKeyedArchiver. It contains app-state events, each
with separate fields, a location and strings. With the name `sift-v0_0_1/queues/sift-default`, the file is a capture. The
same arguments always give the same output, because no clock is read. Only the standard library is used.

Objects are written as they are created. Only four bytes for each offset and for each element of `$objects` are kept in
memory.
"""

import argparse
import array
import os
import random
import struct
import sys

TRAILER = 32
REFERENCE = 4
START = 1758600000000
MEMBERS = (
    "$class", "time", "type", "path", "userId", "installationId", "fields", "deviceProperties", "iosAppState",
    "iosDeviceProperties", "metrics")
STATE = ("sdk_version", "battery_level", "location", "window_root_view_controller_titles")


def header(kind, count):
    """Returns the marker of an object with its count."""
    if count < 15:
        return bytes([kind << 4 | count])
    if count < 1 << 8:
        return bytes([kind << 4 | 15, 0x10, count])
    if count < 1 << 16:
        return bytes([kind << 4 | 15, 0x11]) + count.to_bytes(2, "big")
    return bytes([kind << 4 | 15, 0x12]) + count.to_bytes(4, "big")


def text(value):
    return header(5, len(value)) + value.encode("ascii")


def references(numbers):
    return struct.pack(">%dI" % len(numbers), *numbers)


def integer(value):
    return b"\x13" + struct.pack(">Q", value)


def real(value):
    return b"\x23" + struct.pack(">d", value)


def uid(number):
    return b"\x83" + struct.pack(">I", number)


def dictionary(keys, values):
    return header(0xD, len(keys)) + references(keys) + references(values)


def elements(values):
    return header(0xA, len(values)) + references(values)


class Writer:
    """Writes the objects of a property list, and records which of them are elements of `$objects`."""

    def __init__(self, file):
        self.file = file
        self.offset = file.write(b"bplist00")
        self.offsets = array.array("I")
        self.objects = array.array("I")

    def add(self, data):
        """Appends an object and returns its index."""
        self.offsets.append(self.offset)
        self.offset += self.file.write(data)
        return len(self.offsets) - 1

    def archive(self, data):
        """Appends an element of `$objects` and returns the index of a UID that refers to it."""
        self.objects.append(self.add(data))
        return self.add(uid(len(self.objects) - 1))

    def instance(self, values, keys, name, kind):
        """Appends an archived collection. `values`, and the `keys` of a dictionary, are indices of UIDs."""
        if keys is None:
            members = ((self.key["$class"], kind), (self.key["NS.objects"], self.add(elements(values))))
        else:
            members = (
                (self.key["$class"], kind), (self.key["NS.keys"], self.add(elements(keys))),
                (self.key["NS.objects"], self.add(elements(values))))
        return self.archive(dictionary(*zip(*members)))


def begin(writer):
    """Writes the objects that all events share."""
    names = set(MEMBERS) | {"NS.keys", "NS.objects", "$classname", "$classes"}
    writer.key = {name: writer.add(text(name)) for name in sorted(names)}
    writer.nil = writer.archive(text("$null"))
    writer.kind = {}
    for name in ("SiftEvent", "NSMutableDictionary", "NSDictionary", "NSMutableArray"):
        stem = writer.add(text(name))
        chain = writer.add(elements([stem, writer.add(text("NSObject"))]))
        writer.kind[name] = writer.archive(
            dictionary([writer.key["$classname"], writer.key["$classes"]], [stem, chain]))
    writer.shared = {name: writer.archive(text(name)) for name in STATE + (
        "page", "item", "latitude", "longitude", "v2.2.5", "Shop.CartViewController", "user-0001",
        "9F2C1D7E-0B3A-4C55-8E11-2A6B7C8D9E0F", "queue", "lastUploadTimestamp")}


def event(writer, number, choices):
    """Writes one event and returns the index of a UID that refers to it. All events have the same size."""
    shared, kind, key = writer.shared, writer.kind, writer.key
    time = START + 1000 * number
    fields = writer.instance(
        [writer.archive(text("page-%010d" % choices.randrange(10**10))), writer.archive(text("item-%010d" % number))],
        [shared["page"], shared["item"]], "NSDictionary", kind["NSDictionary"])
    location = writer.instance(
        [writer.archive(real(choices.uniform(-90, 90))), writer.archive(real(choices.uniform(-180, 180)))],
        [shared["latitude"], shared["longitude"]], "NSMutableDictionary", kind["NSMutableDictionary"])
    titles = writer.instance([shared["Shop.CartViewController"]], None, "NSMutableArray", kind["NSMutableArray"])
    state = writer.instance(
        [shared["v2.2.5"], writer.archive(real(choices.random())), location, titles], [shared[name] for name in STATE],
        "NSMutableDictionary", kind["NSMutableDictionary"])
    values = {
        "$class": kind["SiftEvent"], "time": writer.add(integer(time)), "userId": shared["user-0001"],
        "installationId": shared["9F2C1D7E-0B3A-4C55-8E11-2A6B7C8D9E0F"], "fields": fields, "iosAppState": state}
    return writer.archive(dictionary([key[name] for name in MEMBERS], [values.get(name, writer.nil) for name in MEMBERS]))


def finish(writer, events, filling):
    """Writes the queue, the object table, the trailer, and an unreferenced string that fills the file."""
    shared = writer.shared
    queue = writer.instance(events, None, "NSMutableArray", writer.kind["NSMutableArray"])
    last = writer.archive(integer(START))
    root = writer.instance(
        [queue, last], [shared["queue"], shared["lastUploadTimestamp"]], "NSMutableDictionary",
        writer.kind["NSMutableDictionary"])
    if filling is not None:
        writer.objects.append(writer.add(b"\x5f\x12" + filling.to_bytes(4, "big") + b"x" * filling))
    names = [writer.add(text(name)) for name in ("$version", "$archiver", "$top", "$objects", "root")]
    version, archiver = writer.add(b"\x12\x00\x01\x86\xa0"), writer.add(text("NSKeyedArchiver"))
    top = writer.add(dictionary([names[4]], [root]))
    table = writer.add(header(0xA, len(writer.objects)))
    objects = writer.objects
    objects.byteswap()
    writer.offset += writer.file.write(objects.tobytes())
    last = writer.add(dictionary(names[:4], [version, archiver, top, table]))
    start = writer.offset
    writer.offsets.byteswap()
    writer.offset += writer.file.write(writer.offsets.tobytes())
    writer.offset += writer.file.write(
        struct.pack(">6xBBQQQ", 4, REFERENCE, len(writer.offsets), last, start))


def measure(count, filling=None):
    """Returns the size of a file with a number of events."""
    with open(os.devnull, "wb") as file:
        writer = Writer(file)
        begin(writer)
        choices = random.Random(0)
        finish(writer, [event(writer, number, choices) for number in range(count)], filling)
        return writer.offset


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--bytes", type=int, required=True, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if sys.byteorder != "little" or array.array("I").itemsize != 4:
        sys.exit("this script needs a little-endian machine with 4-byte integers in arrays")
    # With at least 65536 elements, each event has the same size, because the counts of lists take up four bytes.
    most = 1 << 16
    base, each = measure(most), measure(most + 1) - measure(most)
    count = most + (arguments.bytes - base - 1024) // each
    if count < most:
        sys.exit("--bytes must be at least %d" % (base + 1024))
    filling = arguments.bytes - base - each * (count - most) - (measure(1, 0) - measure(1))
    choices = random.Random(arguments.seed)
    with open(arguments.file, "xb", buffering=1 << 20) as file:
        writer = Writer(file)
        begin(writer)
        finish(writer, [event(writer, number, choices) for number in range(count)], filling)
    if writer.offset != arguments.bytes:
        sys.exit("%d bytes were written" % writer.offset)
    print("%d events" % count)


if __name__ == "__main__":
    main()
