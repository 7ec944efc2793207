"""Phones whose queues of telemetry change from night to night, for checks of increments.

A folder contains the state of all phones. On each night, every phone writes new pings, and some phones delete old ones, as after
an upload. Some phones have corrupt files that stay, a second payload under the same document id, or the same ping twice.
"""

import json
import os
import random
import re
import shutil
import sqlite3
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Load"))
import make_load

CONTAINERS = "Containers/Data/Application"
# The pings that a phone writes each night, on average.
PINGS = 5
GLEAN_APP = "org-mozilla-ios-firefox"


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(data)


def make_glean_container(root, pings, choice):
    """Writes a container with `pings` baseline pings, which are named so that their order is that of their numbers."""
    name, client = make_load.identifier(choice), make_load.identifier(choice).lower()
    home = os.path.join(root, CONTAINERS, name)
    for number in range(pings):
        document = "%08x%s" % (number, make_load.identifier(choice).lower()[8:])
        body = {
            "client_info": {
                "app_build": "59021", "app_channel": "release", "app_display_version": "146.0", "architecture": "D63AP",
                "client_id": client, "device_model": "iPhone14,2", "first_run_date": "2025-04-13-05:00", "locale": "en-US",
                "os": "iOS", "os_version": "18.1.1", "telemetry_sdk_build": "66.3.0"},
            "metrics": {"timespan": {"glean.baseline.duration": {"time_unit": "second", "value": choice.randrange(900)}}},
            "ping_info": {
                "start_time": "2026-01-%02dT05:52:21.370-05:00" % (1 + number // 24 % 28),
                "end_time": "2026-01-%02dT%02d:59:21.370-05:00" % (1 + number // 24 % 28, number % 24),
                "reason": "active", "seq": number}}
        lines = ["/submit/%s/baseline/1/%s" % (GLEAN_APP, document), json.dumps(body, separators=(",", ":")), '{"headers":{}}']
        write(os.path.join(home, "Library/Application Support/glean_data/pending_pings", document), "\n".join(lines).encode())
    make_load.plist(os.path.join(home, ".com.apple.mobile_container_manager.metadata.plist"), {
        "MCMMetadataContentClass": 2, "MCMMetadataIdentifier": "org.mozilla.ios.Firefox", "MCMMetadataUUID": name})


class Phone:
    """The container of a phone in `folder`, into which pings are moved from a folder with the pings of all nights."""

    def __init__(self, folder, staging, number, nights, seed):
        self.folder, self.staging, self.number = folder, staging, number
        self.choice = random.Random("%s/%d" % (seed, number))
        self.is_glean = number % 3 == 2
        total = 2 * PINGS * nights
        if self.is_glean:
            make_glean_container(staging, total, self.choice)
        else:
            make_load.container(staging, number, total, self.choice)
        files = [os.path.relpath(os.path.join(parent, name), staging)
                 for parent, _, names in os.walk(staging) for name in names]
        self.pings = sorted(
            (path for path in files if self.is_glean and "pending_pings" in path or "/-t-" in path), key=os.path.basename)
        for path in sorted(set(files) - set(self.pings)):
            self.copy(path)
        self.start = self.end = 0

    def copy(self, path):
        write(os.path.join(self.folder, path), read(os.path.join(self.staging, path)))

    def change(self, night, ids):
        """Writes the pings of one day, deletes old ones on some days, and adds the ids of the new pings to `ids`."""
        last = self.end
        self.end = min(len(self.pings), last + self.choice.randint(1, 2 * PINGS - 1))
        for path in self.pings[last:self.end]:
            self.copy(path)
            ids.add(self.document_id(path))
        if self.choice.random() < 0.4:
            for path in self.pings[self.start:last]:
                os.remove(os.path.join(self.folder, path))
            self.start = last
        if night == 2 + self.number % 3:
            [self.leave_corrupt_file, self.change_payload, self.repeat_ping, self.leave_corrupt_file][self.number % 4](night)
        if night == 5 and self.number % 4 == 0:
            self.leave_corrupt_file(night)

    def document_id(self, path):
        if self.is_glean:
            return os.path.basename(path)
        return re.search(rb'"documentId" : "([^"]+)"', read(os.path.join(self.staging, path)))[1].decode()

    def other_path(self, path):
        """Returns the path of a file that sorts after `path`."""
        if self.is_glean:
            return path[:-4] + "%04x" % (self.number + 1)
        return path[:-len(".json")] + "9.json"

    def leave_corrupt_file(self, night):
        """Writes half of a ping in a file that is never deleted. A later call writes other contents to the file."""
        path = self.pings[0]
        data = read(os.path.join(self.staging, path))
        write(os.path.join(self.folder, self.other_path(path)), data[:len(data) // 2 - night])

    def change_payload(self, _):
        """Writes the oldest ping again with another payload and the same document id."""
        path = self.pings[self.start]
        data = read(os.path.join(self.staging, path))
        changed = re.sub(rb'("durations" : |"processStartTimestamp" : |"value":)(\d+)', rb"\g<1>1\2", data, count=1)
        assert changed != data, path
        if self.is_glean:
            # The ping is replaced, and is never deleted.
            self.pings.remove(path)
            self.end -= 1
        elif self.number % 3 == 0:
            # The time in this name is earlier, so that this ping is read first.
            path = re.sub(r"(-t-\d+)[^/]*$", r"\1.0.json", path)
        else:
            path = self.other_path(path)
        write(os.path.join(self.folder, path), changed)

    def repeat_ping(self, _):
        """Writes the newest ping in a second file with the same contents."""
        path = self.pings[self.end - 1]
        write(os.path.join(self.folder, self.other_path(path)), read(os.path.join(self.staging, path)))


class Phones:
    """The folder `path` with the state of all phones, which changes each night."""

    def __init__(self, path, staging, count, nights, seed):
        self.path = path
        self.phones = [Phone(path, os.path.join(staging, str(number)), number, nights, seed) for number in range(count)]
        # The document ids of all pings of generated phones that were in the folder on some night.
        self.ids = set()

    def change(self, night):
        """Changes the phones as on one day. Nights are counted from 1."""
        for phone in self.phones:
            phone.change(night, self.ids)
        if night == 1:
            for sample in ("focus", "leanplum"):
                shutil.copytree("samples/" + sample, os.path.join(self.path, sample))
        if night == 2:
            shutil.copytree("samples/damaged", os.path.join(self.path, "damaged"))
        if night == 3:
            shutil.copytree("samples/shop", os.path.join(self.path, "shop"))
        self.add_pending_event(night)
        self.add_request(night)

    def add_pending_event(self, night):
        """Adds an event that is in no ping yet, before the last event, which is cut short."""
        path = os.path.join(self.path, "focus/Documents/eventArray-MozTelemetry-Default-focus-event.json")
        *events, last = read(path).split(b"\n")
        write(path, b"\n".join([*events, b'[%d,"action","click","erase_button"],' % (40000 + night), last]))

    def add_request(self, night):
        """Adds a request to the queue of Leanplum, so that it overlaps with that of the preceding night."""
        database = sqlite3.connect(os.path.join(self.path, "leanplum/Documents/__leanplum.sqlite"))
        with database:
            rows = [json.loads(row) for row, in database.execute("SELECT data FROM event ORDER BY rowid")]
            request = next(row for row in rows if row["action"] == "track")
            request.update(reqId="%08X-0000-4000-8000-000000000000" % night, time="%d.5" % (1583160000 + night))
            database.execute("INSERT INTO event VALUES (?)", [json.dumps(request)])
        database.close()
