#!/usr/bin/env python3
"""Plants values that tell of a person in records: plant_values.py RECORDS OUTPUT

Writes each record once for each of its texts, each part of its target's path and each key of its payload, with a value of
a person in that place: an address of mail, an address of a network, a UUID. Prints the planted values, one a line.
"""

import copy
import json
import sys

VALUES = ["anna.berg@example.org", "net.10.114.62.7", "6E0B0F5C-3D0A-4C55-9B3E-0C7D6E1F2A9B"]
SECRETS = ["anna.berg", "10.114.62.7", "6E0B0F5C-3D0A-4C55-9B3E-0C7D6E1F2A9B", "0C7D6E1F2A9B"]
FIXED = {"system", "store", "held", "time"}


def places(value, path=()):
    """Yields the path of each text, and of each member, whose key can be changed."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in FIXED:
                if path[:1] == ("payload",):
                    yield "key", path + (key,)
                yield from places(inner, path + (key,))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, path + (number,))
    elif isinstance(value, str) and path[-1] not in FIXED:
        yield "text", path


def holder(record, path):
    for step in path[:-1]:
        record = record[step]
    return record


def planted(record, kind, path, value):
    changed = copy.deepcopy(record)
    inner = holder(changed, path)
    if kind == "key":
        inner[value] = inner.pop(path[-1])
    else:
        inner[path[-1]] = value
    return changed


def variants(record):
    for value in VALUES:
        for kind, path in places(record):
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
                # A hash would not be that of the payload any more.
                if record["id"].startswith("sha256:"):
                    record["id"] = "planted-%d" % number
                output.write(json.dumps(record, ensure_ascii=False) + "\n")
    print("\n".join(SECRETS))


if __name__ == "__main__":
    main()
