#!/usr/bin/env python3
"""Validates records against the schemas of the pipeline that receives them.

    pingferry convert -o - PATH | validate.py SCHEMAS

Reads records as NDJSON on standard input. The payload of each record of Mozilla's ping types that is not held
must match SCHEMAS/<type>.<v>.schema.json (JSON Schema draft 4). Prints a line for each that does not and exits
with status 1 if there is any. Needs the package `jsonschema`.
"""

import argparse
import json
import os
import sys

from jsonschema import Draft4Validator

TYPES = ("core", "focus-event", "mobile-event")


class Schemas:
    """The validators of a folder, each read when it is first asked for."""

    def __init__(self, folder):
        self.folder, self.validators = folder, {}

    def validator(self, name):
        """The validator of one schema, or None if the folder does not have it."""
        if name not in self.validators:
            path = os.path.join(self.folder, name + ".schema.json")
            self.validators[name] = None
            if os.path.exists(path):
                with open(path, encoding="utf-8") as stream:
                    self.validators[name] = Draft4Validator(json.load(stream))
        return self.validators[name]

    def failure(self, record):
        """What is wrong with the payload of a record, or None."""
        payload = record["payload"]
        name = "%s.%s" % (record["type"], payload.get("v"))
        validator = self.validator(name)
        if validator is None:
            return "no schema " + name
        error = next(validator.iter_errors(payload), None)
        if error is None:
            return None
        return "%s: %s" % (".".join(str(part) for part in error.absolute_path) or "payload", error.message[:200])


def main():
    parser = argparse.ArgumentParser(description="Validate records (NDJSON on standard input) against JSON schemas.")
    parser.add_argument("schemas", help="folder of files named <type>.<v>.schema.json")
    args = parser.parse_args()
    if not os.path.isdir(args.schemas):
        parser.error("%s is no folder" % args.schemas)
    schemas = Schemas(args.schemas)
    valid = invalid = skipped = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        record = json.loads(line)
        if record["held"] or record["type"] not in TYPES:
            skipped += 1
            continue
        failure = schemas.failure(record)
        if failure is None:
            valid += 1
        else:
            invalid += 1
            print("line %d: %s %s: %s" % (number, record["type"], record["id"], failure))
    print("%d valid, %d invalid, %d skipped" % (valid, invalid, skipped))
    return 1 if invalid else 0


if __name__ == "__main__":
    sys.exit(main())
