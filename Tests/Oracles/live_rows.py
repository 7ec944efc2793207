"""Rows of Mozilla's live tables, made of records and schemas as the article "BigQuery rows" describes.

Unlike the program, this module changes dictionaries in place, as Mozilla's pipeline does, and finds words with regular expressions.
"""

import decimal
import json
import os
import re
import unicodedata
import zlib

HEADERS = {"date", "dnt", "x_debug_id", "x_foxsec_ip_reputation", "x_lb_tags", "x_pingsender_version", "x_source_tags", "x_telemetry_agent"}
URI = ["app_name", "app_version", "app_update_channel", "app_build_id"]
TEXTS = ["submission_timestamp", "document_id", "normalized_app_name", "normalized_channel", "normalized_os", "normalized_os_version",
         "normalized_country_code"]
APPS = ["Zerda_cn", "Zerda", "Focus-TV", "Focus", "Klar", "FirefoxReality_oculusvr", "FirefoxReality_googlevr", "FirefoxReality_wavevr",
        "FirefoxForFireTV", "FirefoxConnect", "Fennec", "Scryer", "WebXR", "Lockbox", "Firefox"]
CANARY = "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0"
ALIASES = {"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "STRUCT": "RECORD"}


class Refused(Exception):
    """A message that the pipeline would not write to a live table."""


class NoSchema(Exception):
    """A message without a schema."""


# Names, numbers and texts


def snake_case(name):
    words = re.sub(r"([A-Z]\d*)(?=[A-Z][a-z])", r"\1_", re.sub(r"([a-z]\d*)(?=[A-Z])", r"\1_", re.sub(r"[^A-Za-z0-9]+", "_", name)))
    return words.strip("_").lower()


def column_name(key):
    is_digit = key and ord(key[0]) < 0x10000 and unicodedata.category(key[0]) == "Nd"
    return ("_" if is_digit else "") + snake_case(key)


def read_real(text):
    number = float(text)
    return number if abs(number) != float("inf") else ("-Infinity" if number < 0 else "Infinity")


def read(text):
    """Parses JSON as the server does: integers keep their digits, and numbers beyond the range of doubles become strings."""
    return json.loads(text, parse_float=read_real)


def java_real(number):
    digits, exponent = decimal.Decimal(repr(number)).as_tuple()[1:]
    text = "".join(map(str, digits)).rstrip("0") or "0"
    sign = "-" if str(number).startswith("-") else ""
    if number == 0:
        return sign + "0.0"
    point = len(digits) + exponent
    text = text.lstrip("0")
    if len(text) == 1:
        two, power = ("%.1e" % abs(number)).split("e")
        if float("%se%s" % (two, power)) == abs(number):
            text, point = two.replace(".", "").rstrip("0"), int(power) + 1
    if -2 <= point <= 0:
        return sign + "0." + "0" * -point + text
    if 1 <= point <= 7:
        return sign + text[:point].ljust(point, "0") + "." + (text[point:] or "0")
    return "%s%s.%sE%d" % (sign, text[0], text[1:] or "0", point - 1)


def jackson(value):
    """Returns the JSON that Jackson writes."""
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (jackson(key), jackson(item)) for key, item in value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join(map(jackson, value))
    if isinstance(value, float):
        return java_real(value)
    if isinstance(value, str):
        escapes = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
        return '"%s"' % re.sub(r'[\0-\x1f"\\]', lambda found: escapes.get(found[0]) or "\\u%04X" % ord(found[0]), value)
    return json.dumps(value)


def as_text(value):
    """Returns a value as Jackson's `asText` does."""
    if isinstance(value, (dict, list)):
        return ""
    return value if isinstance(value, str) else jackson(value)


def is_uuid(text):
    parts = text.split("-")
    return len(text) <= 36 and len(parts) == 5 and all(
        re.fullmatch(r"\+?[0-9A-Fa-f]+", part) and int(part, 16) < 2**63 for part in parts)


# The row


def is_empty(value):
    return value is None or value == {} or value == []


class Transform:
    """The transform of an object for the fields of a schema."""

    def __init__(self, fields):
        self.fields = {field["name"]: field for field in fields}

    def apply(self, parent, rest):
        for key in list(parent):
            value = parent[key]
            if key in ("url", "text", "jwe", "labeled_rate") and key + "2" in self.fields:
                del parent[key]
                name = key + "2"
            elif key in self.fields:
                name = key
            else:
                del parent[key]
                name = column_name(key)
            if name in self.fields:
                process(key, self.fields[name], value, parent, rest)
            else:
                rest[key] = value


def kind(field):
    return ALIASES.get(field["type"], field["type"]), field.get("mode", "NULLABLE")


def put(parent, key, field, value):
    if is_empty(value):
        parent.pop(key, None)
    else:
        parent[field["name"]] = value


def process(key, field, value, parent, rest):
    record = kind(field)[0] == "RECORD"
    repeated = kind(field)[1] == "REPEATED"
    names = [inner["name"] for inner in field.get("fields", [])]
    if value is None:
        put(parent, key, field, None)
    elif record and repeated and names in (["key", "value"], ["key"]):
        if isinstance(value, dict):
            process_map(key, field, value, parent, rest)
    elif record and repeated and names == ["list"] and kind(field["fields"][0])[1] == "REPEATED" and isinstance(value, list):
        process_nested(key, field, value, parent, rest)
    elif record and not repeated:
        if isinstance(value, list):
            value = process_tuple(key, field, value, rest)
        elif isinstance(value, dict):
            inner = {}
            Transform(field["fields"]).apply(value, inner)
            if inner:
                rest[key] = inner
        put(parent, key, field, value)
    elif record:
        put(parent, key, field, process_records(key, field, value, rest))
    else:
        converted = convert(value, field)
        put(parent, key, field, converted)
        if converted is None:
            rest[key] = value


def process_map(key, field, value, parent, rest):
    inner, entries = {}, []
    for name, item in value.items():
        entry = {}
        if len(field["fields"]) == 2:
            process(name, field["fields"][1], item, entry, inner)
        else:
            inner[name] = item
        entry["key"] = name
        entries.append(entry)
    if inner:
        rest[key] = inner
    parent[field["name"]] = entries


def process_nested(key, field, value, parent, rest):
    rests, entries = [], []
    for item in value:
        entry, inner = {}, {}
        process("list", field["fields"][0], item, entry, inner)
        entries.append(entry)
        rests.append(inner.get("list"))
    parent[field["name"]] = entries
    if any(item is not None for item in rests):
        rest[key] = rests


def process_tuple(key, field, value, rest):
    record, inner = {"f%d_" % index: item for index, item in enumerate(value)}, {}
    Transform(field["fields"]).apply(record, inner)
    if inner:
        rest[key] = [inner.get("f%d_" % index) for index in range(len(value))]
    return record


def process_records(key, field, value, rest):
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if all(isinstance(item, list) for item in items):
        if not isinstance(value, list):
            raise Refused("not a list: " + field["name"])
        rests, records = [], []
        for item in items:
            inner = {}
            records.append(process_tuple(key, field, item, inner))
            rests.append(inner.get(key, {}))
    else:
        rests, records = [], []
        for item in items:
            inner = {}
            if isinstance(item, dict):
                Transform(field["fields"]).apply(item, inner)
                records.append(item)
                rests.append(inner)
            else:
                records.append({})
                rests.append(item)
    if any(item != {} for item in rests):
        rest[key] = rests
    return records


def convert(value, field):
    if kind(field)[1] != "REPEATED":
        return convert_one(value, field)
    if not isinstance(value, list):
        return None
    converted = [convert_one(item, field) for item in value]
    if any(item is None for item in converted):
        raise Refused("list element: " + field["name"])
    return converted


def convert_one(value, field):
    name = kind(field)[0]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "STRING":
        if isinstance(value, dict) and field["name"].startswith("use_counter2") and value.get("histogram_type") == 2 \
                and value.get("sum") == (value.get("values") or {}).get("1", 0):
            return str(value["sum"])
        return value if isinstance(value, str) else jackson(value)
    if name == "INT64":
        return int(value) if isinstance(value, int) and -2**63 <= value < 2**63 else None
    if name == "FLOAT64":
        return value if is_number else int(value) if isinstance(value, bool) else None
    if name == "BOOL":
        return value if isinstance(value, bool) else None
    return value


def checked(value, field, path=""):
    """Returns a value as it is loaded, without unknown keys. Raises an error if it does not match the field."""
    path = (path + "." + field["name"]).lstrip(".")
    if kind(field)[1] == "REPEATED":
        if not isinstance(value, list):
            raise Refused("not a list: " + path)
        return [checked_one(item, field, path) for item in value]
    return checked_one(value, field, path)


def checked_one(value, field, path):
    name = kind(field)[0]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "RECORD":
        if not isinstance(value, dict):
            raise Refused("not a record: " + path)
        return checked_record(value, field["fields"], path)
    accepted = {
        "STRING": isinstance(value, str), "INT64": is_number and isinstance(value, int), "FLOAT64": is_number,
        "BOOL": isinstance(value, bool), "JSON": True,
        "TIMESTAMP": is_number or isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value, re.A),
    }
    if not accepted.get(name, is_number or isinstance(value, str)):
        raise Refused("not %s: %s" % (name, path))
    return str(value) if name == "INT64" and abs(value) >= 2**53 else value


