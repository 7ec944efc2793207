#!/usr/bin/env python3
"""Checks that each file is an in-toto Statement v1 on one line of canonical JSON.

    check_statement.py PREDICATE_TYPE FILE…

The rules are those of the in-toto Attestation Framework, spec/v1: statement.md, resource_descriptor.md, digest_set.md and
field_types.md. They are implemented independently of the program.
"""

import json
import re
import sys
from datetime import datetime

# The number of hexadecimal digits of each digest algorithm, or None if it varies.
DIGEST_LENGTHS = {"sha256": 64, "sha512": 128, "sha1": 40, "gitCommit": None}
# A URI begins with a scheme and a colon and contains no spaces or control characters. Source: RFC 3986, section 3.1 and appendix B.
URI = re.compile(r"[a-z][a-z0-9+.-]*:[!-~]+")


def object_without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "an object has a duplicate key"
    return dict(pairs)


def check_type_uri(text):
    """Checks that a string is a URI whose scheme and authority are in lowercase (field_types.md)."""
    assert isinstance(text, str) and URI.fullmatch(text), "%r is not a URI" % text
    authority = re.match(r"[^:]*:(//[^/]*)?", text).group(0)
    assert authority == authority.lower(), "the scheme or authority is not in lowercase"


def check_timestamp(text):
    """Checks that a string is a time in UTC as in RFC 3339, with a Z (field_types.md)."""
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", text), text
    datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")


def check_descriptor(descriptor):
    """Checks the descriptor of a subject (resource_descriptor.md), which must have a digest (statement.md)."""
    known = {"name", "uri", "digest", "content", "downloadLocation", "mediaType", "annotations"}
    assert set(descriptor) <= known, "unknown keys %s" % (set(descriptor) - known)
    digest = descriptor["digest"]
    assert isinstance(digest, dict) and digest, "a subject has no digest"
    for algorithm, value in digest.items():
        assert algorithm in DIGEST_LENGTHS, "unknown algorithm %s" % algorithm
        assert re.fullmatch("[0-9a-f]+", value), "a digest is not lowercase hexadecimal"
        assert DIGEST_LENGTHS[algorithm] in (None, len(value)), "a digest %s has %d digits" % (algorithm, len(value))
    assert isinstance(descriptor.get("name", ""), str)


def check(path, predicate_type):
    """Checks the statement in a file."""
    with open(path, "rb") as stream:
        line = stream.read()
    assert line.endswith(b"\n") and line.count(b"\n") == 1, "the file is not exactly one line"
    statement = json.loads(line, object_pairs_hook=object_without_duplicates)
    # Python's sorted keys without spaces are canonical, because the keys are ASCII.
    canonical = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    assert canonical == line, "the JSON is not canonical"
    assert set(statement) == {"_type", "subject", "predicateType", "predicate"}
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    check_type_uri(statement["predicateType"])
    assert statement["predicateType"] == predicate_type
    assert isinstance(statement["subject"], list) and statement["subject"], "there is no subject"
    for subject in statement["subject"]:
        check_descriptor(subject)
    names = [subject["name"] for subject in statement["subject"]]
    assert len(names) == len(set(names)), "two subjects have the same name"
    assert isinstance(statement["predicate"], dict)
    check_timestamp(statement["predicate"]["time"])


for argument in sys.argv[2:]:
    check(argument, sys.argv[1])
