#!/usr/bin/env python3
"""Writes records with personal values in all positions.

    plant_values.py RECORDS OUTPUT

For each string of a record, each component of the path of its target, and each key of its payload, writes a copy of the record in
which a personal value replaces it. There is a copy for each of an e-mail address, an IP address and a UUID. Prints the strings that
must not occur in pseudonymized output, one per line.
"""

import copy
import json
import sys

# The values to insert, and the parts of them that must not occur in the output.
VALUES = ["anna.berg@example.org", "net.10.114.62.7", "6E0B0F5C-3D0A-4C55-9B3E-0C7D6E1F2A9B"]
SECRETS = ["anna.berg", "10.114.62.7", "6E0B0F5C-3D0A-4C55-9B3E-0C7D6E1F2A9B", "0C7D6E1F2A9B"]
# The keys of a record whose values are not changed.
FIXED = {"system", "store", "held", "time"}


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


def variants(record):
    """Yields the copies of a record with personal values."""
    for value in VALUES:
        for kind, path in positions(record):
            if path != ("target", "path"):
                yield planted(record, kind, path, value)
        target = (record["target"] or {}).get("path", "")
        parts, mark, query = target.partition("?")
        parts = parts.split("/")
        for number in range(2, len(parts)):
            path = "/".join(parts[:number] + [value.replace(".", "-") if number == 2 else value] + parts[number + 1:])
            yield planted(record, "text", ("target", "path"), path + mark + query)


def main():
    number = 0
    with open(sys.argv[1], encoding="utf-8") as lines, open(sys.argv[2], "w", encoding="utf-8") as output:
        for line in lines:
            for record in variants(json.loads(line)):
                number += 1
                # The id is replaced, because it would no longer be the hash of the payload.
                if record["id"].startswith("sha256:"):
                    record["id"] = "planted-%d" % number
                output.write(json.dumps(record, ensure_ascii=False) + "\n")
    print("\n".join(SECRETS))


if __name__ == "__main__":
    main()
