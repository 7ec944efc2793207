#!/usr/bin/env python3
"""Checks the tables and the timeline of a fleet of phones that contain stores of all systems.

    mixed_fleet.py [--keep FOLDER] PINGFERRY [SEED...]

For each SEED, by default 1, 7 and 77, the captures in Tests/Fixtures/captures are distributed over phones, as containers
of apps. People are added who use their apps over several weeks, on one or two phones. Some apps write the id of the client in
upper case or in lower case, and they are upgraded in an order that is not that of the files. `check_tables.py` then compares the
tables of the folder, and those of a bundle of the phones, with rows that it computes from the records.

Prints a line for each difference, and exits with status 1 if there is one. With --keep, the fleets are written to FOLDER and are
not deleted.
"""

import argparse
import copy
import datetime
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
TESTS = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path += [os.path.join(TESTS, folder) for folder in ("Fixtures", "Load", "Tables")]
import check_tables
import make_load
from unpack import unpack

CAPTURES = ("mozilla", "glean", "leanplum", "sift", "adjust")
PHONES, PEOPLE = 7, 30
SECOND, WEEK = 1000, 7 * 86_400_000
# A Monday, so that the weeks of the fleet are in two years.
FIRST_DAY = 1_732_492_800_000
# Sorted by time, but not as strings.
VERSIONS = (("9.1", "910"), ("9.2", "920"), ("10.0", "1000"), ("10.0", "1001"), ("10.1", "1010"))
LOCALES = (
    "en-US", "de_DE", "zh-hans_cn", "zh-Hant-TW_TW", "en_US@calendar=buddhist", "es-419", "sr_latn", "de_DE.UTF-8@euro", "DE",
    "haw", "ca_es_VALENCIA", "sl-rozaj-1994", "en-u-ca-buddhist", "??", "", "e", "engl_US", "en--US", "en-", "i-klingon",
    "en-x-123456789", "dé-DE", "ſr-FR", "en-ÜS", "en.US-x@y", "@de")
STRINGS = (
    "", "plain", "\"quoted\"", "back\\slash", "null", "1.0", "{\"a\":1}", "Füße 書 👩‍👩‍👧", "tab\tand\nline", "\u2028", "=1+1", " ")
# The extra `glean_timestamp`, for the time of an event in milliseconds.
STAMPS = (
    str, str, str, lambda _: None, lambda _: None, lambda _: "1293840000000", lambda _: "1293839999999", lambda _: "7258118399999",
    lambda _: "7258118400000", lambda _: "0", lambda _: "", lambda _: "12345678901234567890", lambda time: " %d" % time,
    lambda time: "+%d" % time, lambda time: "%d.5" % time, lambda time: "000%d" % time, lambda time: time,
    lambda _: "١٢٣٤٥٦٧٨٩٠١٢٣")
# The start of a ping, as a local time and its offset from UTC.
STARTS = (
    "{:%Y-%m-%dT%H:%M}{}", "{:%Y-%m-%dT%H:%M:%S}{}", "{:%Y-%m-%dT%H:%M:%S.%f}{}", "{:%Y-%m-%dT%H:%M:%S}.9{}",
    "{:%Y-%m-%dT%H:%M:%S}.123999999{}", "{:%Y-%m-%dT%H:%M:%S}Z", "{:%Y-%m-%dT%H:%M}Z", "{:%Y-%m-%dT%H:%M:%S}",
    "{:%Y-13-%dT%H:%M}{}", "{:%Y-%m-%dT24:%M}{}", "{:%Y-%m-%dT%H:%M:60}{}", "{:%Y-%m-%dT%H:%M}+24:00", "{:%Y-%m-%dT%H:%M}+01:60",
    "0001-01-01T00:00{1}", "9999-12-31T23:59:59.999{1}", "1970-01-01T00:00Z", "")
