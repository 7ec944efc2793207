"""Makes records with values for which Parquet files need special rules.

They contain extreme and negative numbers, strings that are longer than a bound in statistics or that contain characters at the limits
of UTF-8, and times before 1970. Large strings fill a row group of events, so that the next one begins after few rows.
"""

import json
import random
import uuid

# JSON numbers of coordinates. Numbers that are too large become NULL. There are so few that they are stored in a dictionary.
COORDINATES = (
    "-1.5", "0.1", "-179.99999999999997", "1E5", "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "-5e-324", "1e-400",
    "1e400", "-0", "-0.0", "0.0", "9007199254740993", "-9223372036854775809", "1" + "0" * 300, "0." + "3" * 400, "null", '"7"')
INTEGERS = (
    "0", "-1", "255", "-129", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.0", "1e3", "null")
# Bounds are truncated to 64 bytes, between characters.
LONG_STRING, LONG_ACCENTS, LONG_EMOJI = "A" * 5000, "\u00e9" * 33, "\U0001f469\u200d" * 12
# The last character of the truncated string cannot be incremented, or its successor has more bytes or is not the next code point.
LAST_CHARACTER, BEFORE_SURROGATES, DELETE = "z" * 60 + 2 * "\U0010ffff", "z" * 60 + 2 * "\ud7ff", "\x7f" * 65
# The longest string of the last character that is an upper bound, and one that has no upper bound of limited size.
GREATEST, UNBOUNDED = 16 * "\U0010ffff", 17 * "\U0010ffff"
STRINGS = sorted((
    "", "\0", "a\0b", "\r\n\t", "'; --", "\ufeff", "\uffff", "\u00e9", "e\u0301", "a" * 64, "a" * 65, "a" * 63 + "\x7f\x7f",
    "\u00e9" * 32, "a" + "\u00e9" * 32, LONG_STRING, LONG_ACCENTS, LONG_EMOJI, LAST_CHARACTER, BEFORE_SURROGATES, DELETE, GREATEST,
    UNBOUNDED))
# The smallest and the greatest string of columns, so that each kind of bound occurs.
RANGES = {
    "category": ("", UNBOUNDED), "method": ("\0", GREATEST), "object": (LONG_STRING, LONG_EMOJI), "value": ("a" * 65, LONG_ACCENTS),
    "extra": ("", UNBOUNDED), "user_id": ("", DELETE), "engine": ("\r\n\t", LAST_CHARACTER), "client": ("", BEFORE_SURROGATES)}
# `None` is a record without a time.
TIMES = (
    "0001-01-01T00:00:00.000Z", "1582-10-10T00:00:00.001Z", "1899-12-31T23:59:59.123Z", "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "9999-12-31T23:59:59.999Z", None)
# The number of large events, and the size of three of their strings. The name of an event contains all three of them.
LARGE_EVENTS, LARGE_SIZE = 32, 200_000


class Writer:
    """Writes records. Payloads are JSON strings, because their numbers cannot be represented in Python."""

    def __init__(self, stream):
        self.stream, self.choice, self.count = stream, random.Random(1), 0

    def write(self, system, kind, store, path, payload):
        identifier = str(uuid.UUID(int=self.choice.getrandbits(128), version=4))
        record = {
            "system": system, "type": kind, "id": identifier, "client": self.choice.choice((None, self.string("client"))),
            "time": self.choice.choice(TIMES), "app": None, "target": {"path": path % identifier if "%s" in path else path},
            "payload": None, "notes": [], "held": [],
            "source": {"capture": "hard", "path": identifier, "store": store, "index": self.count}}
        # The canonical form of a record is sorted by key, and so is the form of the payload.
        line = json.dumps(record, sort_keys=True, separators=(",", ":"))
        self.stream.write(line.replace('"payload":null', '"payload":' + payload) + "\n")
        self.count += 1

    def string(self, column):
        smallest, greatest = RANGES[column]
        return self.choice.choice([string for string in STRINGS if smallest <= string <= greatest])

    def integer(self):
        return self.choice.choice(INTEGERS)

    def sift(self):
        # All longitudes are different, so that they are stored without a dictionary.
        states = (
            '{"installation_id":"I","ios_app_state":{"location":{"altitude":-0.0,"latitude":%s,"longitude":%s%d.%09d}},'
            '"time":%d,"user_id":%s}' % (
                self.choice.choice(COORDINATES), self.choice.choice(("", "-")), self.choice.randrange(180),
                self.choice.randrange(10**9), self.choice.randrange(10**12, 2 * 10**12), json.dumps(self.string("user_id")))
            for _ in range(5))
        self.write("sift", "mobile_events", "sift-uploader", "/v3/accounts/1/mobile_events", '{"data":[%s]}' % ",".join(states))

    def events(self, events):
        self.write(
            "mozilla", "mobile-event", "mozilla-ping-file", "/submit/telemetry/%s/mobile-event/Fennec/24.1/release/18412?v=4",
            '{"created":1585699200000,"events":[%s],"processStartTimestamp":1585699200000,"seq":%d,"v":1}' % (
                ",".join("[%s]" % ",".join(event) for event in events), self.count))

    def hard_events(self):
        for _ in range(10):
            strings = [json.dumps(self.string(column)) for column in ("category", "method", "object", "value", "extra")]
            strings[-1] = '{"k":%s}' % strings[-1]
            # An event has at least a time, a category and a method.
            yield [self.integer(), *strings[:self.choice.randrange(2, 6)]]

    def large_event(self):
        yield ["1", *(json.dumps(self.choice.choice("bdz") * LARGE_SIZE) for _ in range(3))]

    def core(self):
        fields = ",".join('"%s":%s' % (name, self.integer()) for name in ("durations", "profileDate", "seq", "sessions", "tz"))
        self.write(
            "mozilla", "core", "mozilla-ping-file", "/submit/telemetry/%s/core/Fennec/24.1/release/18412?v=4",
            '{%s,"searches":{%s:%s},"v":7}' % (fields, json.dumps(self.string("engine")), self.integer()))


def write_records(path):
    """Writes the records as NDJSON."""
    with open(path, "w", encoding="utf-8") as stream:
        writer = Writer(stream)
        for number in range(300):
            writer.sift()
            writer.core()
            writer.events(writer.hard_events())
            if number < LARGE_EVENTS:
                writer.events(writer.large_event())
