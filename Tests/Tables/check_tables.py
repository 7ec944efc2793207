#!/usr/bin/env python3
"""Compares the tables and the timeline that pingferry writes for captures with rows that this script computes from the records.

    check_tables.py PINGFERRY FOLDER

FOLDER contains captures, such as those of an archive in Tests/Fixtures/captures. The expected results of a capture, called its
oracle, are in `expected-<case>.json` beside the capture or, for a store of Sift, in `expected-requests.json` in the store. The
oracle of a request log has the expected record of each entry.

Captures that can be read without a password, according to their oracle, are converted together. Their tables are compared with rows
computed from the records that the program writes as NDJSON. Other tests compare those records with the same oracles. Each
remaining capture is converted separately, and the values in its oracle replace those in the records. Problems and quarantine are
compared with the oracle of each capture. This script implements the document "Exports" and shares no code with the program.

Prints a line for each difference, and exits with status 1 if there is one. Only the standard library is used.
"""

import base64
import concurrent.futures
import csv
import datetime
import decimal
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

csv.field_size_limit(1 << 30)
sys.setrecursionlimit(20000)
# The maximum number of wrong rows of a table that are printed.
SHOWN = 10
# The time at which the year 10000 begins, in milliseconds since 1970.
END_OF_TIME = 253402300800000

# The columns of tables, in order.
COLUMNS = {name: columns.split() for name, columns in {
    "records": "record system type id client client_key time time_ms day clock app_id app_name app_version app_channel app_build "
               "os os_family os_version device locale locale_normalized method target headers uploadable capture container path "
               "store place payload",
    "events": "record n system type client client_key user_id time time_ms day clock time_basis at at_ms at_day at_clock at_basis "
              "elapsed_ms name category method object value revenue currency session_duration extra label",
    "repeats": "n record system type id client time held capture path store place payload_equal",
    "gaps": "n system type client run reason first_number last_number count number_before number_after time_before time_after",
    "attributes": "record n event kind key value value_type label",
    "sift_readings": "record n event kind time time_ms x y z attitude_pitch attitude_roll attitude_yaw gravity_x gravity_y "
                     "gravity_z magnetic_field_calibration_accuracy magnetic_field_x magnetic_field_y magnetic_field_z "
                     "rotation_rate_x rotation_rate_y rotation_rate_z user_acceleration_x user_acceleration_y "
                     "user_acceleration_z",
    "metrics": "record n metric_type name label second_label value number unit description",
    "metric_definitions": "name metric_type description unit time_unit memory_unit sensitivity expires lifetime pings labels "
                          "second_labels extra_keys",
    "clients": "n system client client_key app_id app_name app_version records uploadable events first last",
    "stores": "n capture container path kind system app_id app_name app_version app_channel app_build records uploadable held "
              "types quarantined problems pending_events facts usage_data",
    "queues": "n store capture container path system kind readiness code text sentence at state",
}.items()}

# The columns of the indexes, by table.
INDEXES = {
    "attributes": [["key"]], "records": [["id"], ["client"], ["client_key"], ["time_ms"], ["system", "type"]], "holds": [["code"]], "metrics": [["name"]],
    "events": [["client"], ["client_key"], ["time_ms"], ["at_ms"], ["type"], ["name"]],
    "clients": [["system", "client"], ["system", "client_key"]], "gaps": [["system", "client"]], "repeats": [["record"]]}

# The first year of each system. Earlier times result from a wrong clock, and so do times in 2038 and later.
FIRST_YEARS = {"mozilla": 2015, "glean": 2018, "sift": 2015, "leanplum": 2012, "activity-stream": 2016, "adjust": 2013}
FIRST_FUTURE_YEAR = 2038

# The families of operating systems by the names that systems use, in lower case.
FAMILIES = {
    "ios": "ios", "ipados": "ios", "iphone os": "ios", "iphoneos": "ios", "tvos": "tvos", "watchos": "watchos", "android": "android",
    "darwin": "macos", "mac os x": "macos", "macos": "macos", "windows": "windows", "winnt": "windows", "linux": "linux"}


class Number(str):
    """A JSON number as the string in the document, so that it is not rounded to a double."""


def object_without_duplicates(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def reject(text):
    raise ValueError(text)


def read_json(text, object_of=object_without_duplicates):
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=reject, object_pairs_hook=object_of)


def canonical(value):
    """Returns canonical JSON: keys sorted by their UTF-8 bytes, no spaces, the shortest escapes, and numbers as stored."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return re.sub("[\ud800-\udfff]", lambda half: "\\u%04x" % ord(half.group()), text)
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-8", "surrogatepass"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    return {None: "null", True: "true", False: "false"}[value]


def as_json(value):
    return None if value is None else canonical(value)


def string_of(value):
    """Returns a string as valid UTF-8, with replacement characters for surrogates. Returns None for other values."""
    if not isinstance(value, str) or isinstance(value, Number):
        return None
    return "".join("\ufffd" * 3 if "\ud800" <= letter <= "\udfff" else letter for letter in value)


def string_or_json(value):
    return string_of(value) if isinstance(value, str) and not isinstance(value, Number) else as_json(value)


def integer_of(value):
    """Returns a number as a signed 64-bit integer, or None for other values."""
    if not isinstance(value, Number) or not re.fullmatch(r"-?[0-9]{1,20}", value):
        return None
    number = int(value)
    return number if -(1 << 63) <= number < 1 << 63 and len(value) <= 20 else None


def decimal_of(value):
    """Returns a number in the notation of JSON, or a string that contains one, as a decimal, or None for other values."""
    if not isinstance(value, str) or not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", value):
        return None
    return decimal.Decimal(value)


def real_of(value):
    """Returns a number, or a string that contains one, as a float, or None for other values and for infinity."""
    real = None if decimal_of(value) is None else float(value)
    return None if real is None or abs(real) == float("inf") else real


def whole_of(text):
    """Returns the value of a string such as `7`, `007`, `7.0` or `7e3` as a signed 64-bit integer, or None for other values."""
    if re.fullmatch("-?[0-9]{1,19}", text):
        number = int(text)
    else:
        value = decimal_of(text)
        # The exponent of a number that is larger than that is not computed.
        if value is None or value.adjusted() > 30 or value and value.adjusted() < -30 or value != value.to_integral_value():
            return None
        number = int(value)
    return number if -(1 << 63) <= number < 1 << 63 else None


def get(value, *keys):
    """Returns the member of nested objects, or None if one of the keys is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def milliseconds(time):
    if time is None:
        return None
    since = datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ") - datetime.datetime(1970, 1, 1)
    return since // datetime.timedelta(milliseconds=1)


def is_known_time(instant):
    """Returns whether an instant is in the years in which the systems existed, 2011 to 2199."""
    return milliseconds("2011-01-01T00:00:00.000Z") <= instant < milliseconds("2200-01-01T00:00:00.000Z")


def clock_of(system, time):
    """Returns the value of the column `clock` for a time as a string, or None."""
    if time is None:
        return None
    year = int(time[:4])
    return "before-app" if year < FIRST_YEARS[system] else "future" if year >= FIRST_FUTURE_YEAR else "plausible"


def day_of(time):
    return time and time[:10]


def time_text(instant):
    if instant is None or not 0 <= instant < END_OF_TIME:
        return None
    time = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=instant)
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (time.microsecond // 1000)


def instant_of(text, fraction, sign, hours, minutes):
    """Returns a local time with an offset from UTC in milliseconds, or None if it does not exist."""
    try:
        local = milliseconds("%s.%sZ" % (text, (fraction + "000")[:3]))
    except ValueError:
        return None
    offset = int(sign + hours) * 60 + int(sign + minutes)
    return local - offset * 60_000 if int(hours) < 24 and int(minutes) < 60 else None


def internet_time(value):
    """Returns a time such as `2020-05-22T16:10:31.5+02:00` in milliseconds, or None for other values. The seconds are optional."""
    form = (r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(?:(:[0-9]{2})(?:\.([0-9]{1,9}))?)?"
            r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))")
    found = re.fullmatch(form, string_of(value) or "")
    if not found:
        return None
    text, seconds, fraction, sign, hours, minutes = found.groups()
    return instant_of(text + (seconds or ":00"), fraction or "", sign or "+", hours or "00", minutes or "00")


# Functions that yield the columns of each event in a payload. `own` is the time of the event itself, in milliseconds. `best` is a
# better time than that of the record, and its basis.