# `processStartTimestamp`, for the real start of a process in milliseconds.
PROCESS_STARTS = (
    int, int, int, int, int, lambda _: 0, lambda _: -1, lambda _: 253_402_300_799_999, lambda _: 9_223_372_036_854_775_807,
    lambda _: 9_223_372_036_854_775_808, str, float, lambda _: None)

# Values for members of any type. A string between @ is written as a number in this notation.
VALUES = (
    None, True, False, 0, -7, 0.5, 2**63, -2**63, "@1e400@", "@1.5e3@", "@-0@", "@7.0@", "", "0", "1", "7", "-0.50", "1.5E3", "1e400",
    "1e-400", "007", "+7", "7.", ".5", "0x10", "nan", "inf", " 7", "text", [], [1, "a"], {}, {"a": {"b": ["c"]}}, "{}",
    "{\"a\":1}", "[1]", "null", "{no", "{\"a\":\"\\ufffd\"}")
# The time of a request of Leanplum, for a time in seconds.
LEANPLUM_TIMES = (
    "{:.6f}", "{:.6f}", "{:.6f}", "{:.12e}", "{:.3E}", "{:.0f}", "{:.20f}", "-{:.3f}", "{:.1f}.", "0{:.3f}", "1e400", "1e-400", "soon")

# What a fleet must contain, as SQL conditions.
COVERAGE = (
    "(SELECT count(DISTINCT system) FROM records) = 6", "(SELECT count(DISTINCT at_basis) FROM events) = 5",
    "(SELECT count(*) FROM events WHERE at_basis = 'event' AND time_basis = 'record') > 10",
    "(SELECT count(*) FROM events WHERE at_ms IS NOT NULL AND time IS NULL) > 0",
    "(SELECT count(DISTINCT locale_normalized) FROM records) > 10",
    "(SELECT count(DISTINCT container) FROM records) > 100", "(SELECT count(*) FROM records WHERE container LIKE '%.zip!%') > 0",
    "(SELECT count(DISTINCT client) - count(DISTINCT lower(client)) FROM records) > 5",
    "(SELECT count(*) FROM clients WHERE app_version <> (SELECT app_version FROM records "
    "WHERE lower(client) = lower(clients.client) AND app_version IS NOT NULL ORDER BY record DESC LIMIT 1)) > 2",
    "(SELECT count(*) FROM clients WHERE app_version < (SELECT max(app_version) FROM records "
    "WHERE lower(client) = lower(clients.client))) > 0",
    "(SELECT count(DISTINCT at_clock) FROM events) = 3", "(SELECT count(DISTINCT os) > count(DISTINCT os_family) FROM records)",
    "(SELECT max(week) BETWEEN 4 AND 1000 FROM retention_by_week)",
    "(SELECT count(*) FROM retention_by_week WHERE share BETWEEN 0.01 AND 0.99) > 3",
    "(SELECT count(*) FROM sequence_gaps WHERE missing > 0 AND repeated > 0) > 0",
    "(SELECT count(DISTINCT user_id) FROM events WHERE system = 'sift') > 1",
    "(SELECT count(DISTINCT user_id) FROM events WHERE system = 'leanplum') > 1",
    "(SELECT count(*) FROM events WHERE name = 'ios_app_state' AND label IS NOT NULL) > 10",
    "(SELECT count(*) FROM metrics WHERE metric_type = 'string' AND value LIKE '%\"%') > 0",
    "(SELECT count(DISTINCT kind) FROM attributes) = 4", "(SELECT count(DISTINCT value_type) FROM attributes) = 6",
    "(SELECT count(*) FROM attributes WHERE label IS NOT NULL) > 10",
    "(SELECT count(DISTINCT system) FROM events WHERE revenue > 0) = 2",
    "(SELECT count(*) FROM events WHERE system = 'leanplum' AND value > 0 AND revenue IS NULL) > 10",
    "(SELECT count(*) FROM events WHERE session_duration > 0) > 10",
    "(SELECT count(DISTINCT kind) FROM sift_states) = 3", "(SELECT count(DISTINCT kind) FROM sift_readings) = 4",
    "(SELECT count(*) FROM sift_readings WHERE time IS NULL AND time_ms IS NOT NULL) > 0",
    "(SELECT count(*) FROM sift_states WHERE json_extract(state, '$.\"hw.ncpu\"') IS NOT NULL AND cpu_count IS NOT NULL) > 0",
    "(SELECT count(*) FROM events WHERE system = 'leanplum' AND time_basis = 'event' AND "
    "json_extract((SELECT payload FROM records WHERE records.record = events.record), '$.data[' || n || '].time') LIKE '%e+%') > 0",
    # A bundle is one store without queues.
    "(SELECT count(DISTINCT readiness) FROM queues) > 2 OR (SELECT count(*) FROM stores) = 1",
)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def phone(fleet, choice):
    return os.path.join(fleet, "phone-%d" % choice.randrange(PHONES))


