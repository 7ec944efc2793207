"""Converts records of `pingferry` to columns and back, and labels captures as `pingferry bundle` does. Does not depend on Spark.

A record is a line of canonical JSON, whose keys are sorted and which contains no spaces. Therefore the payload can be copied from
the line byte by byte, and the line can be restored from its columns.
"""

import json
import os
import unicodedata

# The bytes before and after the payload. Strings cannot contain them, because quotation marks in strings are escaped. The objects
# beside the payload have no keys with these names.
BEFORE_PAYLOAD = ',"payload":'
AFTER_PAYLOAD = ',"source":{'
# The beginning of the escape of a surrogate.
SURROGATE_ESCAPE = "\\ud"
HEAD_KEYS = ["app", "client", "held", "id", "notes"]
TAIL_KEYS = ["source", "system", "target", "time", "type"]

APP_KEYS = ["build", "channel", "id", "name", "version"]
SOURCE_KEYS = ["capture", "index", "path", "store"]
TARGET_KEYS = ["headers", "method", "path"]
KNOWN_KEYS = {"app": frozenset(APP_KEYS), "source": frozenset(SOURCE_KEYS), "target": frozenset(TARGET_KEYS)}
TYPES = {"index": int, "headers": dict}

# The note on a record that has the same id as an earlier record, but another payload. It consists of a code and a text. Some
# systems have their own code.
REPEATED_ID_CODE = "P11"
REPEATED_ID_CODES = {"glean": "G23"}
REPEATED_ID_TEXT = "id also used by an earlier record with different content"


from_json = json.JSONDecoder().decode


class NotARecord(ValueError):
    """A line is not a record in the format that this module supports."""


def parse_record(line):
    """Returns the columns of a line, which is given without its line feed.

    Raises NotARecord.
    """
    try:
        text = line.decode()
        start, end = text.find(BEFORE_PAYLOAD), text.rfind(AFTER_PAYLOAD)
        if start < 0 or end < start:
            raise NotARecord("no payload")
        columns, tail = from_json(text[:start] + "}"), from_json("{" + text[end + 1:])
        # Strings in columns are UTF-8, which cannot encode a single surrogate.
        if text.find(SURROGATE_ESCAPE, 0, start) >= 0 or text.find(SURROGATE_ESCAPE, end) >= 0:
            json_text([columns, tail]).encode()
    except NotARecord:
        raise
    except (ValueError, RecursionError) as error:
        raise NotARecord(str(error)) from error
    if list(columns) != HEAD_KEYS or list(tail) != TAIL_KEYS:
        raise NotARecord("the keys are not those of a record")
    columns.update(tail)
    check_types(columns)
    columns["payload"] = text[start + len(BEFORE_PAYLOAD):end]
    return columns


def check_types(columns):
    """Checks that the values of all keys except the payload have the types of the columns.

    Raises NotARecord if they do not, or if there are unknown keys, which a later version of the program may write.
    """
    for key in ("id", "system", "type", "client", "time"):
        value = columns[key]
        if type(value) is not str and (value is not None or key not in ("client", "time")):
            raise NotARecord(f"{key} is not a string")
    for key in ("held", "notes"):
        strings = columns[key]
        if type(strings) is not list or strings and not all(type(string) is str for string in strings):
            raise NotARecord(f"{key} is not a list of strings")
    for key, known in KNOWN_KEYS.items():
        struct = columns[key]
        if struct is None and key != "source":
            continue
        if type(struct) is not dict or not known.issuperset(struct):
            raise NotARecord(f"{key} is not an object with known keys")
        for name, value in struct.items():
            if type(value) is not TYPES.get(name, str):
                raise NotARecord(f"{key}.{name} has an unexpected type")
            if name == "index" and not 0 <= value < 1 << 63:
                raise NotARecord("index is out of range")
            if name == "headers" and not all(type(field) is str for field in value.values()):
                raise NotARecord("a header is not a string")


def canonical_line(columns):
    """Returns the line of a record, as `pingferry convert` writes it, without its line feed.

    `columns` is a mapping or a row of Spark. In structs, None represents a missing key.
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
    """Returns a struct as the JSON of an object. Keys whose value is None are omitted."""
    if struct is None:
        return "null"
    values = {}
    for key in keys:
        value = struct[key] if key in struct else None
        if value is not None:
            values[key] = sorted_by_utf8(value) if key == "headers" else value
    return json_text(values)


def sorted_by_utf8(headers):
    return dict(sorted(dict(headers).items(), key=lambda field: field[0].encode()))


# MARK: Labels of captures


def labels(paths):
    """Returns the labels that `pingferry` gives to the captures at `paths` if they are the inputs of one command.

    A label is the last component of the path, or as many of the last components as are needed to distinguish the captures. Equal
    paths are distinguished by a number. Canonically equivalent spellings, such as the two encodings of `é`, are equal.
    """
    names = [components(path) for path in paths]
    different = {}
    for name in names:
        different.setdefault(normalized(name), name)
    label_of = dict(zip(different, shortest_suffixes(list(different.values()))))
    return numbered([label_of[normalized(name)] for name in names])


def normalized(name):
    return tuple(unicodedata.normalize("NFC", component) for component in name)


def components(path):
    """Returns the components of a path, without empty components and dots."""
    found = split(path)
    # A path that does not end with a name is replaced by the path of the folder that it refers to.
    if not found or found[-1] == ".." or found == ["/"]:
        found = split(os.path.realpath(path))
    return found or [path]


def split(path):
    raw = os.fsencode(path)
    found = [part.decode("utf-8", "replace") for part in raw.split(b"/") if part not in (b"", b".")]
    return ["/"] + found if raw.startswith(b"/") else found


def shortest_suffixes(names):
    """Returns the shortest suffix of each name, in whole components, that distinguishes it from the other names."""
    counts = [1] * len(names)
    while True:
        suffixes = [join(name[-count:]) for name, count in zip(names, counts)]
        groups = {}
        for index, suffix in enumerate(suffixes):
            groups.setdefault(unicodedata.normalize("NFC", suffix), []).append(index)
        ambiguous = [
            index for indexes in groups.values() if len(indexes) > 1
            for index in indexes if counts[index] < len(names[index])]
        if not ambiguous:
            return suffixes
        for index in ambiguous:
            counts[index] += 1


def join(name):
    return "/" + "/".join(name[1:]) if name[0] == "/" and len(name) > 1 else "/".join(name)


def numbered(labels):
    """Returns labels in which each repetition is made unique by a number."""
    taken = {unicodedata.normalize("NFC", label) for label in labels}
    seen = set()
    result = []
    for label in labels:
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