def mozilla_events(payload, record):
    events = payload.get("events")
    if not isinstance(events, list):
        return
    offsets = [(n, int(event[0])) for n, event in enumerate(events)
               if isinstance(event, list) and event and integer_of(event[0]) is not None]
    # A new process begins if the offset drops to less than half and by more than 100 ms.
    starts = [n for (_, before), (n, offset) in zip(offsets, offsets[1:]) if 0 <= offset < before // 2 and before - offset > 100]
    noted = [int(note.group(1)) for note in (re.match(r"E13 events\[(\d+)\]", text) for text in record["notes"]) if note]
    if noted and noted != starts:
        raise ValueError("the notes E13 are at %s, but the offsets drop at %s" % (noted, starts))
    begin = integer_of(payload.get("processStartTimestamp"))
    for n, event in enumerate(events):
        event = event if isinstance(event, list) else []
        event = event + [None] * (6 - len(event))
        words = [string_of(word) for word in event[1:4]]
        name = None
        if words[0] is not None and words[1] is not None:
            name = ".".join(word for word in words if word is not None)
        basis, elapsed = "earlier-run" if starts and n < starts[-1] else "record", integer_of(event[0])
        is_anchored = basis == "record" and begin is not None and elapsed is not None and begin >= 0 and elapsed >= 0
        yield dict(name=name, category=words[0], method=words[1], object=words[2], value=string_or_json(event[4]),
                   extra=as_json(event[5]), elapsed_ms=elapsed, time_basis=basis,
                   best=("process-start", begin + elapsed) if is_anchored else None)


def glean_events(payload, _):
    events, begin = payload.get("events"), internet_time(get(payload, "ping_info", "start_time"))
    # Before version 36, the SDK counted nanoseconds on iOS.
    version = re.match("[0-9]{1,18}", string_of(get(payload, "client_info", "telemetry_sdk_build")) or "")
    unit = 1_000_000 if version and int(version.group()) < 36 and get(payload, "client_info", "os") == "iOS" else 1
    for event in events if isinstance(events, list) else []:
        category, name = string_of(get(event, "category")), string_of(get(event, "name"))
        stamp, elapsed = string_of(get(event, "extra", "glean_timestamp")), integer_of(get(event, "timestamp"))
        elapsed = None if elapsed is None else elapsed // unit
        clock = None if stamp is None else whole_of(stamp)
        best = None
        if clock is not None and is_known_time(clock):
            best = ("event", clock)
        elif begin is not None and elapsed is not None and elapsed >= 0 and get(event, "execution_counter") is None:
            best = ("ping-start", begin + elapsed)
        yield dict(name=None if None in (category, name) else category + "." + name, category=category,
                   extra=as_json(get(event, "extra")), elapsed_ms=elapsed, best=best)


# The labels of Sift events without a type, by the name of the state that they contain.
SIFT_STATES = {"ios_app_state": "State of the app and its sensors", "ios_device_properties": "Properties of the device"}


def sift_events(payload, _):
    for event in payload["data"]:
        instant, name = event.get("time"), string_of(event.get("mobile_event_type"))
        instant = whole_of(instant) if isinstance(instant, Number) else None
        used = {"mobile_event_type", *SIFT_STATES} | (set() if time_text(instant) is None else {"time"})
        rest = {key: value for key, value in event.items() if key not in used}
        row = dict(name=name, extra=as_json(rest or None), user_id=string_of(event.get("user_id")), own=instant,
                   time_basis="record" if time_text(instant) is None else "event")
        state = next((state for state in SIFT_STATES if event.get(state) is not None), None)
        if name is None and state is not None:
            row.update(name=state, label=SIFT_STATES[state])
        yield row


def leanplum_time(value):
    """Returns a string of decimal seconds in milliseconds, or None for other values."""
    if string_of(value) is None:
        return None
    value = decimal.Decimal(value) if re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})?", value) else decimal_of(value)
    if value is None or value.adjusted() > 17:
        return None
    if value and value.adjusted() < -30:
        return 0 if value > 0 else -1
    with decimal.localcontext(decimal.Context(prec=2000)):
        return int((value * 1000).to_integral_value(decimal.ROUND_FLOOR))


def parsed(value):
    """Returns the JSON in a string, or the value itself."""
    if string_of(value) is not None:
        try:
            return read_json(value, dict)
        except (ValueError, RecursionError):
            pass
    return value


# The members of all requests of Leanplum, none of which is an attribute of the device.
LEANPLUM_COMMON = "action client ct devMode deviceId reqId retryCount sdkVersion time token userId uuid".split()
# The attributes with documented meanings.
LEANPLUM_DOCUMENTED = {
    "user": ("Focus Installed", "Klar Installed", "Signed In Sync", "Mailto Is Default", "Telemetry Opt In", "Pocket Installed",
             "FxA account is verified", "Number of devices in FxA account", "Experiment name", "Experiment id",
             "Experiment variant", "Build channel is Release", "Alternate Mail Client Installed"),
    "device": ("iosPushToken", "iosPushTypes", "iosPushCategories", "versionName", "deviceModel", "systemName", "systemVersion",
               "deviceName", "locale", "event", "state", "info", "messageId", "value", "currencyCode", "newUserId")}


def leanplum_attributes(request, used=()):
    """Returns the kind, the key and the value of each attribute of a request, and the members that are attributes."""
    found, members = [], []
    user = request.get("userAttributes") if isinstance(request, dict) else None
    user = parsed(user) if string_of(user) is not None else None
    if isinstance(user, dict) and user:
        found, members = [("user", key, user[key]) for key in by_bytes(user)], ["userAttributes"]
    if get(request, "action") == "setDeviceAttributes":
        keys = [key for key in by_bytes(request) if key not in (*LEANPLUM_COMMON, "userAttributes", "params", *used)]
        found += [("device", key, request[key]) for key in keys]
        members += keys
    return found, members


def leanplum_row(request, client, is_timeline=False):
    """Returns the columns of a request. In a timeline, `extra` contains the attributes, too."""
    action, time = string_of(get(request, "action")), leanplum_time(get(request, "time"))
    own = {"track": "event", "advance": "state"}.get(action)
    name = string_of(request.get(own)) if own else None
    value, currency = get(request, "value"), string_of(get(request, "currencyCode"))
    real = real_of(value)
    used = [key for key, is_used in (
        ("action", action is not None), (own, name is not None), ("userId", string_of(get(request, "userId")) is not None),
        ("time", time_text(time) is not None), ("deviceId", get(request, "deviceId") == client),
        ("value", real is not None), ("currencyCode", currency is not None), ("params", get(request, "params") is not None))
        if is_used]
    attributes = [] if is_timeline else leanplum_attributes(request, used)[1]
    rest = {key: member for key, member in request.items() if key not in used + attributes} if isinstance(request, dict) else {}
    rest = {"request": rest} if rest else {}
    params = parsed(get(request, "params"))
    if isinstance(params, dict) and not {"params", "request"} & set(params):
        extra = {**params, **rest}
    else:
        extra = rest if get(request, "params") is None else {"params": params, **rest}
    return dict(name=action if name is None else name, method=action, user_id=string_of(get(request, "userId")), own=time,
                extra=canonical(extra) if extra else None, value=None if real is None else string_of(value) or canonical(value),
                currency=currency, revenue=None if currency is None else real,
                time_basis="record" if time_text(time) is None else "event")


def leanplum_events(payload, record):
    for request in payload["data"]:
        yield leanplum_row(request, record["client"])


def activity_events(payload, record):
    pings = payload.get("payloads")
    for ping in pings if isinstance(pings, list) and pings else [payload]:
        own = [key for key in ("event", "source", "page") if string_of(get(ping, key)) is not None]
        duration = integer_of(get(ping, "session_duration"))
        own += [] if duration is None else ["session_duration"]
        rest = {key: value for key, value in ping.items() if key not in own} if isinstance(ping, dict) else None
        name = string_of(get(ping, "event"))
        if name is None and record["type"] == "activity-stream-mobile-sessions":
            name = "session"
        yield dict(name=name, object=string_of(get(ping, "source")), value=string_of(get(ping, "page")),
                   session_duration=duration, extra=as_json(rest or None))


def adjust_time(value):
    """Returns a time such as `2017-03-20T10:53:20.418Z+0200` in milliseconds, or None for other values."""
    form = r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?Z([+-])([0-9]{2})([0-9]{2})"
    found = re.fullmatch(form, string_of(value) or "")
    if not found:
        return None
    text, fraction, *offset = found.groups()
    instant = instant_of(text, fraction or "", *offset)
    return instant if instant is not None and is_known_time(instant) else None


def adjust_parameters(payload):
    """Returns the name, the kind and the value of each parameter of a package that contains JSON."""
    for name, kind, own in (("callback", "callback", "callback_params"), ("partner", "partner", "partner_params"),
                            ("granular_third_party_sharing_options", None, "granular_third_party_sharing_options"),
                            ("partner_sharing_settings", None, "partner_sharing_settings")):
        if string_of(payload.get(own)) is not None:
            try:
                yield name, kind, read_json(payload[own], dict)
            except (ValueError, RecursionError):
                yield name, kind, string_of(payload[own])
    if string_of(payload.get("params")) is not None:
        try:
            yield "callback", "callback", read_json(base64.b64decode(payload["params"], validate=True).decode("utf-8"))
        except (ValueError, RecursionError):
            pass


