#!/usr/bin/env python3
"""Links the clients in two pseudonymized exports of one fleet by the positions of their rows.

    link_rows.py PINGFERRY FOLDER

Writes a fleet to FOLDER, and exports its records with two keys and times that are rounded to days. Clients and records are recognized
with the keys, which readers of the exports do not have. Prints a JSON object with these members for each table of each format, and for a
report. Rows that are sorted by a visible value, such as the system, are compared in groups with equal values.

- clients: the number of clients in both exports
- groups: the number of groups with more than one client
- matches: the number of clients that are the n-th different client of their group in both exports, for the same n; by chance, 1 for
  each group
- correlation: the rank correlation of the clients in both orders; by chance, 0
- pairs, same: the number of pairs of records of one client, and the share of them in the same order in both exports; by chance, 0.5
"""

import hashlib
import hmac
import json
import os
import re
import sqlite3
import subprocess
import sys
import uuid

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tables"))
import mixed_fleet

KEYS = (b"a key that is no secret, for tests", b"another key that is no secret, for tests")


def pseudonym(key, name, value):
    """Returns the pseudonym of a value of the class `name`, as the article "Pseudonyms" specifies it."""
    is_uuid = re.fullmatch(r"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value)
    message = name.encode() + b"\0" + (value.lower() if is_uuid else value).encode()
    bits = bytearray(hmac.new(key, message, hashlib.sha256).digest()[:16])
    if not is_uuid:
        return bits.hex()
    bits[6], bits[8] = bits[6] & 0x0F | 0x80, bits[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(bits)))


def lines(path):
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def rows_of_tables(tables):
    """Yields the rows of each table that belong to clients: the visible value by which they are sorted, the client, and the id of a
    record, if they have one."""
    records = {str(row["record"]): ("", row["client"], row["id"]) for row in tables["records"]}
    for name, rows in tables.items():
        if rows and "record" in rows[0]:
            yield name, [records[str(row["record"])] for row in rows]
        elif rows and "client" in rows[0]:
            # The tables `clients` and `gaps` are sorted by system.
            yield name, [(row["system"], row["client"], None) for row in rows]


def read_sqlite(path):
    base = sqlite3.connect(path)
    base.row_factory = sqlite3.Row
    names = [name for (name,) in base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()]
    return dict(rows_of_tables({name: [dict(row) for row in base.execute('SELECT * FROM "%s"' % name)] for name in names}))


def read_ndjson(path):
    return {"lines": [("", record["client"], record["id"]) for record in lines(path)]}


def read_timeline(path):
    return {"lines": [(row["datetime"], row.get("client"), row["record_id"]) for row in lines(path)]}


def read_report(path):
    with open(path, encoding="utf-8") as stream:
        rows = re.findall(r'<tr><th scope="row"><code title=".*?</tr>', stream.read(), re.S)
    # Clients are sorted by their number of records, and then by system.
    found = []
    for row in rows:
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        found.append(((cells[6], cells[3]), re.search('title="([^"]*)"', cells[0])[1], None))
    return {"page": found}


FORMATS = {
    "sqlite": ("convert", "out.sqlite", read_sqlite),
    "ndjson": ("convert", "out.ndjson", read_ndjson), "timeline": ("convert", "out.timeline.jsonl", read_timeline),
    "bundle": ("bundle", "out.tar.zst", None), "report": ("report", "out.html", read_report)}


def run(program, *arguments):
    finished = subprocess.run([program, *arguments], stderr=subprocess.PIPE)
    # Status 1 is expected, because the fleet contains damaged stores.
    assert finished.returncode in (0, 1), "%s: %s" % (arguments, finished.stderr.decode())


def export(program, command, output, reader, captured, key):
    run(program, command, "-q", "-o", output, "--pseudonymize", key, "--coarsen-times", "day", captured)
    if reader is None:
        run(program, "convert", "-q", "-o", output + ".ndjson", output)
        return read_ndjson(output + ".ndjson")
    return reader(output)


def original(rows, names):
    """Replaces the pseudonyms in rows, and leaves out the rows without a client."""
    clients, ids = names
    return [(group, clients[client], ids.get(identity)) for group, client, identity in rows if client in clients]


def orders_of_clients(rows):
    """Returns the different clients of each group in the order of their first rows."""
    groups = {}
    for group, client, _ in rows:
        groups.setdefault(group, {})[client] = None
    return groups


def share_in_same_order(rows):
    """Returns the number of pairs of records of one client, and the share of them in the same order in both exports."""
    by_client = [{}, {}]
    for part, found in zip(rows, by_client):
        for _, client, identity in dict.fromkeys(part):
            found.setdefault(client, []).append(identity)
    pairs = same = 0
    for client, identities in by_client[0].items():
        ranks = {identity: rank for rank, identity in enumerate(by_client[1].get(client, []))}
        known = [ranks[identity] for identity in identities if identity is not None and identity in ranks]
        for end, rank in enumerate(known):
            pairs += end
            same += sum(1 for other in known[:end] if other < rank)
    return pairs, same / pairs if pairs else 0.5


def compare(rows):
    """Compares the orders of the clients and records in two exports."""
    groups = [orders_of_clients(part) for part in rows]
    result = {"clients": 0, "groups": 0, "matches": 0, "correlation": 0}
    for group, first in groups[0].items():
        # A report lists only the clients with the most records, of which some have equally many.
        second = [client for client in groups[1].get(group, []) if client in first]
        first = [client for client in first if client in second]
        count = len(first)
        if count > 1:
            places = {client: place for place, client in enumerate(second)}
            distance = sum((place - places[client]) ** 2 for place, client in enumerate(first))
            result["clients"] += count
            result["groups"] += 1
            result["matches"] += sum(1 for pair in zip(first, second) if pair[0] == pair[1])
            result["correlation"] += count * (1 - 6 * distance / (count * (count * count - 1)))
    result["correlation"] /= max(1, result["clients"])
    result["pairs"], result["same"] = share_in_same_order(rows)
    return result


def main():
    program, folder = sys.argv[1:]
    fleet = os.path.join(folder, "fleet")
    mixed_fleet.make_fleet(fleet, 1)
    # The lines have the order of the captures, and are read faster.
    captured = os.path.join(folder, "plain.ndjson")
    run(program, "convert", "-q", "-o", captured, fleet)
    plain = lines(captured)
    keys, names = [], []
    for number, key in enumerate(KEYS):
        keys.append(os.path.join(folder, "key-%d" % number))
        with open(os.open(keys[-1], os.O_CREAT | os.O_WRONLY, 0o600), "wb") as stream:
            stream.write(key)
        # The case of letters in the id of a client is ignored, as in the tables.
        names.append((
            {pseudonym(key, "client", record["client"]): record["client"].lower() for record in plain if record["client"]},
            {pseudonym(key, "document", record["id"]): record["id"] for record in plain}))
    results = {}
    for name, (command, output, reader) in FORMATS.items():
        found = [export(program, command, os.path.join(folder, "%d-%s" % (number, output)), reader, captured, key)
                 for number, key in enumerate(keys)]
        for table in found[0]:
            rows = [original(part[table], names[number]) for number, part in enumerate(found)]
            results["%s %s" % (name, table)] = compare(rows)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