def checked_record(value, fields, path=""):
    record = {}
    for field in fields:
        if value.get(field["name"]) is not None:
            record[field["name"]] = checked(value[field["name"]], field, path)
        elif kind(field)[1] == "REQUIRED":
            raise Refused("missing: " + (path + "." + field["name"]).lstrip("."))
    return record


def transformed(payload, fields, metadata=None):
    """Returns the row of a payload that contains the keys of the attributes, and the text of the rest."""
    rest = {}
    Transform(fields).apply(payload, rest)
    if metadata is not None:
        payload["metadata"] = metadata
    if any(field["name"] == "additional_properties" for field in fields):
        payload["additional_properties"] = jackson(rest)
    return checked_record(payload, fields), jackson(rest)


# The decoder


def attributes_of(target):
    path = target["path"].partition("?")[0]
    prefix, names = ("/submit/telemetry/", ["document_id", "document_type", *URI]) if path.startswith("/submit/telemetry/") else (
        "/submit/", ["document_namespace", "document_type", "document_version", "document_id"])
    if not path.startswith(prefix):
        raise Refused("uri")
    parts = path[len(prefix):].split("/")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    if len(parts) != len(names):
        raise Refused("uri: %d part%s, not %d" % (len(parts), "" if len(parts) == 1 else "s", len(names)))
    found = {"document_namespace": "telemetry", **dict(zip(names, parts))}
    if not is_uuid(found["document_id"]):
        raise Refused("uri: document id is not a UUID")
    for name, value in target.get("headers", {}).items():
        name = name.lower().replace("-", "_")
        if name in HEADERS:
            found[name] = value
    return found