def adjust_events(payload, record):
    extra = {name: value for name, _, value in adjust_parameters(payload)}
    for key in ("currency", "sharing", "measurement"):
        if payload.get(key) not in (None, ""):
            extra[key] = payload[key]
    for key in ("amount", "revenue"):
        if payload.get(key) is not None and string_of(payload[key]) is None:
            extra[key] = payload[key]
    token = string_of(payload.get("event_token"))
    value, amount = string_of(payload.get("revenue")), string_of(payload.get("amount"))
    revenue = None
    if value is not None:
        revenue = real_of(value)
    elif amount is not None and re.fullmatch("[0-9]{1,19}", amount) and int(amount) < 1 << 63:
        revenue = float(decimal.Decimal(amount).scaleb(-3))
    time = adjust_time(payload.get("created_at"))
    yield dict(name=record["type"] if not token else token, category=record["type"],
               value=amount if value is None else value, extra=as_json(extra or None), revenue=revenue,
               currency=string_of(payload.get("currency")), time_basis="record" if time is None else "event", own=time)


EVENTS = {"mozilla": mozilla_events, "glean": glean_events, "sift": sift_events, "leanplum": leanplum_events,
          "activity-stream": activity_events, "adjust": adjust_events}


def events_of(record):
    """Returns the expected rows of the table `events` for a record."""
    rows = []
    for n, event in enumerate(EVENTS[record["system"]](record["payload"], record)):
        basis = event.setdefault("time_basis", "record")
        own, best = event.pop("own", None), event.pop("best", None)
        time = time_text(own) if basis == "event" else record["time"]
        at, at_basis = time, basis
        if basis == "event" and not is_known_time(own):
            at, at_basis = record["time"], "record"
        if best is not None and is_known_time(best[1]):
            at, at_basis = time_text(best[1]), best[0]
        row = dict(n=n, system=record["system"], type=record["type"], client=record["client"],
                   client_key=folded(record["client"]), user_id=None, time=time, time_ms=milliseconds(time), day=day_of(time),
                   clock=clock_of(record["system"], time), at=at, at_ms=milliseconds(at), at_day=day_of(at),
                   at_clock=clock_of(record["system"], at), at_basis=at_basis, category=None, method=None,
                   object=None, value=None, revenue=None, currency=None, session_duration=None, elapsed_ms=None,
                   label=record["labels"][n])
        row.update(event)
        rows.append(row)
    if len(rows) != len(record["labels"]):
        raise ValueError("%d events and %d labels" % (len(rows), len(record["labels"])))
    return rows


def device_of(record):
    """Returns the columns os, os_version, device and locale of a record."""
    payload, system = record["payload"], record["system"]
    if system == "mozilla":
        found = [payload.get(key) for key in ("os", "osversion", "device", "locale")]
    elif system == "glean":
        found = [get(payload, "client_info", key) for key in ("os", "os_version", "device_model", "locale")]
    elif system == "activity-stream":
        pings = payload.get("payloads") or [payload]
        found = [None, None, None, next((ping["locale"] for ping in pings if "locale" in ping), None)]
    elif system == "adjust":
        words = [string_of(payload.get(key)) for key in ("language", "country")]
        locale = "-".join(words) if all(words) else None
        found = [payload.get(key) for key in ("os_name", "os_version", "device_name")] + [locale]
    elif system == "leanplum":
        found = [None] * 4
        for request in payload["data"]:
            for index, key in enumerate(("systemName", "systemVersion", "deviceModel", "locale")):
                found[index] = request[key] if string_of(request.get(key)) is not None else found[index]
    else:
        found = [None] * 4
        for event in payload["data"]:
            new, old = event.get("ios_device_properties"), event.get("device_properties")
            if isinstance(new, dict) and new:
                model = new["device_hardware_machine"] if "device_hardware_machine" in new else new.get("device_model")
                found = [new.get("device_system_name"), new.get("device_system_version"), model, None]
            elif isinstance(old, dict) and old:
                model = next((old[key] for key in ("hw.machine", "hw_machine", "model") if key in old), None)
                found = [old.get("system_name"), old.get("system_version"), model, None]
    return [string_of(value) for value in found]


def normalized_locale(locale):
    """Returns a locale such as `zh-hans_cn` as a BCP 47 tag, or None if it is not one."""
    subtags = re.split("[-_]", re.split("[.]", (locale or "").split("@")[0])[0])
    if not re.fullmatch("[A-Za-z]{2,3}", subtags[0]) or not all(re.fullmatch("[A-Za-z0-9]{1,8}", tag) for tag in subtags):
        return None
    found, has_region, is_extension = [subtags[0].lower()], False, False
    for tag in subtags[1:]:
        is_extension = is_extension or len(tag) == 1
        if re.fullmatch("[A-Za-z]{2}", tag) and not is_extension:
            # A second region, such as in `zh-Hant-TW_TW`, is omitted.
            found += [] if has_region else [tag.upper()]
            has_region = True
        else:
            found.append(tag.title() if re.fullmatch("[A-Za-z]{4}", tag) and not is_extension else tag.lower())
    return "-".join(found)


def container_of(capture, path):
    """Returns the innermost app container of a path in a capture, according to the names of the folders."""
    archive, mark, inside = path.rpartition("!")
    folders = inside.split("/")[:-1]
    found = []
    for index, folder in enumerate(folders):
        if folder in ("Documents", "Library"):
            found = folders[:index]
        if folder.startswith("AppDomain") or index > 0 and folders[index - 1] in ("Application", "AppGroup", "PluginKitPlugin"):
            found = folders[:index + 1]
    container = (archive + mark + "/".join(found)).rstrip("!/")
    return capture + "/" + container if container else capture


# The documented fields of core pings, by type.
CORE = {
    "integer": "v seq profileDate tz sessions durations flashUsage landings openTabCount",
    "boolean": "bug_1501329_affected defaultBrowser enhancedSearchReady enhancedSearchUsed showTrackerStatsShare "
               "showTrackerStatsSharePhase2",
    "list": "accessibilityServices experiments", "object": "fennec searches settings",
    "text": "arch campaign campaignId clientId created defaultMailClient defaultNewTabExperience defaultSearch device "
            "displayVersion distributionId enhancedSearchVersion locale os osversion profileGroupId systemTheme"}


def core_of(record):
    payload, row, other = record["payload"], {}, {}
    kinds = {name: kind for kind, names in CORE.items() for name in names.split()}
    for name, kind in kinds.items():
        value = payload.get(name)
        row[name] = {
            "integer": lambda: integer_of(value), "text": lambda: string_of(value),
            "boolean": lambda: int(value) if isinstance(value, bool) else None,
            "list": lambda: as_json(value) if isinstance(value, list) else None,
            "object": lambda: as_json(value) if isinstance(value, dict) else None}[kind]()
    for name, value in payload.items():
        if name not in kinds or (row[name] is None and value is not None):
            other[name] = value
    return dict(row, other=as_json(other or None))


def searches_of(record):
    searches = record["payload"].get("searches")
    for n, key in enumerate(sorted(searches, key=lambda key: key.encode("utf-8")) if isinstance(searches, dict) else []):
        source, point, engine = key.partition(".")
        yield dict(n=n, source=source if point else None, engine=engine if point else key, count=integer_of(searches[key]))


def number_of(value):
    """Returns a JSON number as a float, or None for other values and for numbers that a float cannot express."""
    if not isinstance(value, Number):
        return None
    number = float(value)
    return None if number in (float("inf"), float("-inf")) else number


# The member of a value that contains the number of a metric, by metric type.
NUMBER_MEMBERS = {"timespan": "value", "timing_distribution": "sum", "memory_distribution": "sum", "custom_distribution": "sum"}
# The units in which the SDK stores distributions, whatever unit the app uses.
STORED_UNITS = {"timing_distribution": "nanosecond", "memory_distribution": "byte"}


def metric_number(kind, value):
    """Returns the number and the unit of a metric whose type without labels is `kind`, as without definitions."""
    if kind in ("counter", "quantity"):
        number = number_of(value)
    elif kind == "rate":
        over, under = integer_of(get(value, "numerator")), integer_of(get(value, "denominator"))
        number = None if over is None or not under else over / under
    else:
        number = number_of(get(value, NUMBER_MEMBERS[kind])) if kind in NUMBER_MEMBERS else None
    stated = string_of(get(value, "time_unit"))
    return number, None if number is None else STORED_UNITS.get(kind) if stated is None else stated