def container(folder, choice):
    """Returns the path of a new app container on a phone."""
    return os.path.join(folder, "Containers/Data/Application", make_load.identifier(choice))


def distribute(captures, fleet, choice):
    """Copies the captures in a folder to phones. A capture with the folders of an app becomes a container."""
    for name in sorted(os.listdir(captures)):
        # Hostile captures take long, and most of them have no records.
        if re.fullmatch(r"(?i)expected-.*|manifest\.json|outside|hostile.*|.*\.txt", name):
            continue
        source, target = os.path.join(captures, name), phone(fleet, choice)
        if os.path.isfile(source):
            os.makedirs(os.path.join(target, "files"), exist_ok=True)
            shutil.copy(source, os.path.join(target, "files", name))
            continue
        is_container = not {"Documents", "Library"}.isdisjoint(os.listdir(source))
        target = container(target, choice) if is_container else os.path.join(target, name)
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("expected-*.json"))


def use_of_app(choice):
    """Returns the times at which an app queues pings, over several weeks, in milliseconds since 1970."""
    first, times = FIRST_DAY + choice.randrange(4) * WEEK, []
    for week in range(choice.randrange(1, 8)):
        if week == 0 or choice.random() < 0.6:
            # Each week can contain its first and its last millisecond.
            times += [first + week * WEEK + choice.choice((0, WEEK - 1, choice.randrange(WEEK), choice.randrange(WEEK)))
                      for _ in range(choice.randint(1, 4))]
    return sorted(times)


