"""Makes the captures of the fleet test: stores of all systems, bundles, copies, repeated ids, and captures that cannot be read."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.append(os.path.join(ROOT, "Tests/Fixtures"))
from unpack import unpack

# The names of the captures in each archive of Tests/Fixtures/captures.
CASES = {
    "mozilla": (
        "c01-integer-with-point c08-null-elsewhere c12-client-lower-case c17-required-missing event-counts "
        "f05-broken-record-inside firefox-both-folders focus-leftovers focus-s3 foreign-target klar-s3 lockwise-s3 numbers "
        "p11-one-id-three-pings p12-duplicate-keys p16-odd-times pending-1203 s1-arrays unicode webxr-s3"),
    "glean": (
        "g16-renamed-copies g22-same-ping-twice g23-one-id-two-pings g35-tags g43-end-time-forms g45-schema "
        "g59-deletion-request gen-a gen-b gen-c gen-d gen-d-sqlite phone texts"),
    "leanplum": (
        "sqlite-basic sqlite-hot-journal plist-caches sqlite-corrupt-page userdefaults har/charles.har har/devtools.har "
        "har/mitmproxy-surrogates.har har/proxyman.har"),
    "sift": "current gen1-0.1.2 gen4-2.1.0 edge",
}
# The names of captures for which the test replaces the program: it hangs, writes endlessly, or is running when its executor is
# killed. The bundle with the last name is damaged.
HANGS, ENDLESS, VICTIM, DAMAGED = "hangs", "endless", "victim", "damaged.tar.zst"
UNREADABLE = (HANGS, ENDLESS, DAMAGED)
# The number of captures.
COUNT = 60
# The number of pings in the bundle that several workers read.
SHARED_PINGS = 9000
# The number and the size of pings that are larger than real ones. A worker has enough memory for one of them, but not for all.
LARGE_PINGS, LARGE_BYTES = 16, 7 << 20


def make(work, program):
    """Makes the captures below `work` and returns the patterns that match all of them."""
    folder, made = os.path.join(work, "captures"), os.path.join(work, "made")
    os.makedirs(folder)
    for archive, names in CASES.items():
        unpack(archive, os.path.join(made, archive))
        for name in names.split():
            shutil.move(os.path.join(made, archive, name), os.path.join(folder, os.path.basename(name)))
    shutil.copy(os.path.join(ROOT, "samples/pings.ndjson"), folder)
    make_others(folder, made, program)
    for name in ("one", "two"):
        copy(folder, "gen1-0.1.2", os.path.join(work, "pulled", name, "AppData"))
    patterns = [os.path.join(folder, "*"), os.path.join(work, "pulled/*/AppData")]
    count = len(os.listdir(folder)) + 2
    assert count == COUNT, f"{count} captures"
    return patterns


def make_others(folder, made, program):
    load = os.path.join(made, "load")
    make_load = [sys.executable, os.path.join(ROOT, "Tests/Load/make_load.py"), load]
    subprocess.run([*make_load, "--containers", "60", "--pings", str(SHARED_PINGS)], check=True, stdout=subprocess.DEVNULL)
    bundle(program, os.path.join(folder, "shared.tar.zst"), load)
    # A bundle of records that other captures contain too. Its records with repeated ids already have notes.
    bundle(program, os.path.join(folder, "merged.tar.zst"), *(
        os.path.join(folder, name) for name in ("focus-s3", "gen-d", "p11-one-id-three-pings", "g23-one-id-two-pings", "current")))
    with open(os.path.join(folder, "shared.tar.zst"), "rb") as file:
        whole = bytearray(file.read())
    whole[len(whole) // 2] ^= 0x20
    with open(os.path.join(folder, DAMAGED), "wb") as file:
        file.write(whole)
    copy(folder, "klar-s3", os.path.join(folder, VICTIM))
    for name in (HANGS, ENDLESS):
        copy(folder, "webxr-s3", os.path.join(folder, name))
    # Captures with the ids of other captures, but other payloads. One is sorted before the original and the other one after it. The
    # name of the latter contains a line feed.
    for name, other in (("focus-s3", "altered focus"), ("gen-d", "zz-altered-gen-d\nélan")):
        copy(folder, name, os.path.join(folder, other))
        alter(os.path.join(folder, other))
    pack(os.path.join(folder, "webxr-s3"), os.path.join(folder, "packed [1].zip"))
    write_large(os.path.join(folder, "large.ndjson"))


def bundle(program, output, *captures):
    made = subprocess.run(
        [program, "bundle", "--quiet", "-o", output, "--", *captures], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert made.returncode in (0, 1), made.stderr.decode("utf-8", "replace")


def copy(folder, name, to):
    shutil.copytree(os.path.join(folder, name), to, symlinks=True)


def alter(folder):
    """Changes the sequence number of each ping, so that the payload differs but the id does not."""
    altered = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                text = file.read()
            changed, count = re.subn(rb'("seq" ?: ?)(\d+)', rb"\g<1>7\2", text)
            altered += count
            if count:
                with open(path, "wb") as file:
                    file.write(changed)
    assert altered > 0, folder


def write_large(path):
    """Writes pings with a very long app version, which is part of the payload and of the record."""
    with open(path, "w", encoding="ascii") as file:
        for number in range(LARGE_PINGS):
            json.dump({
                "topic": "activity-stream-mobile-sessions", "client_id": "0A7E5C42-B8D1-4963-9F2A-E4C61B8D7%03d" % number,
                "session_duration": number, "app_version": "x" * LARGE_BYTES, "build": "12646", "locale": "de_DE",
                "release_channel": "release"}, file)
            file.write("\n")


def pack(folder, archive):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for parent, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(parent, name)
                file.write(path, os.path.relpath(path, folder))