def metrics_of(record):
    metrics, n = record["payload"].get("metrics"), 0

    def values_of(value, levels, labels):
        """Yields the labels, the value, and the number of missing levels of labels."""
        if not levels or not isinstance(value, dict) or not value:
            yield labels + [None] * levels, value, levels
            return
        for label in by_bytes(value):
            yield from values_of(value[label], levels - 1, labels + [label])

    for kind in by_bytes(metrics) if isinstance(metrics, dict) else []:
        named = metrics[kind] if isinstance(metrics[kind], dict) else {None: metrics[kind]}
        levels = 2 if kind.startswith("dual_labeled_") else 1 if kind.startswith("labeled_") else 0
        for name in by_bytes(named) if None not in named else [None]:
            for labels, value, missing in values_of(named[name], 0 if name is None else levels, []):
                number, unit = metric_number(kind.removeprefix("dual_").removeprefix("labeled_"), value)
                if missing or name is None:
                    number = unit = None
                label, second = (labels + [None, None])[:2]
                yield dict(n=n, metric_type=kind, name=name, label=label, second_label=second, value=string_or_json(value),
                           number=number, unit=unit, description=None)
                n += 1


def attributes_of(record):
    """Returns the rows of the attributes of a record. The label is whether the attribute is documented."""
    found, payload = [], record["payload"]
    if record["system"] == "adjust":
        for _, kind, value in adjust_parameters(payload):
            found += [(0, kind, key, value[key]) for key in by_bytes(value)] if kind and isinstance(value, dict) else []
    if record["system"] == "leanplum":
        for event, request in enumerate(payload["data"]):
            used = [key for key, is_used in (
                ("value", real_of(get(request, "value")) is not None),
                ("currencyCode", string_of(get(request, "currencyCode")) is not None)) if is_used]
            found += [(event, *attribute) for attribute in leanplum_attributes(request, used)[0]]
    for n, (event, kind, key, value) in enumerate(found):
        name = {type(None): "null", bool: "boolean", Number: "number", str: "string", list: "array", dict: "object"}[type(value)]
        yield dict(n=n, event=event, kind=kind, key=string_of(key), value=string_or_json(value), value_type=name,
                   label=key in LEANPLUM_DOCUMENTED.get(kind, ()))


# The entries of the states in events of Sift, by type.
STATE_ENTRIES = {
    "real": "battery_level",
    "boolean": "proximity_state is_simulator cpu_64bit_capable cpu_has_fp",
    "list": "network_addresses window_root_view_controller_titles evidence_files_present evidence_directories_symlinked "
            "evidence_directories_writable evidence_dylds_present evidence_url_schemes_openable evidence_syscalls_succeeded",
    "text": "sdk_version application_state battery_state device_orientation app_name app_version app_version_short device_name "
            "device_system_name device_system_version device_ifv initial_device_ifv device_ifa device_model "
            "device_localized_model mobile_carrier_name mobile_iso_country_code mobile_country_code mobile_network_code "
            "device_hardware_machine device_hardware_model device_kernel_uuid device_kernel_version "
            "device_kernel_boot_session_uuid device_kernel_boot_signature device_host_name device_os_type device_os_release "
            "device_posix1_version device_posix2_version cpu_byte_order",
    "integer": "device_screen_width device_screen_height device_host_id device_os_revision device_package_count "
               "device_memory_size device_page_size device_tb_frequency cpu_family cpu_type cpu_subtype cpu_count "
               "cpu_physical_cpu_count cpu_physical_cpu_max cpu_logical_cpu_count cpu_logical_cpu_max cpu_active_cpu_count "
               "cpu_frequency cpu_frequency_min cpu_frequency_max bus_frequency bus_frequency_min bus_frequency_max "
               "cache_line_size cache_l1_dcache_size cache_l1_icache_size cache_l2_cache_size cache_l3_cache_size"}
# The columns of a location and of a heading, by key.
LOCATION = {key: key for key in
            "latitude longitude altitude horizontal_accuracy vertical_accuracy speed course".split()}
HEADING = {"accuracy": "heading_accuracy", "magnetic_heading": "magnetic_heading", "true_heading": "true_heading",
           **{"raw_magnetic_field_" + axis: "raw_magnetic_field_" + axis for axis in "xyz"}}
APP_STATE = ("sdk_version application_state window_root_view_controller_titles battery_level battery_state device_orientation "
             "proximity_state network_addresses").split()
# The properties of devices that the first versions named otherwise.
EARLY_NAMES = {
    "name": "device_name", "system_name": "device_system_name", "system_version": "device_system_version",
    "model": "device_model", "localized_model": "device_localized_model", "screen_width": "device_screen_width",
    "screen_height": "device_screen_height", "apple_ifa": "device_ifa", "apple_ifv": "device_ifv",
    "carrier_name": "mobile_carrier_name", "iso_country_code": "mobile_iso_country_code",
    "mobile_country_code": "mobile_country_code", "mobile_network_code": "mobile_network_code"}
# The names of the system controls, by the current names of the properties.
CONTROLS = {
    "device_hardware_machine": "hw.machine", "device_hardware_model": "hw.model", "device_kernel_uuid": "kern.uuid",
    "device_kernel_version": "kern.version", "device_kernel_boot_session_uuid": "kern.bootsessionuuid",
    "device_kernel_boot_signature": "kern.bootsignature", "device_host_name": "kern.hostname",
    "device_os_type": "kern.ostype", "device_os_release": "kern.osrelease", "device_posix1_version": "kern.posix1version",
    "device_posix2_version": "user.posix2_version", "device_host_id": "kern.hostid", "device_os_revision": "kern.osrevision",
    "device_package_count": "hw.packages", "device_memory_size": "hw.memsize", "device_page_size": "hw.pagesize",
    "device_tb_frequency": "hw.tbfrequency", "cpu_family": "hw.cpufamily", "cpu_type": "hw.cputype",
    "cpu_subtype": "hw.cpusubtype", "cpu_byte_order": "hw.byteorder", "cpu_64bit_capable": "hw.cpu64bit_capable",
    "cpu_has_fp": "hw.optional.floatingpoint", "cpu_count": "hw.ncpu", "cpu_physical_cpu_count": "hw.physicalcpu",
    "cpu_physical_cpu_max": "hw.physicalcpu_max", "cpu_logical_cpu_count": "hw.logicalcpu",
    "cpu_logical_cpu_max": "hw.logicalcpu_max", "cpu_active_cpu_count": "hw.activecpu", "cpu_frequency": "hw.cpufrequency",
    "cpu_frequency_min": "hw.cpufrequency_min", "cpu_frequency_max": "hw.cpufrequency_max", "bus_frequency": "hw.busfrequency",
    "bus_frequency_min": "hw.busfrequency_min", "bus_frequency_max": "hw.busfrequency_max",
    "cache_line_size": "hw.cachelinesize", "cache_l1_dcache_size": "hw.l1dcachesize", "cache_l1_icache_size": "hw.l1icachesize",
    "cache_l2_cache_size": "hw.l2cachesize", "cache_l3_cache_size": "hw.l3cachesize"}
EARLY_LISTS = {
    "suspicious_file": "evidence_files_present", "suspicious_symlink": "evidence_directories_symlinked",
    "suspicious_permission": "evidence_directories_writable", "suspicious_call": "evidence_syscalls_succeeded",
    "suspicious_url_scheme": "evidence_url_schemes_openable", "suspicious_dyld": "evidence_dylds_present"}
# The columns of a location and of a heading in the fields of an event of the first versions.
EARLY_FIELDS = {
    **{"device_location_" + key: key for key in
       "horizontal_accuracy altitude vertical_accuracy floor speed course".split()},
    "device_location_lat": "latitude", "device_location_lng": "longitude", "device_location_time": "location_time_ms",
    "device_heading_time": "heading_time_ms", "device_heading_magnetic_heading": "magnetic_heading",
    "device_heading_heading_accuracy": "heading_accuracy", "device_heading_true_heading": "true_heading",
    **{"device_heading_magnetic_field_" + axis: "raw_magnetic_field_" + axis for axis in "xyz"}}


def number_of(value):
    return real_of(value) if isinstance(value, Number) else None