def version_at(time):
    return VERSIONS[(time - FIRST_DAY) // (WEEK * 11 // len(VERSIONS))]


def spelling(client, choice):
    return client.upper() if choice.random() < 0.5 else client.lower()


def shuffled(values, choice):
    values = list(values)
    choice.shuffle(values)
    return values


# Writers of the store of one person in the container `home`. `number` is that of the first ping.

def glean_events(time, unit, choice):
    elapsed = 0
    for _ in range(choice.randrange(6)):
        stamp = choice.choice(STAMPS)(time + elapsed)
        extra = {"text": choice.choice(STRINGS), **({} if stamp is None else {"glean_timestamp": stamp})}
        event = {"category": "toolbar", "name": choice.choice(("tapped", "viewed")), "timestamp": elapsed * unit, "extra": extra}
        if choice.random() < 0.1:
            event["execution_counter"] = choice.randrange(3)
        if choice.random() < 0.1:
            event["timestamp"] = choice.choice((-1, 9_223_372_036_854_775_807, 253_402_300_800_000, 0.5, "7"))
        if choice.random() < 0.1:
            del event["extra"]
        yield event
        elapsed += choice.randrange(3) * choice.randrange(20 * SECOND)


def glean_metrics(choice):
    return {
        "string": {"search.default": choice.choice(STRINGS), "app.opened": choice.choice(STRINGS)},
        "text": {"page.title": choice.choice(STRINGS)}, "labeled_string": {"errors.by_page": {"a": choice.choice(STRINGS)}},
        "string_list": {"add.ons": [choice.choice(STRINGS), "b"]}, "url": {"search.url": "https://example.org/?q=%22"},
        "boolean": {"app.is_default": choice.random() < 0.5}, "quantity": {"tabs.open": choice.choice((0, 7, 10**18))},
        "timespan": {"glean.baseline.duration": {"time_unit": "second", "value": choice.randrange(900)}}}


def write_glean(home, times, number, client, choice):
    for number, time in enumerate(times, number):
        version, build = version_at(time)
        sdk = choice.choice(("30.1.0", "35.0.1", "36.0.0", "66.3.0", "70.2.0"))
        offset = choice.choice((-480, -300, 0, 60, 330))
        zone = datetime.timezone(datetime.timedelta(minutes=offset))
        end = datetime.datetime.fromtimestamp(time // SECOND, zone) + datetime.timedelta(milliseconds=time % SECOND)
        start = (end - datetime.timedelta(seconds=choice.randrange(900))).replace(tzinfo=None)
        suffix = "%s%02d:%02d" % ("-" if offset < 0 else "+", abs(offset) // 60, abs(offset) % 60)
        kind, document = choice.choice(("events", "events", "metrics")), make_load.identifier(choice).lower()
        body = {
            "client_info": {
                "app_build": build, "app_channel": "release", "app_display_version": version, "architecture": "D63AP",
                "client_id": spelling(client, choice), "device_model": "iPhone14,2", "first_run_date": "2024-04-13-05:00",
                "locale": choice.choice(LOCALES), "os": "iOS", "os_version": "18.1.1", "telemetry_sdk_build": sdk},
            "ping_info": {"seq": number + choice.randrange(2), "end_time": end.isoformat(timespec="milliseconds"),
                          "start_time": choice.choice(STARTS).format(start, suffix), "reason": "active"}}
        if kind == "events":
            body["events"] = list(glean_events(time - 900 * SECOND, 1_000_000 if sdk < "36" else 1, choice))
        else:
            body["metrics"] = glean_metrics(choice)
        if choice.random() < 0.1:
            del body["ping_info"][choice.choice(("start_time", "end_time"))]
        path = "/submit/org-mozilla-ios-firefox/%s/1/%s" % (kind, document)
        write(os.path.join(home, "Library/Application Support/glean_data/pending_pings", document),
              "\n".join([path, json.dumps(body, ensure_ascii=False), '{"headers":{}}']))
    return "org.mozilla.ios.Firefox"


def write_mozilla(home, times, number, client, choice):
    known = choice.choice(make_load.APPS)
    for number, time in enumerate(times, number):
        app, (version, build) = copy.copy(known), version_at(time)
        app.release = r"%s\/%s\/release\/%s?v=4" % (app.name, version, build)
        common = {"clientId": spelling(client, choice), "locale": choice.choice(LOCALES), "os": "iOS", "osversion": "13.3.1",
                  "device": "iPhone10,4", "arch": "arm64", "tz": 60}
        stamp, sequence = time / SECOND, 1 + number + choice.randrange(3)
        kind = choice.choice(("core", app.kind))
        if kind == "core":
            body = dict(make_load.core(app, stamp, sequence, choice), profileDate=18000, **common)
        else:
            body = dict(make_load.event(app, stamp, sequence, choice), **common)
            body["processStartTimestamp"] = choice.choice(PROCESS_STARTS)(body["processStartTimestamp"])
        # The names are in random order.
        path = os.path.join(home, app.data, "MozTelemetry-Default-" + kind, "-t-%.17g.json" % (stamp + choice.randrange(900)))
        write(path, make_load.ping_file(make_load.foundation_json(body, "  "), kind, app, stamp, choice))
    return known.bundle


def write_leanplum(home, times, _, client, choice):
    path = os.path.join(home, "Documents/__leanplum.sqlite")
    os.makedirs(os.path.dirname(path))
    database = sqlite3.connect(path)
    with database:
        database.execute("CREATE TABLE event (data TEXT NOT NULL)")
        for time in shuffled(times, choice):
            user = choice.choice((client, "anna@example.org", "", 7, None))
            common = {"deviceId": spelling(client, choice), "userId": user, "uuid": make_load.identifier(choice), "client": "ios",
                      "devMode": False, "sdkVersion": "2.7.2"}
            start = {"action": "start", "versionName": version_at(time)[1], "systemName": "iOS", "systemVersion": "13.3",
                     "deviceModel": "iPhone9,3", "locale": choice.choice(LOCALES)}
            track = {"action": "track", "event": "E_Opened_New_Tab", "value": "0.000000", "params": "{\"Source\":\"Tab Tray\"}"}
            bought = {"action": "track", "event": "Bought", "value": "%.6f" % choice.randrange(9), "currencyCode": "EUR", "info": "new"}
            for number, request in enumerate((start, track, track, bought)):
                row = dict(common, **request, time="%.6f" % (time / SECOND + number), reqId=make_load.identifier(choice))
                database.execute("INSERT INTO event VALUES (?)", [json.dumps(row)])
    database.close()
    return "org.mozilla.ios.Firefox"


# Makers of payloads with values of any type, as in requests that were captured.

def sometimes(value, choice):
    return choice.choice(VALUES) if choice.random() < 0.3 else value


def leanplum_payload(time, choice):
    requests = []
    for _ in range(choice.randrange(1, 6)):
        client = choice.choice(("D", "D", "E"))
        request = {"action": choice.choice(("track", "track", "start", "advance", "setUserAttributes", "setDeviceAttributes")),
                   "deviceId": client, "userId": sometimes(client, choice), "client": "ios", "sdkVersion": "2.7.2",
                   "time": choice.choice(LEANPLUM_TIMES).format(time / SECOND)}
        for key, value in (
                ("event", "Bought"), ("state", "Cart"), ("value", "12.340000"), ("currencyCode", "EUR"), ("info", "spring"),
                ("messageId", "5111602214338560"), ("params", "{\"Source\":\"Menu\",\"x\":{\"y\":1}}"),
                ("params", "{\"params\":1}"), ("params", "{\"request\":2,\"a\":\"\\ufffd\"}"), ("iosPushTypes", 7),
                ("userAttributes", json.dumps({name: choice.choice(VALUES) for name in ("Focus Installed", "size", "\ud801")})),
                ("deviceName", "phone"), ("newUserId", "u"), ("retryCount", 2)):
            if choice.random() < 0.4:
                request[key] = sometimes(value, choice)
        requests.append(request)
    return {"data": requests}


def sift_payload(time, choice):
    def entries(names, value):
        return {name: sometimes(value(name), choice) for name in names if choice.random() < 0.4}

    def reading(names):
        instant = choice.choice((time, time, -time, sometimes(time, choice)))
        return sometimes(dict(entries(names, lambda _: choice.uniform(-1, 1)), time=instant), choice)

    def current(kinds):
        good = {"real": lambda: choice.random(), "boolean": lambda: choice.random() < 0.5, "list": lambda: ["a", "b"],
                "text": lambda: "text", "integer": lambda: choice.randrange(-9, 1 << 40)}
        return lambda name: good[kinds[name]]()

    kinds = {name: kind for kind, names in check_tables.STATE_ENTRIES.items() for name in names.split()}
    motion = check_tables.COLUMNS["sift_readings"][9:]
    axes = ["%s_%s" % (name, axis) for name in ("acceleration", "rotation_rate", "magnetic_field") for axis in "xyz"]
    events = []
    for _ in range(choice.randrange(1, 5)):
        event = {"time": sometimes(time, choice), "installation_id": "S"}
        if choice.random() < 0.6:
            state = entries(check_tables.APP_STATE, current(kinds))
            state["location"] = sometimes(dict(
                entries(check_tables.LOCATION, lambda _: choice.random()), floor=sometimes(2, choice), time=sometimes(time, choice)), choice)
            state["heading"] = sometimes(dict(
                entries(check_tables.HEADING, lambda _: choice.random()), time=sometimes(time, choice)), choice)
            for kind in ("motion", "raw_accelerometer", "raw_gyro", "raw_magnetometer"):
                names = motion if kind == "motion" else axes
                state[kind] = sometimes([reading(names) for _ in range(choice.randrange(4))], choice)
            event["ios_app_state"] = sometimes(state, choice)
        if choice.random() < 0.3:
            event["ios_device_properties"] = sometimes(entries(kinds, current(kinds)), choice)
        if choice.random() < 0.5:
            old = entries([*check_tables.EARLY_NAMES, *check_tables.CONTROLS.values()], lambda _: str(choice.randrange(1000)))
            old.update(entries([name.replace(".", "_") for name in check_tables.CONTROLS.values()], lambda _: "1"))
            for name in check_tables.EARLY_LISTS:
                old.update(entries(["%s.%d" % (name, number) for number in range(12)], lambda name: name))
            old.update({"suspicious_file_3": "x", "suspicious_file.": "y", "suspicious_file.99999": "z", "suspicious.1": "w"})
            event["device_properties"] = sometimes(old, choice)
        if choice.random() < 0.4:
            event["fields"] = sometimes(entries(
                check_tables.EARLY_FIELDS, lambda name: "%d.25" % time if name.endswith("_time") else "%.3f" % choice.random()), choice)
        events.append(event)
    return {"data": events}


def activity_payload(time, choice):
    base = {"app_version": "8.0", "build": "4123", "locale": "en_US", "release_channel": "release", "client_id": "A"}
    topic, own = choice.choice((
        ("activity-stream-mobile-sessions", {"session_duration": choice.choice((4000, 4000.5, time))}),
        ("activity-stream-mobile-events", {"event": "CLICK", "page": "NEW_TAB", "source": "TOP_SITES", "action_position": 3})))
    base.update({key: sometimes(value, choice) for key, value in own.items()})
    return dict(base, topic=topic)


def adjust_payload(time, choice):
    created = datetime.datetime.fromtimestamp(time // SECOND, datetime.timezone.utc)
    package = {"app_token": "4w565xzmb54d", "created_at": "{:%Y-%m-%dT%H:%M:%S.000Z+0000}".format(created), "environment": "production"}
    for key, value in (
            ("event_token", "g3mfiw"), ("revenue", "12.50000"), ("amount", "1990"), ("currency", "EUR"), ("sharing", "enable"),
            ("measurement", "disable"), ("callback_params", "{\"sku\":\"A\\\\/7\",\"n\":1}"), ("partner_params", "{\"b\":null,\"c\":[true]}"),
            ("params", "eyJrIjoidiJ9"), ("partner_sharing_settings", "{\"x\":{\"y\":true}}")):
        if choice.random() < 0.5:
            package[key] = sometimes(value, choice)
    return {"url": "https://app.adjust.com/event", "method": "POST", "body": package}


def add_requests(fleet, choice):
    """Writes a file of captured payloads to each phone."""
    makers = (leanplum_payload, sift_payload, activity_payload, adjust_payload)
    for number in range(PHONES):
        lines = [json.dumps(choice.choice(makers)(FIRST_DAY + choice.randrange(WEEK), choice)) for _ in range(60)]
        text = re.sub('"@([^"@]*)@"', r"\1", "\n".join(lines))
        write(os.path.join(fleet, "phone-%d/requests.ndjson" % number), text)


def add_person(fleet, number, choice):
    """Writes the pings of a person on one or two phones. A container is a folder, or it is in an archive."""
    writer = (write_glean, write_mozilla, write_glean, write_leanplum)[number % 4]
    client, times = make_load.identifier(choice), use_of_app(choice)
    middle = choice.randrange(len(times) + 1)
    # The phones are in random order, so that the newer one can be read first.
    for first, part in shuffled([(0, times[:middle]), (middle, times[middle:])], choice):
        if part:
            home = container(phone(fleet, choice), choice)
            bundle = writer(home, part, first, client, choice)
            make_load.plist(os.path.join(home, ".com.apple.mobile_container_manager.metadata.plist"), {
                "MCMMetadataContentClass": 2, "MCMMetadataIdentifier": bundle, "MCMMetadataUUID": os.path.basename(home)})
            if number % 5 == 0:
                archive(home, fleet, number % 2 == 0, choice)


def archive(home, fleet, is_nested, choice):
    """Replaces a container by a zip archive. The archive has its folder as the only member at the top if `is_nested` is set."""
    with zipfile.ZipFile(os.path.join(phone(fleet, choice), "%s.zip" % os.path.basename(home)[:8]), "w") as stream:
        for parent, _, names in sorted(os.walk(home)):
            for name in sorted(names):
                path = os.path.join(parent, name)
                stream.write(path, os.path.relpath(path, os.path.dirname(os.path.dirname(home)) if is_nested else home))
    shutil.rmtree(home)


def make_fleet(fleet, seed):
    choice = random.Random("fleet %d" % seed)
    for number in range(PHONES):
        os.makedirs(os.path.join(fleet, "phone-%d" % number))
    for name in CAPTURES:
        with tempfile.TemporaryDirectory() as folder:
            unpack(name, folder)
            distribute(folder, fleet, choice)
    for number in range(PEOPLE):
        add_person(fleet, number, choice)
    add_requests(fleet, choice)


def check_fleet(program, folder, seed):
    """Writes a fleet and checks its tables, and those of a bundle. Returns the differences."""
    fleet, bundle = (os.path.join(folder, "fleet-%d%s" % (seed, suffix)) for suffix in ("", ".tar.zst"))
    make_fleet(fleet, seed)
    phones = sorted(os.path.join(fleet, name) for name in os.listdir(fleet))
    subprocess.run([program, "bundle", "--quiet", "-o", bundle, *phones], stderr=subprocess.DEVNULL)
    faults = []
    for path in (fleet, bundle):
        with tempfile.TemporaryDirectory() as outputs:
            run = check_tables.Run(program, check_tables.Case(path), outputs)
            run.check()
            check_coverage(run)
            faults += run.faults
    return faults


def check_coverage(run):
    connection = run.connect(os.path.join(run.folder, "tables.sqlite"))
    for condition in COVERAGE:
        try:
            is_met = connection.execute("SELECT %s" % condition).fetchone()[0]
        except sqlite3.OperationalError as error:
            is_met, condition = False, "%s: %s" % (condition, error)
        if not is_met:
            run.fault("not covered: %s" % condition)
    connection.close()


def main():
    parser = argparse.ArgumentParser(description="Check the tables of a mixed fleet.")
    parser.add_argument("program", metavar="PINGFERRY")
    parser.add_argument("seeds", metavar="SEED", type=int, nargs="*", default=[1, 7, 77])
    parser.add_argument("--keep", metavar="FOLDER")
    arguments = parser.parse_args()
    status = 0
    for seed in arguments.seeds:
        with tempfile.TemporaryDirectory() as folder:
            faults = check_fleet(os.path.abspath(arguments.program), arguments.keep or folder, seed)
        for fault in faults:
            print(fault)
        print("fleet of seed %d: %d faults" % (seed, len(faults)), flush=True)
        status = 1 if faults else status
    return status


if __name__ == "__main__":
    sys.exit(main())
