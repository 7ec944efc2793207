#!/usr/bin/env python3
"""Writes records with personal values in all positions.

    plant_values.py RECORDS OUTPUT

For each string of a record, each key of its payload, each string and key of JSON in its strings, and each component of the path of its
target, writes a copy of the record in which a personal value replaces it. Other copies have the value in a note, a hold or a header
field. There is a copy for each personal value. Strings and keys at the same place of records of one type are replaced once. Prints the
strings that must not occur in pseudonymized output, one per line.
"""

import copy
import json
import sys

# The values to insert, and the parts of them that must not occur in the output.
NAME = "Anna Lindqvist"
VALUES = {
    "anna.berg@example.org": ["anna.berg"],
    "net.10.114.62.7": ["10.114.62.7"],
    "2001:470:1:18::119": ["2001:470:1:18::119"],
    "fe80::a1:b2ff:fe3c:4d5e": ["fe80::a1"],
    "6E0B0F5C-3D0A-4C55-9B3E-0C7D6E1F2A9B": ["6E0B0F5C-3D0A-4C55-9B3E-0C7D6E1F2A9B", "0C7D6E1F2A9B"],
    "490154203237518": ["490154203237518"],
    "490154,203237518": ["490154,203237518"],
    "48.137154,11.576124": ["48.137154", "11.576124"],
    NAME: ["lindqvist"],
    "Anna Lindqvist’s iPhone 7": ["lindqvist’s"],
}
# The keys of a record whose values are not changed.
FIXED = {"system", "store", "held", "time"}
# The keys whose values are names of apps and experiments, which can consist of several words.
NAMES = {"app_name", "branch", "Experiment name", "Experiment variant"}


def positions(value, path=()):
    """Yields `"text"` and the path of each string that can be changed, and `"key"` and the path of each key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in FIXED:
                if path[:1] == ("payload",):
                    yield "key", path + (key,)
                yield from positions(inner, path + (key,))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from positions(inner, path + (number,))
    elif isinstance(value, str) and path[-1] not in FIXED:
        yield "text", path


def place(path):
    """Returns `path` without the numbers of the elements that contain the value, except for the number in an innermost array."""
    return tuple("" if isinstance(step, int) and number + 1 < len(path) else step for number, step in enumerate(path))


def is_name(path):
    """Returns whether the value at `path` is a name that can consist of several words."""
    return path == ("app", "name") or path[-1] in NAMES or "experiments" in path


def container(record, path):
    """Returns the object or array that contains the value at `path`."""
    for step in path[:-1]:
        record = record[step]
    return record


def planted(record, kind, path, value):
    """Returns a copy of a record in which `value` replaces the string or key at `path`."""
    changed = copy.deepcopy(record)
    inner = container(changed, path)
    if kind == "key":
        inner[value] = inner.pop(path[-1])
    else:
        inner[path[-1]] = value
    return changed


def nested(text):
    """Returns the object in a JSON string, or nothing."""
    try:
        value = json.loads(text) if text.startswith("{") else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def variants(record, used):
    """Yields the copies of a record with personal values, except for those whose value, type and place are in `used`."""
    def is_new(value, kind, *paths):
        key = (record["system"], record["type"], value, kind, *map(place, paths))
        return key not in used and not used.add(key)

    for value in VALUES:
        for kind, path in positions(record):
            if path == ("target", "path") or value == NAME and is_name(path):
                continue
            if is_new(value, kind, path):
                yield planted(record, kind, path, value)
            if kind == "text" and nested(container(record, path)[path[-1]]):
                inner = {"payload": nested(container(record, path)[path[-1]])}
                for inner_kind, inner_path in positions(inner):
                    if value == NAME and is_name(inner_path):
                        continue
                    if len(inner_path) > 1 and is_new(value, inner_kind, path, inner_path):
                        changed = planted(inner, inner_kind, inner_path, value)["payload"]
                        yield planted(record, "text", path, json.dumps(changed, ensure_ascii=False))
        if not is_new(value, "target" if record["target"] else "record"):
            continue
        yield dict(record, notes=record["notes"] + [value])
        yield dict(record, notes=record["notes"] + ["C8 " + value])
        yield dict(record, held=record["held"] + [value])
        yield dict(record, held=record["held"] + ["schema: " + value])
        if not record["target"]:
            continue
        yield dict(record, target=dict(record["target"], headers={"X-Debug-ID": value}))
        parts, mark, query = record["target"]["path"].partition("?")
        parts = parts.split("/")
        for number in range(2, len(parts)):
            # The fifth component is the name of the app.
            if value != NAME or number != 5:
                path = "/".join(parts[:number] + [value.replace(".", "-") if number == 2 else value] + parts[number + 1:])
                yield planted(record, "text", ("target", "path"), path + mark + query)


def main():
    number, used = 0, set()
    with open(sys.argv[1], encoding="utf-8") as lines, open(sys.argv[2], "w", encoding="utf-8") as output:
        for line in lines:
            for record in variants(json.loads(line), used):
                number += 1
                # The id is replaced, because it would no longer be the hash of the payload.
                if record["id"].startswith("sha256:"):
                    record["id"] = "planted-%d" % number
                output.write(json.dumps(record, ensure_ascii=False) + "\n")
    print("\n".join(secret for secrets in VALUES.values() for secret in secrets))


if __name__ == "__main__":
    main()
