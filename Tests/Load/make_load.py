#!/usr/bin/env python3
"""Writes a large capture for benchmarks, with one app container full of ping files for each client.

    make_load.py OUTDIR [--containers 1250] [--pings 100000] [--seed 1]

OUTDIR must not exist or must be empty. The same arguments always give the same output, because no clock is read.
Only the standard library is used. By default, the capture has 100,000 files with about 180 MB.

Each folder OUTDIR/Containers/Data/Application/<UUID>/ is one container, with its metadata file, its preferences and
its store of ping files in the form S3. Half of the pings are core pings, and half are focus-event or mobile-event
pings. The files have the format that Foundation writes.
"""

import argparse
import datetime
import hashlib
import json
import os
import plistlib
import random
import sys
import uuid

FOCUS_SETTINGS = {
    "prefKeyEngine": "Google", "BlockAds": "true", "BlockAnalytics": "true", "BlockSocial": "true",
    "BlockOther": "false", "BlockFonts": "false", "BiometricLogin": "false", "enableSearchSuggestions": "true"}
FIREFOX_SETTINGS = {
    "profile.blockPopups": "true", "profile.saveLogins": "true", "profile.showClipboardBar": "false",
    "profile.settings.closePrivateTabs": "false", "profile.ASPocketStoriesVisible": "true",
    "profile.ASBookmarkHighlightsVisible": "true", "profile.ASRecentHighlightsVisible": "true",
    "profile.prefkey.trackingprotection.normalbrowsing": "true",
    "profile.prefkey.trackingprotection.privatebrowsing": "true",
    "profile.prefkey.trackingprotection.strength": "basic", "prefKeyAutomaticSwitchOnOff": "false",
    "prefKeyAutomaticSliderValue": "0", "prefKeyThemeName": "normal", "prefKeySystemThemeSwitchOnOff": "true",
    "defaultSearchEngine": "google", "windowWidth": "375", "windowHeight": "812"}

# Each event has a method, an object, and optionally a value and extras. The category of all events is `action`.
FOCUS_EVENTS = (
    ("type_url", "search_bar"), ("type_query", "search_bar"), ("select_query", "search_bar"),
    ("click", "erase_button"), ("click", "website_link"), ("click", "settings_button"), ("click", "find_next"),
    ("open", "find_in_page_bar"), ("close", "find_in_page_bar"), ("open", "tracking_protection_drawer"),
    ("open", "menu", "firefox"), ("open", "request_handler", "external link"), ("share", "tracker_stats_share_button"),
    ("change", "setting", "BlockSocial", {"to": "false"}), ("change", "tracking_protection_toggle", None, {"to": "true"}))
FIREFOX_EVENTS = (
    ("tap", "reader-mode-open-button"), ("add", "bookmark", "page-action-menu"), ("press", "tab-tray"),
    ("close-all", "tab"), ("add", "reading-list-item", "reader-mode-toolbar"), ("view", "bookmarks-panel"),
    ("change", "setting", "showClipboardBar", {"pref": "showClipboardBar", "to": "true"}),
    ("tap", "pocket-story", None, {"slide-num": "2"}))
WEBXR_EVENTS = (
    ("tap", "record_picture_button"), ("tap", "record_video_button"), ("tap", "release_video_button"))

FOCUS_MORE = {"defaultSearch": "Google"}
FIREFOX_MORE = {
    "defaultSearch": "unknown", "defaultNewTabExperience": "TopSites", "defaultMailClient": "mailto:",
    "systemTheme": "dark", "openTabCount": 14, "settings": {"crashedLastLaunch": 0}}
WEBXR_MORE = {"defaultSearch": "unknown"}


class App:
    def __init__(self, bundle, name, version, channel, build, data, kind, settings, events, engines, more):
        self.bundle, self.name, self.data, self.kind = bundle, name, data, kind
        self.release = r"%s\/%s\/%s\/%s?v=4" % (name, version, channel, build)
        self.settings, self.events, self.engines, self.more = settings, events, engines, more


