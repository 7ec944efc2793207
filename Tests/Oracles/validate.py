#!/usr/bin/env python3
"""Validates records against the JSON schemas of Mozilla's pipeline.

    pingferry convert -o - PATH | validate.py SCHEMAS

Reads records as NDJSON from standard input. The payload of each record of one of Mozilla's ping types must match the schema
`SCHEMAS/<type>.<v>.schema.json` (JSON Schema draft 4), unless the record is held. Prints a line for each record that does not
match, and exits with status 1 if there is one. Needs the package `jsonschema`.
"""

import argparse
import json
import os
import sys

from jsonschema import Draft4Validator

TYPES = ("core", "focus-event", "mobile-event")


class Schemas:
    """The validators of the schemas in a folder. Each schema is loaded when it is first used."""

    def __init__(self, folder):
        self.folder, self.validators = folder, {}

    def validator(self, name):
        """Returns the validator of the schema `name`, or `None` if the folder does not contain it."""
        if name not in self.validators:
            path = os.path.join(self.folder, name + ".schema.json")
            self.validators[name] = None
            if os.path.exists(path):
                with open(path, encoding="utf-8") as stream:
                    self.validators[name] = Draft4Validator(json.load(stream))
        return self.validators[name]

    def failure(self, record):
        """Returns why the payload of `record` is invalid, or `None` if it is valid."""
        payload = record["payload"]
        name = "%s.%s" % (record["type"], payload.get("v"))
        validator = self.validator(name)
        if validator is None:
            return "there is no schema " + name
        error = next(validator.iter_errors(payload), None)
        if error is None:
            return None
        return "%s: %s" % (".".join(str(part) for part in error.absolute_path) or "payload", error.message[:200])


def main():
    parser = argparse.ArgumentParser(description="Validate records (NDJSON on standard input) against JSON schemas.")
    parser.add_argument("schemas", help="the folder of the files named <type>.<v>.schema.json")
    args = parser.parse_args()
    if not os.path.isdir(args.schemas):
        parser.error("%s is not a folder" % args.schemas)
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