def take_reserved(payload, found):
    metadata = payload.pop("metadata", None)
    if isinstance(metadata, dict):
        for section, prefix, names in (("geo", "geo_", None), ("isp", "isp_", None), ("user_agent", "user_agent_", None),
                                       ("header", "", HEADERS), ("uri", "", URI)):
            members = metadata.get(section)
            for name, value in (members.items() if isinstance(members, dict) else ()):
                if value is not None and (names is None or name in names):
                    found[prefix + name] = as_text(value)
        for name in ("document_namespace", "document_type", "document_version"):
            if isinstance(metadata.get(name), str):
                found[name] = metadata[name]
    for name in TEXTS:
        value = payload.pop(name, None)
        if isinstance(value, str):
            found[name] = value
    if "sample_id" in payload:
        found["sample_id"] = as_text(payload.pop("sample_id"))


def normalize_client(payload, found):
    info = payload.get("client_info")
    for parent, name in ((info, "client_id"), (payload, "client_id"), (payload, "clientId")):
        value = parent.get(name) if isinstance(parent, dict) else None
        if isinstance(value, str) and is_uuid(re.sub("[{}]", "", value)):
            parent[name] = found["client_id"] = re.sub("[{}]", "", value).lower()
            return


def scrub(payload, found):
    namespace, name, app = found["document_namespace"], found["document_type"], found.get("app_name")
    if name in ("account-ecosystem", "pageload-domain"):
        raise Refused("unwanted: " + name)
    if namespace in ("mozilla-lockbox", "viu-politica"):
        raise Refused("unwanted: " + namespace)
    if app == "FirefoxOS":
        raise Refused("unwanted: FirefoxOS")
    if namespace == "telemetry" and (name in ("pioneer-study", "frecency-update", "saved-session", "modules")
                                     or name in ("main", "event") and app != "Firefox"):
        raise Refused("unwanted: " + name)
    if namespace == "firefox-desktop" and not found.get("x_telemetry_agent", "").startswith("Glean"):
        raise Refused("unwanted: firefox-desktop")
    build = payload["client_info"].get("telemetry_sdk_build") if isinstance(payload.get("client_info"), dict) else None
    if namespace == "mozillavpn" and name == "main" and re.match(r"0\.(\d|1[0-6])(\.|$)", build if isinstance(build, str) else ""):
        raise Refused("mozillavpn")
    if found.get("client_id") == CANARY:
        raise Refused("canary client id")
    version = found.get("app_version", "")
    if namespace == "telemetry" and name == "focus-event" and app == "Lockbox" \
            and (version == "1.7.0" or re.fullmatch(r"1\.[0-6][0-9.]*", version)):
        for event in payload.get("events") or []:
            if isinstance(event, list) and len(event) > 5 and isinstance(event[5], dict) and "fxauid" in event[5]:
                event[5]["fxauid"] = None