FOCUS = App("org.mozilla.ios.Focus", "Focus", "8.1.3", "release", "4236", "Documents", "focus-event",
            FOCUS_SETTINGS, FOCUS_EVENTS, ("actionbar.Google", "actionbar.DuckDuckGo", "actionbar.custom"), FOCUS_MORE)
KLAR = App("org.mozilla.ios.Klar", "Klar", "8.1.3", "release", "4237", "Documents", "focus-event",
           FOCUS_SETTINGS, FOCUS_EVENTS, ("actionbar.Google", "actionbar.Wikipedia"), FOCUS_MORE)
FIREFOX = App("org.mozilla.ios.Firefox", "Fennec", "24.1", "release", "18412", "Library/Caches", "mobile-event",
              FIREFOX_SETTINGS, FIREFOX_EVENTS, ("actionbar.google", "suggestion.google", "quicksearch.other"), FIREFOX_MORE)
WEBXR = App("org.mozilla.ios.XRViewer", "WebXR", "1.17", "Release", "5", "Library/Caches", "mobile-event",
            {}, WEBXR_EVENTS, (), WEBXR_MORE)
APPS = (FOCUS, FIREFOX, KLAR, FOCUS, FIREFOX, FOCUS, WEBXR, FIREFOX)

PHONES = (("iPhone10,4", "13.3.1"), ("iPhone11,8", "13.4.1"), ("iPhone9,3", "12.4.6"), ("iPhone12,1", "13.4"),
          ("iPad7,3", "13.3"), ("iPhone10,6", "13.3.1"))
PLACES = (("en-US", -240), ("en-US", -420), ("de-DE", 120), ("fr-FR", 120), ("en-GB", 60), ("ja-JP", 540), ("pt-BR", -180))
FIRST_DAY = 1585699200  # 2020-04-01T00:00:00Z
EPOCH_DAY = datetime.date(1970, 1, 1)


def sort_key(key):
    """Returns the sort key of a dictionary key.

    Foundation orders keys by hashes that are equal in all processes, so that equal keys always have the same order."""
    return hashlib.sha256(key.encode()).digest()


def foundation_json(value, indent=""):
    """Returns JSON as Foundation pretty-prints it: two spaces, ` : `, `\\/`, and keys in the order of their hashes."""
    inner = indent + "  "
    if isinstance(value, dict):
        items = ['%s"%s" : %s' % (inner, key, foundation_json(value[key], inner)) for key in sorted(value, key=sort_key)]
        opening, closing = "{", "}"
    elif isinstance(value, (list, tuple)):
        items = [inner + foundation_json(item, inner) for item in value]
        opening, closing = "[", "]"
    elif isinstance(value, str):
        return '"%s"' % value.replace("/", "\\/")  # no other character in here needs an escape
    else:
        return json.dumps(value)
    return opening + "\n" + (",\n".join(items) if items else "") + "\n" + indent + closing


def ping_file(body, kind, app, stamp, rng):
    """Returns a ping file: an object with five members, one of which is the JSON text `body`."""
    document = identifier(rng)
    members = {
        "timestamp": "%.17g" % stamp, "documentId": '"%s"' % document, "pingType": '"%s"' % kind,
        "uploadPath": r'"\/submit\/telemetry\/%s\/%s\/%s"' % (document, kind, app.release), "measurements": body}
    return "{\n" + ",\n".join('  "%s" : %s' % (key, members[key]) for key in sorted(members, key=sort_key)) + "\n}"


def identifier(rng):
    return str(uuid.UUID(int=rng.getrandbits(128), version=4)).upper()