def states_of(record):
    kinds = {name: kind for kind, names in STATE_ENTRIES.items() for name in names.split()}
    empty = dict.fromkeys([*kinds, *LOCATION.values(), "floor", *HEADING.values(), "location_time", "location_time_ms",
                           "heading_time", "heading_time_ms"])
    current = {
        "integer": integer_of, "text": string_of, "real": number_of,
        "boolean": lambda value: int(value) if isinstance(value, bool) else None,
        "list": lambda value: canonical(value) if isinstance(value, list) else None}
    early = {
        "integer": lambda text: int(text) if re.fullmatch("-?[0-9]{1,19}", text) and -(1 << 63) <= int(text) < 1 << 63 else None,
        "text": string_of, "boolean": lambda text: {"0": 0, "1": 1}.get(text)}

    def row(n, kind, state, values):
        values.update({place + "_time": time_text(values.get(place + "_time_ms")) for place in ("location", "heading")})
        return dict(empty, **values, n=n, kind=kind, state=canonical(state))

    for n, event in enumerate(record["payload"]["data"]):
        state, properties, old = (get(event, key) for key in ("ios_app_state", "ios_device_properties", "device_properties"))
        if state is not None:
            values = {name: current[kinds[name]](get(state, name)) for name in APP_STATE}
            location, heading = get(state, "location"), get(state, "heading")
            values.update({LOCATION[key]: number_of(get(location, key)) for key in LOCATION})
            values.update({HEADING[key]: number_of(get(heading, key)) for key in HEADING}, floor=integer_of(get(location, "floor")))
            values.update(location_time_ms=integer_of(get(location, "time")), heading_time_ms=integer_of(get(heading, "time")))
            yield row(n, "app_state", state, values)
        if properties is not None:
            names = [name for name in kinds if name not in APP_STATE or name in ("sdk_version", "network_addresses")]
            yield row(n, "device_properties", properties, {name: current[kinds[name]](get(properties, name)) for name in names})
        elif isinstance(old, dict):
            values, lists = {}, {}
            spellings = [(key, name) for key, name in EARLY_NAMES.items()]
            spellings += [(key, name) for name, dotted in CONTROLS.items() for key in (dotted, dotted.replace(".", "_"))]
            for key, name in spellings:
                if string_of(old.get(key)) is not None and values.get(name) is None:
                    values[name] = early[kinds[name]](old[key])
            for key, value in old.items():
                found = re.fullmatch("(.*)[._]([0-9]{1,4})", key, re.DOTALL)
                if found and found[1] in EARLY_LISTS and string_of(value) is not None:
                    lists.setdefault(EARLY_LISTS[found[1]], []).append((int(found[2]), key.encode("utf-8"), value))
            values.update({name: canonical([value for _, _, value in sorted(found)]) for name, found in lists.items()})
            yield row(n, "device_properties", old, values)
        fields, values = get(event, "fields"), {}
        for key, column in EARLY_FIELDS.items() if isinstance(fields, dict) else ():
            text = string_of(fields.get(key))
            if text is not None and column.endswith("_ms"):
                instant = leanplum_time(text)
                values[column] = None if instant is None or not 0 <= instant // 1000 < END_OF_TIME else instant // 1000
            elif text is not None:
                values[column] = early["integer"](text) if column == "floor" else real_of(text)
        if any(value is not None for value in values.values()):
            yield row(n, "event_fields", fields, values)


def readings_of(record):
    n = 0
    motion = [name for name in COLUMNS["sift_readings"][9:] if not name.endswith("calibration_accuracy")]
    for event, found in enumerate(record["payload"]["data"]):
        for kind in ("motion", "raw_accelerometer", "raw_gyro", "raw_magnetometer"):
            readings = get(found, "ios_app_state", kind)
            for reading in readings if isinstance(readings, list) else []:
                if not isinstance(reading, dict):
                    continue
                prefix = {"raw_accelerometer": "acceleration", "raw_gyro": "rotation_rate", "raw_magnetometer": "magnetic_field"}
                values = {axis: number_of(reading.get("%s_%s" % (prefix[kind], axis))) if kind in prefix else None for axis in "xyz"}
                values.update({name: None if kind in prefix else number_of(reading.get(name)) for name in motion})
                accuracy = None if kind in prefix else string_of(reading.get("magnetic_field_calibration_accuracy"))
                time = integer_of(reading.get("time"))
                yield dict(values, n=n, event=event, kind=kind, time=time_text(time), time_ms=time,
                           magnetic_field_calibration_accuracy=accuracy)
                n += 1


# The numbers with which a sequence of each system can start.
SEQUENCE_STARTS = {"mozilla": 1, "glean": 0, "adjust": 1}


def sequence_number(record):
    """Returns the sequence number of a record, or `None`."""
    payload, kind = record["payload"], (record["system"], record["type"])
    if kind[0] == "mozilla":
        value = payload.get("seq")
    elif kind[0] == "glean":
        value = get(payload, "ping_info", "seq")
    elif kind == ("adjust", "session"):
        value = payload.get("session_count")
    elif kind == ("adjust", "event") and type(payload.get("bundle_id")) is str:
        value = payload.get("event_count")
    else:
        return None
    if kind[0] == "adjust":
        if type(value) is not str or not re.fullmatch("[0-9]{1,19}", value):
            return None
    elif not isinstance(value, Number) or decimal.Decimal(value) % 1 != 0:
        return None
    return int(decimal.Decimal(value)) if 0 <= decimal.Decimal(value) < 1 << 63 else None


def runs_of(members, start):
    """Returns the runs of a sequence. `members` are pairs of a time or an empty string, and a number."""
    timed = sorted(member for member in members if member[0])
    runs = []
    for index, (time, number) in enumerate(timed):
        numbers = [other for _, other in runs[-1]] if runs else []
        if not runs or (number <= start and number < max(numbers) and time > timed[index - 1][0] and (
                number >= min(numbers) or index + 1 == len(timed) or timed[index + 1][1] <= max(numbers))):
            runs.append([])
        runs[-1].append((time, number))
    spans = [(min(n for _, n in run), max(n for _, n in run)) for run in runs]
    runs = runs or [[]]
    for member in members:
        if not member[0]:
            around = [index for index, (low, high) in enumerate(spans) if low <= member[1] <= high]
            runs[around[-1] if around else -1].append(member)
    return runs


def gaps_of(records):
    """Returns the rows of the table of gaps."""
    sequences, clients = {}, {}
    for record in records:
        number, client = sequence_number(record), record["client"]
        if client is not None:
            clients.setdefault((record["system"], client.lower()), client)
        if number is not None and client is not None and client.lower() != "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0":
            key = (record["system"], client.lower(), record["type"].encode("utf-8", "surrogatepass"), record["type"])
            sequences.setdefault(key, []).append((record["time"] or "", number))
    rows = []
    for system, client, _, kind in sorted(sequences):
        last = None
        for run, members in enumerate(runs_of(sequences[system, client, _, kind], SEQUENCE_STARTS[system]), 1):
            def add(reason, first, end, count, number_before, number_after, time_before, time_after):
                rows.append(dict(
                    n=len(rows) + 1, system=system, type=kind, client=clients[system, client], run=run, reason=reason,
                    first_number=first, last_number=end, count=count, number_before=number_before, number_after=number_after,
                    time_before=time_before or None, time_after=time_after or None))

            times = {}
            for time, number in sorted(members):
                times.setdefault(number, []).append(time)
            numbers = sorted(times)
            known = sorted(time for time, _ in members if time)
            if last:
                add("restart", None, None, 0, last[0], numbers[0], last[1], known[0])
            last = (numbers[-1], known[-1] if known else None)
            for low, high in zip(numbers, numbers[1:]):
                if high > low + 1:
                    add("missing", low + 1, high - 1, high - low - 1, low, high, times[low][0], times[high][0])
            ranges = []
            for number in numbers:
                if len(times[number]) > 1:
                    if not ranges or ranges[-1][-1] + 1 != number:
                        ranges.append([])
                    ranges[-1].append(number)
            for found in ranges:
                known = sorted(time for number in found for time in times[number] if time)
                add("repeated", found[0], found[-1], sum(len(times[number]) - 1 for number in found), None, None,
                    known[0] if known else None, known[-1] if known else None)
    return rows


def record_row(number, record):
    app, target, source = record["app"] or {}, record["target"] or {}, record["source"]
    os_name, version, device, locale = device_of(record)
    return dict(
        record=number, system=record["system"], type=record["type"], id=record["id"], client=record["client"],
        client_key=folded(record["client"]), time=record["time"], time_ms=milliseconds(record["time"]), day=day_of(record["time"]),
        clock=clock_of(record["system"], record["time"]),
        app_id=app.get("id"), app_name=app.get("name"), app_version=app.get("version"), app_channel=app.get("channel"),
        app_build=app.get("build"), os=os_name, os_family=None if os_name is None else FAMILIES.get(folded(os_name), "other"),
        os_version=version, device=device, locale=locale,
        locale_normalized=normalized_locale(locale), method=target.get("method"), target=target.get("path"),
        headers=as_json(target.get("headers")),
        uploadable=int(not record["held"]), capture=source["capture"],
        container=container_of(source["capture"], source["path"]), path=source["path"], store=source["store"],
        place=int(source["index"]), payload=canonical(record["payload"]))