def add_attributes(payload, found):
    def text(parent, name, attribute):
        if isinstance(parent.get(name), str) and parent[name]:
            found[attribute] = parent[name]
    info, system = payload.get("client_info"), payload
    for name in ("environment", "system", "os"):
        system = system.get(name) if isinstance(system, dict) else None
    if isinstance(info, dict):
        text(info, "app_channel", "app_update_channel")
        text(info, "os", "os")
        text(info, "os_version", "os_version")
    elif isinstance(system, dict):
        text(system, "name", "os")
        text(system, "version", "os_version")
    else:
        text(payload, "release_channel", "app_update_channel")
        text(payload, "os", "os")
        text(payload, "osversion", "os_version")
    if "client_id" in found:
        found["sample_id"] = str(zlib.crc32(found["client_id"].encode()) % 100)
    if "app_name" in found:
        found["normalized_app_name"] = next((app for app in APPS if found["app_name"].startswith(app)), "Other")
    if "app_update_channel" in found:
        name = found["app_update_channel"]
        found["normalized_channel"] = name if name in ("release", "esr", "beta", "aurora", "nightly") else \
            "nightly" if name.startswith("nightly-cck-") else "beta" if name.startswith("beta") else "Other"
    if "os" in found:
        rules = [("^(Windows|WINNT)", "Windows"), ("^Darwin", "Mac"), ("Linux|BSD|SunOS|Solaris", "Linux"), ("^iOS|iPhone", "iOS"),
                 ("^Android", "Android"), ("", "Other")]
        found["normalized_os"] = next(name for rule, name in rules if re.search(rule, found["os"]))
    if "os_version" in found:
        numbers = re.fullmatch("([0-9]+(?:\\.[0-9]+){0,2})[^\n\r\x85\u2028\u2029]*", found["os_version"])
        found["normalized_os_version"] = numbers[1] if numbers else ""
    if "geo_country" in found:
        code = found["geo_country"].upper()
        found["normalized_country_code"] = code if re.fullmatch("[A-Z][A-Z]", code) else "Other"


def metadata_of(found):
    def section(prefix):
        return {name[len(prefix):]: value for name, value in found.items() if name.startswith(prefix)}
    metadata = {"geo": section("geo_"), "isp": section("isp_"), "user_agent": section("user_agent_"),
                "header": {name: found[name] for name in HEADERS if name in found}}
    if found["document_namespace"] == "telemetry":
        metadata["uri"] = {name: found[name] for name in URI if name in found}
    return metadata


class Schemas:
    """The schemas of a folder."""

    def __init__(self, folder):
        self.tables = {}
        for namespace in os.listdir(folder):
            inner = os.path.join(folder, namespace)
            for name in os.listdir(inner) if os.path.isdir(inner) else ():
                for file in os.listdir(os.path.join(inner, name)):
                    version = file[len(name) + 1:-len(".bq")]
                    with open(os.path.join(inner, name, file), encoding="utf-8") as stream:
                        self.tables[snake_case(namespace), snake_case(name), version] = json.load(stream)

    def row(self, target, payload, size, delivered=None):
        """Returns the name of the table and the row of a payload, which is changed. Raises `Refused` or `NoSchema`."""
        if size > 8 << 20:
            raise Refused("larger than 8 MiB")
        found = attributes_of(target)
        if delivered:
            found["submission_timestamp"] = delivered
        take_reserved(payload, found)
        normalize_client(payload, found)
        scrub(payload, found)
        namespace, name = snake_case(found["document_namespace"]), snake_case(found["document_type"])
        if not any(table[:2] == (namespace, name) for table in self.tables):
            raise NoSchema()
        if "document_version" not in found:
            versions = [payload[key] for key in ("version", "v") if key in payload and not isinstance(payload[key], (dict, list))]
            if not versions:
                raise Refused("no version")
            found["document_version"] = as_text(versions[0])
        fields = self.tables.get((namespace, name, found["document_version"]))
        if fields is None:
            raise NoSchema()
        add_attributes(payload, found)
        row = {key: found[key] for key in TEXTS if key in found}
        if re.fullmatch(r"[+-]?\d+", found.get("sample_id", ""), re.A) and -2**31 <= int(found["sample_id"]) < 2**31:
            row["sample_id"] = int(found["sample_id"])
        table = "%s.%s_v%s" % (namespace, name, found["document_version"].replace("-", "_"))
        return table, found["document_id"], transformed({**row, **payload}, fields, metadata_of(found))[0]