def core(app, stamp, seq, rng):
    searches = {engine: rng.randrange(1, 6) for engine in app.engines if rng.random() < 0.5}
    return dict(
        app.more, v=7, seq=seq, created=str(EPOCH_DAY + datetime.timedelta(days=int(stamp // 86400))),
        sessions=rng.choice((1, 1, 1, 2)), durations=rng.randrange(5, 1800), searches=searches)


def event(app, stamp, seq, rng):
    """Returns an event ping of one process run, which sometimes begins with the last event of the previous run."""
    offset, events = rng.randrange(300), []
    if seq > 1 and rng.random() < 0.3:
        events.append([rng.randrange(60000, 600000), "action", "background", "app"])
    events.append([offset, "action", "foreground", "app"])
    if app is WEBXR:
        events.append([offset + 2900, "api", "webXR", "init"])
    for _ in range(rng.randrange(5, 26)):
        offset += rng.randrange(3000, 30000)
        events.append([offset, "action", *rng.choice(app.events)])
    now = int(stamp * 1000)
    return {"v": 1, "seq": seq, "created": now - rng.randrange(9), "processStartTimestamp": now - offset - 400,
            "settings": app.settings, "events": events}


def container(root, index, pings, rng):
    """Writes a container with `pings` ping files, which are alternately core and event pings."""
    app = APPS[index % len(APPS)]
    name, client = identifier(rng), identifier(rng)
    home = os.path.join(root, "Containers", "Data", "Application", name)
    device, system = rng.choice(PHONES)
    locale, tz = rng.choice(PLACES)
    common = {"clientId": client, "locale": locale, "os": "iOS", "osversion": system, "device": device,
              "arch": "arm64", "tz": tz}
    profile = rng.randrange(17300, 18350)
    kinds = ("core", app.kind)
    folders = [os.path.join(home, app.data, "MozTelemetry-Default-" + kind) for kind in kinds]
    for folder in folders + [os.path.join(home, "Library/Preferences")]:
        os.makedirs(folder)

    stamp = FIRST_DAY + rng.randrange(86400) + rng.random()
    seqs = [rng.randrange(400) for _ in kinds]
    for number in range(pings):
        which = number % 2
        stamp += rng.randrange(600, 20000) + rng.random() if which == 0 else 0.018
        seqs[which] += 1
        if which == 0:
            body = dict(core(app, stamp, seqs[0], rng), profileDate=profile, **common)
        else:
            body = dict(event(app, stamp, seqs[1], rng), **common)
        file = "-t-%.17g.json" % (stamp + rng.randrange(500, 4000) / 1e6)
        with open(os.path.join(folders[which], file), "w", encoding="utf-8", newline="") as stream:
            stream.write(ping_file(foundation_json(body, "  "), kinds[which], app, stamp, rng))

    prefix = "telemetry-key-prefix-"
    preferences = {prefix + "clientId": client, prefix + "sessions": 0, prefix + "durations": 0, prefix + "searches": {}}
    for kind, seq in zip(kinds, seqs):
        preferences[prefix + kind + "-seq"] = seq
    plist(os.path.join(home, "Library/Preferences", app.bundle + ".plist"), preferences)
    plist(os.path.join(home, ".com.apple.mobile_container_manager.metadata.plist"), {
        "MCMMetadataContentClass": 2, "MCMMetadataIdentifier": app.bundle, "MCMMetadataUUID": name})


def plist(path, values):
    with open(path, "wb") as stream:
        plistlib.dump(values, stream, fmt=plistlib.FMT_BINARY)


def main():
    parser = argparse.ArgumentParser(description="Write a large capture for benchmarks.")
    parser.add_argument("outdir")
    parser.add_argument("--containers", type=int, default=1250)
    parser.add_argument("--pings", type=int, default=100000, help="total number of ping files")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.containers < 1 or args.pings < 0:
        parser.error("--containers must be at least 1, and --pings at least 0")
    if os.path.exists(args.outdir) and (not os.path.isdir(args.outdir) or os.listdir(args.outdir)):
        parser.error("%s is not empty" % args.outdir)
    each, rest = divmod(args.pings, args.containers)
    for index in range(args.containers):
        rng = random.Random("%d/%d" % (args.seed, index))
        container(args.outdir, index, each + (index < rest), rng)


if __name__ == "__main__":
    sys.exit(main())
