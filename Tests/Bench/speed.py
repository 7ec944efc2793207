"""Compares `pingferry` with stock tools that process the same bytes but do less work.

Bundles are verified and converted, folders and archives are bundled and converted, and large stores are converted.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import uuid

import measuring
from measuring import FOLDER, Limit, compare, pingferry
from unpack import unpack

NDJSON, TAR, BUNDLE = (FOLDER + "/speed-output" + suffix for suffix in (".ndjson", ".tar.zst", ".bundle.tar.zst"))
# The minimum size of the request log, in bytes.
LOG_SIZE = 500 << 20
# The number of requests in the large Leanplum store.
REQUESTS = 50_000
# The maximum size of a bundle as a fraction of the size of tar's archive.
MAX_BUNDLE_SIZE = 0.80


def shell(command):
    return ["sh", "-c", command]


def bundles(load):
    subprocess.run(pingferry("bundle", load, output=BUNDLE), check=True)
    return compare("a bundle", {
        "zstd -dc | sha256sum": shell("zstd -dc %s | sha256sum" % BUNDLE),
        "verify": pingferry("verify", BUNDLE),
        "convert": pingferry("convert", BUNDLE, output=NDJSON),
    }, {"verify": Limit(processor=1.15), "convert": Limit(processor=1.3)})


def folders(load):
    kept = compare("100,000 files", {
        "tar --zstd": ["tar", "--zstd", "-cf", TAR, load],
        "bundle": pingferry("bundle", load, output=BUNDLE),
        "convert": pingferry("convert", load, output=NDJSON),
    }, {"bundle": Limit(clock=0.85, processor=1.15)}, {"bundle": Limit(clock=0.55, processor=0.85)},
        outputs={"tar --zstd": TAR, "bundle": BUNDLE})
    ratio = os.path.getsize(BUNDLE) / os.path.getsize(TAR)
    print("%-30s %9.2f times tar's, the limit is %.2f\n" % ("size of the bundle", ratio, MAX_BUNDLE_SIZE), flush=True)
    return kept and ratio <= MAX_BUNDLE_SIZE


def archives(load):
    tar = measuring.make_once(FOLDER + "/speed-load.tar.zst", lambda path: subprocess.run(
        ["tar", "--zstd", "-C", load, "-cf", path, "."], check=True))
    package = measuring.make_once(FOLDER + "/speed-load.zip", lambda path: subprocess.run(
        ["bsdtar", "--format", "zip", "-C", load, "-cf", path, "."], check=True))
    kept = compare("the files in a tar.zst", {
        "tar --zstd -xO": ["tar", "--zstd", "-xOf", tar],
        "bsdtar -xO": ["bsdtar", "-xOf", tar],
        "convert": pingferry("convert", tar, output=NDJSON),
        "convert of the folder": pingferry("convert", load, output=NDJSON),
    }, {"convert": Limit(clock=3.5)}, {"convert": Limit(clock=1.7)})
    return compare("the files in a zip", {
        "bsdtar -xO": ["bsdtar", "-xOf", package],
        "convert": pingferry("convert", package, output=NDJSON),
        "bundle": pingferry("bundle", package, output=BUNDLE),
    }, {"convert": Limit(clock=1.3), "bundle": Limit(clock=1.2)}) and kept


def stores(load):
    """Compares the conversion of large single stores. There are no limits."""
    log = measuring.make_once(FOLDER + "/speed.har", lambda path: make_log(path, load))
    databases = measuring.make_once(FOLDER + "/databases", make_databases)
    compare("an HTTP archive of 500 MB", {
        "sha256sum": ["sha256sum", log],
        "jq": ["jq", "-c", ".log.entries[].request.url", log],
        "convert": pingferry("convert", log, output=NDJSON),
    }, runs=2)
    compare("50,000 requests in SQLite", {
        "sqlite3": shell("find %s/whole -name '*.sqlite' -exec sqlite3 {} 'SELECT data FROM event' ';'" % databases),
        "convert": pingferry("convert", databases + "/whole", output=NDJSON),
        "convert, with a hot journal": pingferry("convert", databases + "/journal", output=NDJSON),
    }, runs=3)
    return True


def million(load):
    large = measuring.load("million", 12_500, 1_000_000)
    return compare("1,000,000 files", {
        "bundle of 100,000": pingferry("bundle", load, output=BUNDLE),
        "bundle of 1,000,000": pingferry("bundle", large, output=BUNDLE),
    }, {"bundle of 1,000,000": Limit(memory=250e6)}, {"bundle of 1,000,000": Limit(clock=11, processor=11)}, runs=2)


def make_log(path, load):
    """Writes an HTTP archive that repeats the pings of a capture until it has `LOG_SIZE` bytes."""
    with open(path, "w", encoding="utf-8") as log:
        log.write('{"log":{"version":"1.2","creator":{"name":"bench","version":"1"},"entries":[')
        separator = ""
        while log.tell() < LOG_SIZE:
            for ping in ping_files(load):
                log.write(separator + json.dumps(log_entry(ping)))
                separator = ","
                if log.tell() >= LOG_SIZE:
                    break
        log.write("]}}")


def ping_files(folder):
    """Yields the parsed ping files of a capture."""
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.startswith("-t-"):
                with open(os.path.join(parent, name), encoding="utf-8") as stream:
                    yield json.load(stream)


def log_entry(ping):
    """Returns the entry of an HTTP archive for a failed upload of `ping`."""
    return {
        "startedDateTime": "2020-04-01T00:00:00.000Z", "time": 1,
        "request": {
            "method": "POST", "url": "https://incoming.telemetry.mozilla.org" + ping["uploadPath"],
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "postData": {"mimeType": "application/json", "text": json.dumps(ping["measurements"])}},
        "response": {"status": 500, "headers": [], "content": {"size": 0}}}


def make_databases(folder):
    """Makes a Leanplum store of `REQUESTS` requests in `whole`, and one with an interrupted transaction on all of them in `journal`."""
    unpack("leanplum", folder + "/all")
    base = folder + "/all/sqlite-basic"
    source = next(os.path.join(parent, name) for parent, _, names in os.walk(base) for name in names if name.endswith(".sqlite"))
    repeat_requests(source)
    copies = {}
    for kind in ("whole", "journal"):
        copies[kind] = os.path.join(folder, kind, os.path.relpath(source, base))
        os.makedirs(os.path.dirname(copies[kind]))
    shutil.copy(source, copies["whole"])
    database = sqlite3.connect(source, isolation_level=None)
    # A small cache forces changed pages into the database file, so that the journal is needed for the rollback.
    database.execute("PRAGMA cache_size = 10")
    database.execute("BEGIN")
    database.execute("UPDATE event SET data = data || ' '")
    for suffix in ("", "-journal"):
        shutil.copy(source + suffix, copies["journal"] + suffix)
    database.execute("ROLLBACK")
    database.close()
    shutil.rmtree(folder + "/all")


def repeat_requests(path):
    """Adds requests with other ids and times to a Leanplum store until it has `REQUESTS`."""
    database = sqlite3.connect(path)
    with database:
        requests = [json.loads(text) for text, in database.execute("SELECT data FROM event ORDER BY rowid")]
        for number in range(len(requests), REQUESTS):
            request = requests[number % len(requests)]
            request = {**request, "reqId": str(uuid.UUID(int=number)).upper(), "time": "%.6f" % (float(request["time"]) + number)}
            # The SDK escapes slashes.
            text = json.dumps(request, ensure_ascii=False, separators=(",", ":")).replace("/", "\\/")
            database.execute("INSERT INTO event (data) VALUES (?)", [text])
    database.close()


SECTIONS = {"bundle": bundles, "folder": folders, "archives": archives, "stores": stores, "million": million}


def run(names=()):
    """Runs the sections `names`, by default all. Returns whether all limits were kept."""
    load = measuring.load()
    exceeded = [name for name in names or SECTIONS if not SECTIONS[name](load)]
    for path in (NDJSON, TAR, BUNDLE):
        measuring.remove(path)
    if exceeded:
        print("limits were exceeded in: %s" % ", ".join(exceeded), flush=True)
    return not exceeded