def expected_tables(records):
    """Returns the expected rows of each table, except for problems, quarantine and the tables about the export."""
    tables = {name: [] for name in
              "records holds notes events attributes core searches metrics metric_definitions sift_states sift_readings clients".split()}
    clients = {}
    for number, record in enumerate(records, 1):
        def add(table, rows):
            tables[table] += [dict(row, record=number) for row in rows]

        tables["records"].append(record_row(number, record))
        held = [(code, detail or None) for code, _, detail in (text.partition(": ") for text in record["held"])]
        add("holds", [dict(n=n, code=code, detail=detail) for n, (code, detail) in enumerate(held)])
        notes = [(code, rest if space else None) for code, space, rest in (text.partition(" ") for text in record["notes"])]
        add("notes", [dict(n=n, code=code, text=rest) for n, (code, rest) in enumerate(notes)])
        events = events_of(record)
        add("events", events)
        add("attributes", attributes_of(record))
        if record["system"] == "mozilla" and record["type"] == "core":
            add("core", [core_of(record)])
            add("searches", searches_of(record))
        if record["system"] == "glean":
            add("metrics", metrics_of(record))
        if record["system"] == "sift":
            add("sift_states", states_of(record))
            add("sift_readings", readings_of(record))
        key = (record["system"], record["client"] is not None, (record["client"] or "").lower())
        client = clients.setdefault(key, dict(
            client=record["client"], ids=set(), names=set(), versions=[], records=0, uploadable=0, events=0, times=[]))
        app = record["app"] or {}
        client["ids"] |= {app.get("id")} - {None}
        client["names"] |= {app.get("name")} - {None}
        client["versions"] += [] if app.get("version") is None else [(record["time"] or "", number, app["version"])]
        client["records"] += 1
        client["uploadable"] += not record["held"]
        client["events"] += len(events)
        client["times"] += [record["time"]] if record["time"] else []
    for n, key in enumerate(sorted(clients), 1):
        client = clients[key]
        tables["clients"].append(dict(
            n=n, system=key[0], client=client["client"], client_key=folded(client["client"]), app_id=", ".join(by_bytes(client["ids"])) or None,
            app_name=", ".join(by_bytes(client["names"])) or None,
            app_version=max(client["versions"])[-1] if client["versions"] else None,
            records=client["records"], uploadable=client["uploadable"], events=client["events"],
            first=min(client["times"], default=None), last=max(client["times"], default=None)))
    tables["gaps"] = gaps_of(records)
    return tables


def by_bytes(texts):
    return sorted(texts, key=lambda text: text.encode("utf-8", "surrogatepass"))


# The views

def folded(client):
    """Returns the id of a client with its ASCII letters in lower case, or None."""
    return client and "".join(letter.lower() if letter < "\x80" else letter for letter in client)


