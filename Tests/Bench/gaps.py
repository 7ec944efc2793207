"""Compares `pingferry gaps` with the conversion to NDJSON, and checks that it finds exactly the planted gaps.

A bundle has 1,000,000 records of 1,000 clients, which number their uploads. 100 ranges of numbers are missing, 30 numbers are
repeated, and 20 sequences start again.
"""

import datetime
import json
import os
import random
import subprocess
import uuid

import measuring
from measuring import FOLDER, Limit, compare, pingferry

CLIENTS, UPLOADS = 1000, 1000
PLANTED = ["missing"] * 100 + ["repeated"] * 30 + ["restart"] * 20
# The numbers of missing uploads.
LENGTHS = (1, 2, 3, 7, 20, 150, 5000)
NDJSON = FOLDER + "/gaps.ndjson"
PHONE = {"os": "iOS", "osversion": "13.4.1", "arch": "arm64", "device": "iPhone10,4", "locale": "en-GB", "tz": 60, "v": 7}
APP = {"app_build": "59021", "app_channel": "release", "app_display_version": "146.0", "architecture": "D63AP", "os": "iOS",
       "os_version": "18.1.1", "device_model": "iPhone14,2", "first_run_date": "2025-04-13-05:00", "telemetry_sdk_build": "66.3.0"}


class Sequence:
    """The numbers of the uploads of one client, and the planted rows: the run, the kind, and the first and last number."""

    def __init__(self, index, planted, choice):
        self.client = str(uuid.UUID(int=choice.getrandbits(128), version=4))
        self.is_glean = index % 2 == 1
        self.first = 0 if self.is_glean else 1
        number, run = self.first + choice.randrange(3000), 1
        self.numbers, self.rows = [number], []
        for position in range(1, UPLOADS):
            kind = planted.get(position)
            if kind == "missing":
                length = choice.choice(LENGTHS)
                self.rows.append((run, kind, number + 1, number + length))
                number += length + 1
            elif kind == "repeated":
                self.rows.append((run, kind, number, number))
            elif kind == "restart":
                number, run = self.first, run + 1
            else:
                number += 1
            self.numbers.append(number)
        self.runs = run

    @property
    def key(self):
        return ("glean", "baseline", self.client) if self.is_glean else ("mozilla", "core", self.client)

    def record(self, position, time):
        """Returns an upload as a record."""
        system, kind, client = self.key
        number, document = self.numbers[position], str(uuid.uuid5(uuid.NAMESPACE_URL, "%s/%d" % (self.client, position)))
        if self.is_glean:
            store, target = "glean-ping-file", "/submit/org-mozilla-ios-firefox/baseline/1/" + document
            payload = {"client_info": {**APP, "client_id": client},
                       "ping_info": {"seq": number, "start_time": time, "end_time": time, "reason": "active"}}
        else:
            store, target = "mozilla-ping-file", "/submit/telemetry/%s/core/Fennec/24.1/release/18412?v=4" % document
            payload = {**PHONE, "clientId": client, "seq": number, "created": time[:10], "sessions": 1, "durations": 60 + number,
                       "defaultSearch": "google", "profileDate": 17640, "searches": {"actionbar.google": 1 + number % 5}}
        return {"system": system, "type": kind, "id": document, "client": client, "time": time, "app": None,
                "target": {"path": target}, "payload": payload, "notes": [], "held": [],
                "source": {"capture": "phones", "path": document, "store": store, "index": 0}}


def sequences():
    choice = random.Random(1)
    planted = [{} for _ in range(CLIENTS)]
    # The positions are not adjacent, so that the kinds do not affect each other.
    places = choice.sample([(client, position) for client in range(CLIENTS) for position in range(5, UPLOADS - 5, 5)], len(PLANTED))
    for (client, position), kind in zip(places, PLANTED):
        planted[client][position] = kind
    return [Sequence(index, rows, choice) for index, rows in enumerate(planted)]


def make_bundle(path):
    start = datetime.datetime(2026, 1, 1)
    known = sequences()
    with open(NDJSON, "w", encoding="utf-8") as output:
        for position in range(UPLOADS):
            time = (start + datetime.timedelta(hours=position)).isoformat() + ".000Z"
            for sequence in known:
                output.write(json.dumps(sequence.record(position, time), sort_keys=True, separators=(",", ":")) + "\n")
    subprocess.run(pingferry("bundle", NDJSON, output=path), check=True)
    measuring.remove(NDJSON)


def found_rows(bundle):
    """Returns the rows that `pingferry gaps` finds in each sequence, and the number of its runs."""
    found = {}
    for sequence in json.loads(subprocess.check_output(pingferry("gaps", "--json", bundle)))["sequences"]:
        rows = [(number, kind, *row["numbers"]) for number, run in enumerate(sequence["runs"], 1)
                for kind in ("missing", "repeated") for row in run[kind]]
        found[sequence["system"], sequence["type"], sequence["client"]] = sorted(rows), len(sequence["runs"])
    return found


def run():
    bundle = measuring.make_once(FOLDER + "/gaps.tar.zst", make_bundle)
    kept = compare("1,000,000 numbered records", {
        "convert": pingferry("convert", bundle, output=NDJSON),
        "gaps": pingferry("gaps", "--json", bundle),
    }, {"gaps": Limit(clock=1.3, memory=135e6)}, {"gaps": Limit(processor=1.3)})
    os.remove(NDJSON)
    is_exact = found_rows(bundle) == {sequence.key: (sorted(sequence.rows), sequence.runs) for sequence in sequences()}
    print("the planted gaps were%s found" % ("" if is_exact else " not exactly"), flush=True)
    return kept and is_exact
