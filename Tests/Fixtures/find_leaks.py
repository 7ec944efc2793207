#!/usr/bin/env python3
"""Searches pseudonymized outputs for personal values.

    find_leaks.py LABEL RECORDS SCAN OUTPUT…
    find_leaks.py --values VALUES OUTPUT…

Collects all personal values from the original records RECORDS and from the summary SCAN of a scan, and searches each OUTPUT for
them. LABEL is the label of the capture, which is also a personal value. With `--values`, searches for the lines of the file VALUES
instead, regardless of case. An OUTPUT is a file, a folder, an SQLite database or a folder of Parquet files. Prints the number of values
and the values that were found as JSON.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from output_text import text_of

# The keys whose values are personal.
PERSONAL = set("""
    account attribution callback_params campaign campaignId client clientId client_id deeplink deviceId deviceName
    device_host_name device_ifa device_ifv device_kernel_uuid device_name distributionId email enrollment_id
    external_device_id fb_anon_id fb_id fields fxauid id info initial_device_ifv install_receipt installation_id
    iosPushToken latitude longitude message mobile_carrier_name network_addresses newUserId partner_params path push_token
    receipt referrer reqId session_id stackTrace state token trafficSource transaction_id userId user_id uuid
    window_root_view_controller_titles
    """.split())
# The keys of a record whose values belong to the app or the format.
HARMLESS = {"app", "store", "system", "type", "held", "notes"}
# Values that occur below a personal key, but are documented words elsewhere.
COMMON = {"(detect)", "background", "example", "foreground", "mobile_events", "/api", "/v3/links/ping-centre", "unknown"} | set("""
    /ad_revenue /disable_third_party_sharing /event /gdpr_forget_device /measurement_consent /reattribute /revenue /sdk_click
    /sdk_info /session session /startup /third_party_sharing /v2/purchase /verify
    """.split())
# Strings that are personal below any key: UUIDs, long hexadecimal numbers, IP addresses, e-mail addresses, and paths of stores.
SUSPECT = re.compile(
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-fA-F]{32,}|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"
    r"|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}|(?:Documents|Library|Containers)/[^\" ]+")
# The minimum length of a value to search for.
MIN_LENGTH = 6


def collect(value, is_personal, found):
    """Adds the personal values in a JSON value to the set `found`. `is_personal` states whether the value is below a personal
    key."""
    if isinstance(value, dict):
        # In a Sift event, `metrics` contains values of the app. In a Glean ping, it contains numbers.
        is_sift = "installation_id" in value or "ios_app_state" in value
        # In a package of Adjust, `device_name` is the model.
        harmless = HARMLESS | {"device_name"} if "app_token" in value or "created_at" in value else HARMLESS
        for key, inner in value.items():
            if key not in harmless:
                collect(inner, is_personal or key in PERSONAL or is_sift and key == "metrics", found)
    elif isinstance(value, list):
        for inner in value:
            collect(inner, is_personal, found)
    elif isinstance(value, str):
        if value.startswith("{"):
            try:
                collect(json.loads(value), is_personal, found)
            except (ValueError, RecursionError):
                pass
        found.update(SUSPECT.findall(value))
        if is_personal:
            found.add(value)
    elif isinstance(value, float) and is_personal:
        found.add(repr(value))


def search(outputs, forms, change=bytes):
    """Returns the names of outputs with the values that they contain. `forms` are the values by the bytes to search for."""
    leaks = {}
    # `grep` searches for all lines at once, but cannot search for line feeds.
    lines = [form for form in forms if b"\n" not in form]
    others = [form for form in forms if b"\n" in form]
    with tempfile.NamedTemporaryFile() as patterns:
        patterns.write(b"\n".join(lines))
        patterns.flush()
        for name in outputs:
            text = change(text_of(name))
            hits = sorted({forms[form] for form in others + found_lines(patterns.name, lines, text) if form in text})
            if hits:
                leaks[os.path.basename(name)] = [hit[:100] for hit in hits[:10]]
    return leaks


def found_lines(patterns, lines, text):
    """Returns `lines`, which are the lines of the file `patterns`, or an empty list if `text` contains none of them."""
    if not lines:
        return []
    command = ["grep", "--quiet", "--text", "--fixed-strings", "--file", patterns]
    status = subprocess.run(command, input=text, env={**os.environ, "LC_ALL": "C"}).returncode
    if status > 1:
        sys.exit("grep failed")
    return lines if status == 0 else []


def main():
    if sys.argv[1] == "--values":
        with open(sys.argv[2], encoding="utf-8") as lines:
            found = set(lines.read().lower().splitlines())
        leaks = search(sys.argv[3:], {value.encode(): value for value in found}, bytes.lower)
    else:
        found, forms = personal_values()
        leaks = search(sys.argv[4:], forms)
    print(json.dumps({"leaks": leaks, "values": len(found)}))


def personal_values():
    """Returns the personal values of the input, and the values by the bytes to search for."""
    sys.setrecursionlimit(10_000)
    label, records, scan = sys.argv[1:4]
    found = {label}
    # The values of `app` are not personal, although a version can look like an IP address.
    apps = set()
    with open(records, encoding="utf-8", errors="surrogatepass") as lines:
        for line in lines:
            record = json.loads(line)
            apps.update((record["app"] or {}).values())
            collect(record, False, found)
    with open(scan, encoding="utf-8") as stream:
        summary = json.load(stream)
    for entry in summary["problems"] + summary["quarantined"]:
        for key in ("capture", "path", "text", "reason"):
            if len(entry.get(key, "")) > 12:
                found.add(entry[key])
    found = {value for value in found if len(value) >= MIN_LENGTH and value not in COMMON | apps}
    forms = {}
    for value in found:
        # The value itself, and the value as part of a JSON string.
        forms[value.encode("utf-8", "surrogatepass")] = value
        forms[json.dumps(value, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")] = value
    return found, forms


if __name__ == "__main__":
    main()
