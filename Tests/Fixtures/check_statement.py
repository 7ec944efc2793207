#!/usr/bin/env python3
"""Checks that files are in-toto Statements v1, each one line of canonical JSON, by the rules of the in-toto Attestation
Framework (statement.md, resource_descriptor.md, digest_set.md, field_types.md of spec/v1), and written for it anew:
check_statement.py PREDICATE_TYPE FILE…"""

import json
import re
import sys
from datetime import datetime

HEX = {"sha256": 64, "sha512": 128, "sha1": 40, "gitCommit": None}
# RFC 3986, appendix B and 3.1: a scheme, a colon, and no space or control character.
URI = re.compile(r"[a-z][a-z0-9+.-]*:[!-~]+")


def no_repeated_keys(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key stands twice"
    return dict(pairs)


def check_type_uri(text):
    """field_types.md: a URI with scheme and authority in lower case."""
    assert isinstance(text, str) and URI.fullmatch(text), "%r is no URI" % text
    authority = re.match(r"[^:]*:(//[^/]*)?", text).group(0)
    assert authority == authority.lower(), "scheme or authority not in lower case"


def check_timestamp(text):
    """field_types.md: RFC 3339 in UTC, with a Z."""
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", text), text
    datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")


def check_descriptor(descriptor):
    """resource_descriptor.md; a subject must have a digest (statement.md)."""
    known = {"name", "uri", "digest", "content", "downloadLocation", "mediaType", "annotations"}
    assert set(descriptor) <= known, "unknown keys %s" % (set(descriptor) - known)
    digest = descriptor["digest"]
    assert isinstance(digest, dict) and digest, "no digest"
    for algorithm, value in digest.items():
        assert algorithm in HEX, "unknown algorithm %s" % algorithm
        assert re.fullmatch("[0-9a-f]+", value), "not lower-case hex"
        assert HEX[algorithm] in (None, len(value)), "%s of %d digits" % (algorithm, len(value))
    assert isinstance(descriptor.get("name", ""), str)


def check(path, predicate_type):
    with open(path, "rb") as stream:
        line = stream.read()
    assert line.endswith(b"\n") and line.count(b"\n") == 1, "not one line"
    statement = json.loads(line, object_pairs_hook=no_repeated_keys)
    # Canonical: what Python writes with sorted keys and without spaces. Keys are ASCII, which sorts alike in both.
    again = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    assert again == line, "not canonical"
    assert set(statement) == {"_type", "subject", "predicateType", "predicate"}
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    check_type_uri(statement["predicateType"])
    assert statement["predicateType"] == predicate_type
    assert isinstance(statement["subject"], list) and statement["subject"], "no subject"
    for subject in statement["subject"]:
        check_descriptor(subject)
    names = [subject["name"] for subject in statement["subject"]]
    assert len(names) == len(set(names)), "a name stands twice"
    assert isinstance(statement["predicate"], dict)
    check_timestamp(statement["predicate"]["time"])


for argument in sys.argv[2:]:
    check(argument, sys.argv[1])
