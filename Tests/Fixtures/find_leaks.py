#!/usr/bin/env python3
"""Finds values of people that come through: find_leaks.py LABEL RECORDS SCAN OUTPUT...

Takes all values that tell of a person from records as they are and from the summary of a scan, and looks for each in
outputs. Prints how many values it looked for, and those that it found, as JSON.
"""

import json
import re
import sys

# What stands below one of these keys must not come out.
PERSONAL = set("""
    account attribution campaign campaignId client clientId client_id deviceId deviceName device_host_name device_ifa
    device_ifv device_kernel_uuid device_name distributionId email enrollment_id fields fxauid id info
    initial_device_ifv installation_id iosPushToken latitude longitude message mobile_carrier_name network_addresses
    newUserId path reqId session_id stackTrace state token trafficSource userId user_id uuid
    window_root_view_controller_titles
    """.split())
# What stands here is of the app or of the format.
HARMLESS = {"app", "store", "system", "type", "held", "notes"}
# Texts that are under a personal key in one place and documented words in another.
COMMON = {"(detect)", "background", "foreground", "mobile_events", "/api", "/v3/links/ping-centre", "unknown"}
# UUIDs, long hexadecimal texts, addresses of networks and of mail, and paths of stores, wherever they stand.
SUSPECT = re.compile(
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-fA-F]{32,}|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"
    r"|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}|(?:Documents|Library|Containers)/[^\" ]+")
SHORTEST = 6


def collect(value, personal, found):
    if isinstance(value, dict):
        # Where Sift has what an app measures itself, Glean has numbers under names.
        sift = "installation_id" in value or "ios_app_state" in value
        for key, inner in value.items():
            if key not in HARMLESS:
                collect(inner, personal or key in PERSONAL or sift and key == "metrics", found)
    elif isinstance(value, list):
        for inner in value:
            collect(inner, personal, found)
    elif isinstance(value, str):
        if value.startswith("{"):
            try:
                collect(json.loads(value), personal, found)
            except (ValueError, RecursionError):
                pass
        found.update(SUSPECT.findall(value))
        if personal:
            found.add(value)
    elif isinstance(value, float) and personal:
        found.add(repr(value))


def main():
    sys.setrecursionlimit(10_000)
    label, records, scan, outputs = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    found = {label}
    # A version may look like an address of a network.
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
    found = {value for value in found if len(value) >= SHORTEST and value not in COMMON | apps}
    forms = {}
    for value in found:
        # As it stands in a text, and as it stands in JSON.
        forms[value.encode("utf-8", "surrogatepass")] = value
        forms[json.dumps(value, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")] = value
    leaks = {}
    for name in outputs:
        with open(name, "rb") as stream:
            text = stream.read()
        hits = sorted({value for form, value in forms.items() if form in text})
        if hits:
            leaks[name.rsplit("/", 1)[-1]] = [hit[:100] for hit in hits[:10]]
    print(json.dumps({"leaks": leaks, "values": len(found)}))


if __name__ == "__main__":
    main()
