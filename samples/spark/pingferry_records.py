"""Records of `pingferry` as columns and back, and what `pingferry bundle` makes of records of several captures. Knows nothing
of Spark.

A record is a line of canonical JSON: its keys stand in one order, without spaces. So the payload can be cut out of the line as it
stands, byte for byte, and a line can be put together again from its columns.
"""

import json
import os
import unicodedata

# What stands before and behind the payload. Neither can be inside a text, where a quotation mark has a backslash before it; no
# key before the payload and none behind it holds an object with such a key.
BEFORE_PAYLOAD = ',"payload":'
BEHIND_PAYLOAD = ',"source":{'
HALF_CHARACTER = "\\ud"
HEAD_KEYS = ["app", "client", "held", "id", "notes"]
TAIL_KEYS = ["source", "system", "target", "time", "type"]

APP_KEYS = ["build", "channel", "id", "name", "version"]
SOURCE_KEYS = ["capture", "index", "path", "store"]
TARGET_KEYS = ["headers", "method", "path"]
KNOWN_KEYS = {"app": frozenset(APP_KEYS), "source": frozenset(SOURCE_KEYS), "target": frozenset(TARGET_KEYS)}
TYPES = {"index": int, "headers": dict}

# The note of a record whose id an earlier record has too, with another payload: a code and words. Some systems have their own code.
REPEATED_ID_CODE = "P11"
REPEATED_ID_CODES = {"glean": "G23"}
REPEATED_ID_WORDS = "id also used by an earlier record with different content"


from_json = json.JSONDecoder().decode


class NotARecord(ValueError):
    """A line is no record of the form that this module knows."""


def record(line):
    """The columns of a line, given without its line feed.

    Raises NotARecord.
    """
    try:
        text = line.decode()
        start, end = text.find(BEFORE_PAYLOAD), text.rfind(BEHIND_PAYLOAD)
        if start < 0 or end < start:
            raise NotARecord("no payload")
        columns, tail = from_json(text[:start] + "}"), from_json("{" + text[end + 1:])
        # An escape can stand for half a character, which no column of text takes.
        if text.find(HALF_CHARACTER, 0, start) >= 0 or text.find(HALF_CHARACTER, end) >= 0:
            json_text([columns, tail]).encode()
    except NotARecord:
        raise
    except (ValueError, RecursionError) as error:
        raise NotARecord(str(error)) from error
    if list(columns) != HEAD_KEYS or list(tail) != TAIL_KEYS:
        raise NotARecord("other keys than those of a record")
    columns.update(tail)
    check(columns)
    columns["payload"] = text[start + len(BEFORE_PAYLOAD):end]
    return columns


def check(columns):
    """Whether columns of a table can hold what stands beside the payload.

    Raises NotARecord, as for a record with more keys that a later version of the program may write.
    """
    for key in ("id", "system", "type", "client", "time"):
        value = columns[key]
        if type(value) is not str and (value is not None or key not in ("client", "time")):
            raise NotARecord(f"{key} is no text")
    for key in ("held", "notes"):
        texts = columns[key]
        if type(texts) is not list or texts and not all(type(text) is str for text in texts):
            raise NotARecord(f"{key} is no list of texts")
    for key, known in KNOWN_KEYS.items():
        struct = columns[key]
        if struct is None and key != "source":
            continue
        if type(struct) is not dict or not known.issuperset(struct):
            raise NotARecord(f"{key} has other keys than are known")
        for name, value in struct.items():
            if type(value) is not TYPES.get(name, str):
                raise NotARecord(f"{key}.{name} has another type")
            if name == "index" and not 0 <= value < 1 << 63:
                raise NotARecord("index is no place in a file")
            if name == "headers" and not all(type(field) is str for field in value.values()):
                raise NotARecord("a header is no text")


def canonical_line(columns):
    """The line of a record, from its columns: the bytes that `pingferry convert` writes, without the line feed.

    Takes a mapping, or a row of Spark. In structs, None stands for a key that is not there.
    """
    return "".join((
        '{"app":', json_object(columns["app"], APP_KEYS), ',"client":', json_text(columns["client"]),
        ',"held":', json_text(list(columns["held"])), ',"id":', json_text(columns["id"]),
        ',"notes":', json_text(list(columns["notes"])), ',"payload":', columns["payload"],
        ',"source":', json_object(columns["source"], SOURCE_KEYS), ',"system":', json_text(columns["system"]),
        ',"target":', json_object(columns["target"], TARGET_KEYS), ',"time":', json_text(columns["time"]),
        ',"type":', json_text(columns["type"]), "}"))


def json_text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_object(struct, keys):
    """An object as it is in the record, from a struct in which keys that are not there are None."""
    if struct is None:
        return "null"
    values = {}
    for key in keys:
        value = struct[key] if key in struct else None
        if value is not None:
            values[key] = by_utf8(value) if key == "headers" else value
    return json_text(values)


def by_utf8(headers):
    return dict(sorted(dict(headers).items(), key=lambda field: field[0].encode()))


# MARK: What records name their captures


def labels(paths):
    """What records name the captures at these paths, as one command names them all: by the last part of a path, or by as much
    of it as tells the captures apart; where nothing does, by a number behind it.

    Two spellings of a letter, as in `é`, are one name.
    """
    named = [parts(path) for path in paths]
    different = {}
    for name in named:
        different.setdefault(same(name), name)
    label_of = dict(zip(different, apart(list(different.values()))))
    return numbered([label_of[same(name)] for name in named])


def same(name):
    return tuple(unicodedata.normalize("NFC", part) for part in name)


def parts(path):
    """The parts of a path without empty ones and dots."""
    named = split(path)
    # A path that does not end with a name gets that of the folder which it leads to.
    if not named or named[-1] == ".." or named == ["/"]:
        named = split(os.path.realpath(path))
    return named or [path]


def split(path):
    raw = os.fsencode(path)
    found = [part.decode("utf-8", "replace") for part in raw.split(b"/") if part not in (b"", b".")]
    return ["/"] + found if raw.startswith(b"/") else found


def apart(names):
    """For each name as many of its parts, from its end, as make it another one than the others."""
    counts = [1] * len(names)
    while True:
        found = [joined(name[-count:]) for name, count in zip(names, counts)]
        groups = {}
        for place, label in enumerate(found):
            groups.setdefault(unicodedata.normalize("NFC", label), []).append(place)
        longer = [
            place for places in groups.values() if len(places) > 1
            for place in places if counts[place] < len(names[place])]
        if not longer:
            return found
        for place in longer:
            counts[place] += 1


def joined(found):
    return "/" + "/".join(found[1:]) if found[0] == "/" and len(found) > 1 else "/".join(found)


def numbered(found):
    """Numbers what is still the same, from the second one on."""
    taken = {unicodedata.normalize("NFC", label) for label in found}
    seen = set()
    result = []
    for label in found:
        name, number = unicodedata.normalize("NFC", label), 2
        if name in seen:
            while unicodedata.normalize("NFC", f"{label}#{number}") in taken:
                number += 1
            label = f"{label}#{number}"
            name = unicodedata.normalize("NFC", label)
            taken.add(name)
        seen.add(name)
        result.append(label)
    return result