def grouped(rows, *keys):
    """Returns the rows by the values of columns. A key is the name of a column, or a function."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(key(row) if callable(key) else row[key] for key in keys), []).append(row)
    return groups


def clients_in(rows):
    return {folded(row["client"]) for row in rows} - {None}


def monday(day):
    """Returns the first day of the week of a day, both as `YYYY-MM-DD`."""
    date = datetime.date.fromisoformat(day)
    return str(date - datetime.timedelta(days=date.weekday()))


def expected_views(tables):
    """Returns the expected rows of each view for the tables of `expected_tables`. Rows without a plausible time do not count."""
    views, timed = {}, [row for row in tables["records"] if row["clock"] == "plausible"]
    views["pings_per_day"] = [
        dict(day=day, system=system, type=kind, records=len(rows), clients=len(clients_in(rows)))
        for (day, system, kind), rows in grouped(timed, "day", "system", "type").items()]
    views["events_per_day"] = [
        dict(day=day, system=system, name=name, label=label, events=len(rows), clients=len(clients_in(rows)))
        for (day, system, name, label), rows in grouped(
            (row for row in tables["events"] if row["at_clock"] == "plausible"), "at_day", "system", "name", "label").items()]
    first_days = {
        key: min(row["day"] for row in rows)
        for key, rows in grouped(timed, "system", lambda row: folded(row["client"])).items() if key[1] is not None}
    views["clients_per_day"] = [
        dict(day=day, system=system, clients=len(clients_in(rows)), records=len(rows),
             new_clients=sum(first_days[system, client] == day for client in clients_in(rows)))
        for (day, system), rows in grouped(timed, "day", "system").items()]
    weeks = {}
    for row in timed:
        if row["client"] is not None:
            first = monday(first_days[row["system"], folded(row["client"])])
            week = (datetime.date.fromisoformat(row["day"]) - datetime.date.fromisoformat(first)).days // 7
            weeks.setdefault((row["system"], first, week), set()).add(folded(row["client"]))
    views["retention_by_week"] = [
        dict(system=system, first_week=first, week=week, clients=len(clients),
             share=len(clients) / len(weeks[system, first, 0]))
        for (system, first, week), clients in weeks.items()]
    views["sequence_gaps"] = [
        dict(system=system, type=kind, client=client,
             missing=sum(row["count"] for row in rows if row["reason"] == "missing"),
             repeated=sum(row["count"] for row in rows if row["reason"] == "repeated"),
             restarts=sum(row["reason"] == "restart" for row in rows))
        for (system, kind, client), rows in grouped(tables["gaps"], "system", "type", "client").items()]
    return views


# Stores and queues, as `scan --json` lists them

def store_rows(scan):
    """Returns the values of the table `stores` that `scan` states. It lists only some of the problems."""
    for n, store in enumerate(scan["stores"], 1):
        app = store["app"] or {}
        yield dict(
            {"app_" + key: app.get(key) for key in ("id", "name", "version")}, n=n,
            capture=store["capture"],
            container=None if store["kind"] == "bundle" else container_of(store["capture"], store["path"]),
            path=store["path"], kind=store["kind"], records=int(store["records"]),
            uploadable=int(store["uploadable"]), held=canonical(store["held"]), types=canonical(store["types"]),
            quarantined=int(store["quarantineCount"]), facts=as_json(store["facts"] or None),
            pending_events=as_json(store.get("pendingEvents")), usage_data=store.get("usageData"))


def queue_rows(scan):
    """Returns the expected values of the table `queues`, as far as they are known for each queue."""
    stores = [(n, store) for n, store in enumerate(scan["stores"], 1) if store.get("queue") is not None]
    for n, (number, store) in enumerate(stores, 1):
        queue = store["queue"]
        row = dict(
            n=n, store=number, capture=store["capture"], container=container_of(store["capture"], store["path"]),
            path=store["path"], system=store["systems"][0], kind=store["kind"], state=canonical(queue))
        if "reason" in queue:
            row["reason"] = queue["reason"]
        if "at" in queue:
            row["at"] = queue["at"]
        if queue.get("readiness") is not None:
            row["readiness"] = queue["readiness"]
        yield row


def queue_totals(scan):
    """Returns the number of queues of all apps by readiness, code and text."""
    totals = {}
    for queue in (queue for app in scan["apps"] for queue in app["queues"]):
        key = (queue["readiness"], queue["code"], queue["text"])
        totals[key] = totals.get(key, 0) + int(queue["queues"])
    return totals


# Oracles

def are_equal(found, expected):
    """Returns whether two JSON values are equal. Numbers are compared by value, not as strings."""
    if isinstance(found, Number) and isinstance(expected, Number):
        return decimal.Decimal(found) == decimal.Decimal(expected)
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(are_equal(found[key], expected[key]) for key in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(are_equal, found, expected))
    return type(found) is type(expected) and found == expected


def read_oracle(path):
    with open(path, encoding="utf-8") as stream:
        return read_json(stream.read())


class Case:
    """A capture and its expected results, which are None if the oracle does not contain them."""

    def __init__(self, path, oracle=None):
        oracle = oracle if isinstance(oracle, dict) else {}
        self.paths, self.name = [path], oracle.get("case") or os.path.basename(path)
        self.records, self.problems, self.quarantined = (oracle.get(key) for key in ("records", "problems", "quarantined"))
        self.status = None if oracle.get("exit") is None else int(oracle["exit"])
        self.parts = [self]
        self.password, self.password_file = oracle.get("password"), oracle.get("passwordFile")
        self.is_joinable = bool(oracle) and self.status in (None, 0, 1) and not self.password and not self.password_file
        if oracle.get("salvageableRowids") or not isinstance(self.records, list):
            self.records = None

    @staticmethod
    def joining(cases):
        """Returns one case with the captures of several cases, all of which are joinable."""
        joined = Case("all captures")
        joined.parts, joined.paths = cases, [path for case in cases for path in case.paths]
        return joined

    @staticmethod
    def of_log(path, oracle):
        """Returns the case of a request log.

        The tables contain one record for equal uploads, which is held if one of the uploads was delivered. The oracle has no
        records of Glean, so they are not compared.
        """
        case, known = Case(path), {}
        for entry in oracle["entries"]:
            record = entry["record"]
            if record is None:
                continue
            key = (record["system"], record["type"], record["id"], canonical(record["payload"]))
            kept = known.setdefault(key, dict(record, held=[], source={"index": entry["entry"]}))
            if entry["delivered"]:
                kept["held"] = ["delivered"]
        case.records = list(known.values())
        return case

    @staticmethod
    def of_sift(path, requests):
        """Returns the case of a store of Sift with its expected list requests."""
        case = Case(path)
        case.records = [dict(request["body"], source=request["source"]) for request in requests if request["body"]["data"]]
        for record in case.records:
            ids = [event["installation_id"] for event in record["data"] if "installation_id" in event]
            record.update(payload={"data": record.pop("data")}, system="sift", type="mobile_events", held=[])
            record["client"] = ids[0] if ids else None
            index = re.fullmatch(r"uploader\[(\d+)\]", record["source"])
            record["source"] = {"index": Number(index.group(1))} if index else {}
        return case


class Run:
    """Converts the captures of a case and compares the outputs. `faults` are the differences that were found."""

    def __init__(self, program, case, folder):
        self.program, self.case, self.folder, self.faults = program, case, folder, []

    def convert(self, name, *options):
        """Converts the captures to the output `name`. Returns its path, and sets `status` and `errors`."""
        path = os.path.join(self.folder, name)
        self.run("convert", "--quiet", *options, "-o", path)
        return path

    def run(self, *arguments):
        """Runs a command of the program on the captures. Returns its output, and sets `status` and `errors`."""
        command = [self.program, *arguments, *self.case.paths]
        environment = dict(os.environ)
        if self.case.password is not None:
            environment["PINGFERRY_BACKUP_PASSWORD"] = self.case.password
        if self.case.password_file is not None:
            command += ["--password-file", os.path.join(os.path.dirname(self.case.paths[0]), self.case.password_file)]
        finished = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.status, self.errors = finished.returncode, finished.stderr.decode()
        return finished.stdout

    def fault(self, text):
        self.faults.append("%s: %s" % (self.case.name, text[:1500]))

    def records(self):
        """Returns the records that the program writes, with the values of the oracle in their place."""
        path = self.convert("records.ndjson", "--labels")
        if self.case.status is not None and self.status != self.case.status:
            self.fault("exit status %d, expected %d" % (self.status, self.case.status))
        if not os.path.exists(path):
            if self.case.records:
                self.fault("no records, expected %d" % len(self.case.records))
            return None
        with open(path, encoding="utf-8") as stream:
            found = [read_json(line) for line in stream]
        if self.case.records is None:
            return found
        compared = found
        if not any(known["system"] == "glean" for known in self.case.records):
            compared = [record for record in found if record["system"] != "glean" or record["source"]["store"] != "har-entry"]
        if len(self.case.records) != len(compared):
            self.fault("%d records expected, %d found" % (len(self.case.records), len(compared)))
        for record, known in zip(compared, self.case.records):
            self.compare_record(record, known)
        return found

    def compare_record(self, record, known):
        """Compares the id and the holds of a record with the oracle `known`. Replaces the other values by those of the oracle."""
        if are_equal(record["payload"], known["payload"]):
            # The program keeps the spelling of numbers in the store, which can differ from the spelling in the oracle.
            known = dict(known, payload=record["payload"])
        if record["id"].startswith("sha256:"):
            digest = "sha256:" + hashlib.sha256(canonical(known["payload"]).encode("utf-8")).hexdigest()
            if re.split("[@#]", record["id"])[0] != digest:
                self.fault("id %s, expected %s" % (record["id"], digest))
        for key, value in known.items():
            if key == "app":
                record["app"] = dict(record["app"] or {}, **(value or {})) or None
            elif key == "source":
                record["source"].update(value)
            elif key in record and key not in ("notes", "held"):
                record[key] = value
        held = [text.partition(":")[0] for text in known.get("held", record["held"])]
        if [text.partition(":")[0] for text in record["held"]] != held:
            self.fault("holds %s, expected %s" % (record["held"], held))

    def check_findings(self, tables):
        """Compares problems and quarantine with the oracle of each capture, by path, code and, if the oracle has it, position."""
        for part in self.case.parts:
            label = os.path.basename(part.paths[0])
            for name, expected in (("problems", part.problems), ("quarantine", part.quarantined)):
                if expected is not None:
                    self.check_finding(label, name, expected, [row for row in tables[name] if row["capture"] == label])
        for row in tables["problems"]:
            stated = re.search(r" at byte (\d+)$", row["text"]) if "sift-v0_0_1" in row["path"] else None
            if stated and row["offset"] != int(stated.group(1)):
                self.fault("problems: the offset of %r is %s" % (row["text"], row["offset"]))

    def check_finding(self, label, name, expected, found):
        rows = []
        for item in expected:
            code = item["code"] if "code" in item else item["reason"].split(" ")[0]
            position = tuple(integer_of(item.get(key)) for key in ("offset", "length")) if "offset" in item else ()
            rows.append((item["path"], code) + position)
        found = [(row["path"], row["code"]) + ((row["offset"], row["length"]) if rows and len(rows[0]) > 2 else ())
                 for row in found]
        if sorted(rows, key=repr) != sorted(found, key=repr):
            self.fault("%s of %s: expected %s, found %s" % (name, label, rows, found))

    def check(self):
        """Compares the records, the database, the CSV files and the timeline with the expected ones."""
        records = self.records()
        path = self.convert("tables.sqlite")
        if records is None:
            if os.path.exists(path):
                self.fault("there are tables, but no records")
            return
        if not os.path.exists(path):
            self.fault("no tables: %s" % self.errors)
            return
        connection = self.connect(path)
        self.check_database(connection)
        tables, views = self.rows(connection, "table"), self.rows(connection, "view")
        connection.close()
        try:
            expected = expected_tables(records)
            self.compare(expected, tables)
            self.check_views(expected_views(expected), views)
            self.check_timeline(tables)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            self.fault("the expected rows cannot be computed: %r" % error)
        self.check_findings(tables)
        self.check_repeats(tables)
        self.check_scan(tables)
        self.check_csv(tables)

    def check_repeats(self, tables):
        """Compares the dropped records with the kept records and with the count that the program states."""
        records = {row["record"]: row for row in tables["records"]}
        kept = {(row["capture"], row["path"], row["place"], row["system"], row["type"], row["id"]) for row in records.values()}
        for row in tables["repeats"]:
            record = records.get(row["record"])
            # Of the same pending events, the record with a client is kept.
            is_pending = "pending-events" in row["held"]
            shared = ("system", "type") if is_pending and not row["payload_equal"] else ("system", "type", "id", "client")
            if record is None or any(record[key] != row[key] for key in shared):
                self.fault("repeats, row %d: differs from the kept record %s" % (row["n"], row["record"]))
            place = tuple(row[key] for key in ("capture", "path", "place", "system", "type", "id"))
            if place in kept or row["payload_equal"] != 1 and not is_pending:
                self.fault("repeats, row %d: %s" % (row["n"], row))
        meta = {row["key"]: row["value"] for row in tables["meta"]}
        times = sorted(row["time"] for row in records.values() if row["time"])
        plausible = sorted(row["time"] for row in records.values() if row["clock"] == "plausible")
        summary = read_json(self.run("convert", "--json", "--quiet", "-o", os.path.join(self.folder, "counted.ndjson")))
        expected = dict(
            duplicates=str(len(tables["repeats"])), newest=times[-1] if times else None,
            newest_plausible=plausible[-1] if plausible else None)
        found = {key: meta.get(key) for key in expected}
        if found != expected or meta["duplicates"] != summary["duplicates"]:
            self.fault("meta: expected %s and %s duplicates, found %s" % (expected, summary["duplicates"], found))

    @staticmethod
    def connect(path):
        connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        connection.row_factory = sqlite3.Row
        return connection

    def check_database(self, connection):
        for pragma, good in (("integrity_check", [("ok",)]), ("foreign_key_check", []), ("user_version", [(1,)])):
            found = [tuple(row) for row in connection.execute("PRAGMA " + pragma)]
            if found != good:
                self.fault("%s: %s" % (pragma, found))
        for row in connection.execute("SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"):
            if not row["name"].startswith("sqlite_") and not row["strict"]:
                self.fault("%s is not STRICT" % row["name"])
        for table, columns in COLUMNS.items():
            found = [row["name"] for row in connection.execute('PRAGMA table_info("%s")' % table)]
            if found != columns:
                self.fault("%s: the columns are %s" % (table, " ".join(found)))
        for table, indexes in INDEXES.items():
            names = [row["name"] for row in connection.execute('PRAGMA index_list("%s")' % table)]
            found = [[row["name"] for row in connection.execute('PRAGMA index_info("%s")' % name)] for name in names]
            for columns in indexes:
                if columns not in found:
                    self.fault("%s: there is no index on %s" % (table, ", ".join(columns)))
        described = [tuple(row) for row in connection.execute('SELECT "table", "column" FROM columns ORDER BY 1, 2')]
        existing = [tuple(row) for row in connection.execute(
            "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c "
            "WHERE t.type = 'table' AND t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1, 2")]
        if described != existing:
            self.fault("columns: the differences are %s" % sorted(set(described) ^ set(existing)))

    @staticmethod
    def rows(connection, kind):
        """Returns the rows of all tables in the order of their primary keys, or the rows of all views."""
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = ?", [kind])]
        tables = {}
        for name in names:
            order = [row[1] for row in connection.execute('PRAGMA table_info("%s")' % name) if row[5]]
            by = " ORDER BY " + ", ".join('"%s"' % key for key in order) if order else ""
            tables[name] = [dict(row) for row in connection.execute('SELECT * FROM "%s"%s' % (name, by))]
        return tables

    def check_views(self, expected, found):
        """Compares the views. The order of their rows is not specified."""
        for name, rows in expected.items():
            if name not in found:
                self.fault("there is no view %s" % name)
                continue
            found_rows = sorted(found[name], key=lambda row: repr(sorted(row.items())))
            rows = sorted(rows, key=lambda row: repr(sorted(row.items())))
            if rows != found_rows:
                missing = [row for row in rows if row not in found_rows]
                added = [row for row in found_rows if row not in rows]
                self.fault("the view %s: %d rows are missing: %s; %d rows are unexpected: %s" % (
                    name, len(missing), missing[:3], len(added), added[:3]))

    def check_scan(self, tables):
        """Compares the stores and the queues with the output of `scan`."""
        scan = read_json(self.run("scan", "--json", "--quiet"))
        for name, expected in (("stores", list(store_rows(scan))), ("queues", list(queue_rows(scan)))):
            found = tables.get(name, [])
            if len(found) != len(expected):
                self.fault("%s: expected %d rows, found %d" % (name, len(expected), len(found)))
            for row, other in zip(expected, found):
                # The sentence contains the reason.
                reason = row.pop("reason", "")
                wrong = {key: (value, other.get(key)) for key, value in row.items() if value != other.get(key)}
                if reason not in other.get("sentence", ""):
                    wrong["sentence"] = (reason, other.get("sentence"))
                if wrong:
                    self.fault("%s, row %d: %s" % (name, row["n"], wrong))
        for store, row in zip(scan["stores"], tables["stores"]):
            if len(store["problems"]) > row["problems"]:
                self.fault("stores, row %d: %d problems" % (row["n"], row["problems"]))
        totals = {key: len(rows) for key, rows in grouped(tables.get("queues", []), "readiness", "code", "text").items()}
        if totals != queue_totals(scan):
            self.fault("queues: expected %s, found %s" % (queue_totals(scan), totals))

    def compare(self, expected, found):
        # The expected rows state only whether an attribute has a label.
        found = dict(found, attributes=[dict(row, label=row["label"] is not None) for row in found["attributes"]])
        for name, rows in expected.items():
            if len(rows) != len(found[name]):
                self.fault("%s: expected %d rows, found %d" % (name, len(rows), len(found[name])))
            wrong = [(index, *pair) for index, pair in enumerate(zip(rows, found[name])) if pair[0] != pair[1]]
            for index, row, other in wrong[:SHOWN]:
                keys = sorted(key for key in set(row) | set(other) if row.get(key, "-") != other.get(key, "-"))
                self.fault("%s, row %d: %s" % (name, index, {key: (row.get(key, "-"), other.get(key, "-")) for key in keys}))
            if len(wrong) > SHOWN:
                self.fault("%s: %d rows are wrong" % (name, len(wrong)))

    def check_csv(self, tables):
        folder = self.convert("tables.csv")
        names = sorted(os.listdir(folder))
        if names != sorted(["datapackage.json", "load.sql"] + [name + ".csv" for name in tables]):
            self.fault("csv: unexpected files: %s" % names)
        for name, rows in tables.items():
            with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as stream:
                found = list(csv.DictReader(stream))
            texts = [{key: "" if value is None else value for key, value in row.items()} for row in rows]
            if name == "meta":
                found.sort(key=lambda row: row["key"])
            if len(texts) != len(found):
                self.fault("csv %s: %d rows and %d in SQLite" % (name, len(found), len(texts)))
            for index, (row, other) in enumerate(zip(texts, found)):
                other = {key: type(row[key])(value) if value != "" else value for key, value in other.items()}
                if row != other or list(row) != list(other):
                    self.fault("csv %s, row %d: expected %s, found %s" % (name, index, row, other))

    # The keys of a line in a timeline.
    KEYS = {"message", "datetime", "timestamp_desc", "timestamp", "data_type", "system", "type", "name", "client", "app",
            "device", "record", "record_id", "n", "elapsed_ms", "path", "capture", "held", "extra", "tag"}

    # The bases of times that are those of events.
    OWN_TIMES = ("event", "process-start", "ping-start")

    def check_timeline(self, tables):
        path = self.convert("all.timeline.jsonl")
        with open(path, encoding="utf-8") as stream:
            lines = [json.loads(line) for line in stream]
        events = grouped(tables["events"], "record")
        holds, notes = grouped(tables["holds"], "record"), grouped(tables["notes"], "record")
        expected, timeless = [], 0
        for record in tables["records"]:
            number = (record["record"],)
            held = [hold["code"] for hold in holds.get(number, [])]
            # The line of a record without events.
            alone = dict(name=None, label=None, extra=None, at=record["time"], at_ms=record["time_ms"], at_basis="record", n=None,
                         elapsed_ms=None)
            for event in events.get(number, [alone]):
                if event["at_ms"] is None:
                    timeless += 1
                    continue
                extra = event["extra"]
                # A timeline has no other tables, whose contents are added.
                if record["system"] in ("sift", "leanplum") and event["n"] is not None:
                    item = read_json(record["payload"], dict)["data"][event["n"]]
                    if record["system"] == "leanplum":
                        extra = leanplum_row(item, record["client"], is_timeline=True)["extra"]
                    else:
                        own = {key: item[key] for key in SIFT_STATES if key in item} if isinstance(item, dict) else {}
                        extra = canonical(dict(read_json(extra or "{}", dict), **own)) if own else extra
                line = dict(
                    message=event["label"] or event["name"] or "%s %s" % (record["system"], record["type"]),
                    datetime=event["at"][:-1] + "000+00:00", timestamp=event["at_ms"] * 1000,
                    timestamp_desc="Event recorded" if event["at_basis"] in self.OWN_TIMES else "Ping queued",
                    data_type="pingferry:%s:%s" % (record["system"], record["type"]), system=record["system"],
                    type=record["type"], name=event["name"], client=record["client"],
                    app=record["app_name"] or record["app_id"], device=record["device"], record=record["record"],
                    record_id=record["id"], n=event["n"], elapsed_ms=event["elapsed_ms"], path=record["path"],
                    capture=record["capture"], held=",".join(held) or None,
                    extra=extra and extra.encode("utf-8")[:32000].decode("utf-8", "ignore"),
                    tag=["held"] * bool(held) + ["normalized"] * (number in notes))
                expected.append({key: value for key, value in line.items() if value is not None})
        # The lines are already in the order of records and events.
        expected.sort(key=lambda line: line["timestamp"])
        if lines != expected:
            index = next((n for n, pair in enumerate(zip(lines, expected)) if pair[0] != pair[1]), min(len(lines), len(expected)))
            self.fault("timeline: expected %d lines, found %d; line %d: expected %s, found %s" % (
                len(expected), len(lines), index, expected[index:index + 1], lines[index:index + 1]))
        for line in lines:
            moment = datetime.datetime.fromisoformat(line["datetime"])
            micros = (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
            if set(line) - self.KEYS or not line["message"] or micros != line["timestamp"] or type(line["timestamp"]) is not int:
                self.fault("timeline: invalid line: %s" % line)
        stated = re.search(r"(\d+) rows? without a time", self.errors)
        if int(stated.group(1) if stated else 0) != timeless:
            self.fault("timeline: %d rows without a time, but the program reports %s" % (timeless, stated))


def cases(folder):
    """Returns the cases of a folder.

    If the oracles name their captures, as those of backups do, all other files in the folder are ignored.
    """
    oracles = {name: read_oracle(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
               if re.fullmatch(r"expected-.*\.json", name)}
    named = [oracle for oracle in oracles.values() if isinstance(oracle, dict) and "input" in oracle]
    if named:
        return [Case(os.path.join(folder, oracle["input"]), oracle) for oracle in named if oracle["input"] != "-"]
    found = [Case.of_log(os.path.join(folder, oracle["inputs"][0]), oracle)
             for oracle in oracles.values() if isinstance(oracle, dict) and "entries" in oracle]
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        requests = os.path.join(path, "expected-requests.json")
        if os.path.exists(requests):
            found.append(Case.of_sift(path, read_oracle(requests)))
        elif name not in oracles and not re.fullmatch(r"(?i)manifest\.json|.*\.txt", name):
            found.append(Case(path, oracles.get("expected-%s.json" % name)))
    return found


def faults_of(program, case):
    """Returns the differences between the outputs of the program and the expected ones."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(program, case, folder)
        run.check()
        return run.faults


def main(program, folder):
    found = cases(folder)
    joinable = [case for case in found if case.is_joinable]
    runs = [case for case in found if not case.is_joinable] + ([Case.joining(joinable)] if joinable else [])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [fault for faults in pool.map(lambda case: faults_of(program, case), runs) for fault in faults]
    for fault in faults:
        print(fault)
    print("%d captures in %d runs, %d faults" % (len(found), len(runs), len(faults)))
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
