"""The changes that `evidence` makes.

`KINDS` contains a function for each kind of change. It is called with a copy of the chain and a generator of random numbers.
`ACCEPTED` contains a function for each variant of the chain that the audit must accept. It is called with a copy of the chain.
"""

import json
import os

from bundles import Bundle, sha256, to_json
from chain import NIGHTS, PACKER, PACKING, RECEIPTS, RECEIVER, RECEIVING, SIGNATURES, STRANGER, count_deliveries

# The positions of the type of a member and of the target of a link in a tar header.
TYPE, LINK = 156, slice(157, 257)


def other_character(choice, text):
    """Returns a string in which one character is another letter or digit."""
    index = choice.randrange(len(text))
    return text[:index] + choice.choice([letter for letter in "0123456789abcdef" if letter != text[index]]) + text[index + 1:]


def leaves(value):
    """Yields the container and the key of each string, number and Boolean in a JSON value."""
    for key, element in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(element, (dict, list)):
            yield from leaves(element)
        elif element not in (None, ""):
            yield value, key


def change_leaf(choice, value):
    container, key = choice.choice(list(leaves(value)))
    element = container[key]
    if isinstance(element, bool):
        container[key] = not element
    elif isinstance(element, str):
        container[key] = other_character(choice, element)
    else:
        container[key] = element + 1


# Changes of bytes and files

def changed_byte(chain, choice):
    name = choice.choice(sorted(chain.files))
    data = bytearray(chain.files[name])
    data[choice.randrange(len(data))] ^= choice.randint(1, 255)
    chain.files[name] = bytes(data)


def cut_file(chain, choice):
    name = choice.choice(sorted(chain.files))
    chain.files[name] = chain.files[name][:choice.randrange(len(chain.files[name]))]


def inserted_bytes(chain, choice):
    """Inserts bytes anywhere, or appends a line break."""
    name = choice.choice(sorted(chain.files))
    data = chain.files[name]
    start, more = choice.choice([(choice.randrange(len(data)), choice.randbytes(choice.randint(1, 9))), (len(data), b"\n")])
    chain.files[name] = data[:start] + more + data[start:]


def removed_file(chain, choice):
    del chain.files[choice.choice(sorted(chain.files))]


def added_file(chain, choice):
    """Adds a copy of a file under another name."""
    name = choice.choice(sorted(chain.files))
    chain.files[choice.choice(["wednesday.tar.zst", "monday.tar.zst", "monday.tar.zst.003", "other.json", name + "~"])] = (
        chain.files[name])


def swapped_files(chain, choice):
    first, second = choice.sample(sorted(chain.files), 2)
    chain.files[first], chain.files[second] = chain.files[second], chain.files[first]


def swapped_volumes(chain, choice):
    """Swaps the volumes of a bundle. In half of the cases, the list of volumes is updated."""
    first, second = chain.parts(NIGHTS[0])
    chain.files[first], chain.files[second] = chain.files[second], chain.files[first]
    if choice.random() < 0.5:
        chain.list_volumes(NIGHTS[0])


def swapped_receipts(chain, _):
    """Swaps the receipts of both bundles with their signatures."""
    for suffix in (".json", ".json.sig"):
        first, second = (night + suffix for night in NIGHTS)
        chain.files[first], chain.files[second] = chain.files[second], chain.files[first]


def older_bundle(chain, choice):
    """Replaces the newer bundle by the older one, also with the signature and the receipt of the older one."""
    older, newer = NIGHTS
    chain.put(newer, chain.data(older))
    for suffix in [".tar.zst.sig", ".json", ".json.sig"][:choice.choice([0, 1, 3])]:
        chain.files[newer + suffix] = chain.files[older + suffix]


def linked_copy(data):
    """Returns a function that creates a file next to the chain, and a link to it."""
    def create(path):
        target = os.path.join(os.path.dirname(path), os.pardir, "target")
        with open(target, "wb") as stream:
            stream.write(data)
        os.symlink(target, path)
    return create


def special_file(chain, choice):
    """Replaces a file by a link to a copy, a FIFO or a folder. In some cases, the name is hidden and the file is kept."""
    name = choice.choice(sorted(chain.files))
    create = choice.choice([linked_copy(chain.files[name]), os.mkfifo, os.mkdir])
    if choice.random() < 0.25:
        name = choice.choice([".", ".."]) + name
    chain.files.pop(name, None)
    chain.special_files[name] = create


# Changes by people without an accepted key

def changed_receipt(chain, choice):
    name = choice.choice(RECEIPTS)
    statement = chain.statement(name)
    change_leaf(choice, statement)
    chain.files[name] = to_json(statement)


def space_in_receipt(chain, choice):
    """Adds white space that does not change the meaning of the JSON."""
    name = choice.choice(RECEIPTS)
    marks = [index + 1 for index, byte in enumerate(chain.files[name]) if byte in b"{[:,"]
    place = choice.choice(marks)
    data = chain.files[name]
    # A mark inside of a string is followed by the space, too, which is also a change.
    chain.files[name] = data[:place] + b" " + data[place:]


def change_records(choice, bundle):
    """Changes, removes or repeats a record, and updates the manifest."""
    segment = choice.choice(bundle.segments())
    lines = segment.data.splitlines(keepends=True)
    index = choice.randrange(len(lines))
    record = json.loads(lines[index])
    change = choice.choice(["payload", "id", "time", "removed", "repeated"])
    if change == "removed":
        del lines[index]
    elif change == "repeated":
        lines.append(lines[index])
    else:
        if change == "payload":
            change_leaf(choice, record["payload"])
        else:
            record[change] = other_character(choice, record[change] or "0")
        lines[index] = to_json(record)
    segment.data = b"".join(lines)
    bundle.update_manifest()


def repack(chain, choice, change):
    """Applies a change to a bundle, and updates everything that no signature protects. Returns the night of the bundle."""
    night = choice.choice(NIGHTS)
    bundle = Bundle(chain.data(night))
    change(choice, bundle)
    chain.put(night, bundle.pack())
    for name in RECEIPTS:
        chain.update_receipt(name)
    return night


def changed_record(chain, choice):
    repack(chain, choice, change_records)


def removed_parent(chain, _):
    bundle = Bundle(chain.data(NIGHTS[1]))
    bundle.manifest.update(parents=[], omitted=dict.fromkeys(bundle.manifest["omitted"], 0))
    bundle.update_digest()
    chain.put(NIGHTS[1], bundle.pack())
    for name in RECEIPTS:
        chain.update_receipt(name)


def other_signer(chain, choice):
    """Replaces a signature by one of another key or for another namespace. In half of the cases, the signed file is changed."""
    if choice.random() < 0.5:
        changed_record(chain, choice)
    if choice.random() < 0.5:
        key, namespace = choice.choice(
            [(STRANGER, "pingferry-bundle"), (RECEIVER, "pingferry-bundle"), (PACKER, "pingferry-receipt")])
        chain.sign_bundle(choice.choice(NIGHTS), key, namespace)
    else:
        name = choice.choice(RECEIPTS)
        usual_key, usual_namespace = SIGNATURES[name]
        other_namespaces = [namespace for namespace in PACKING + RECEIVING if namespace != usual_namespace]
        key, namespace = choice.choice(
            [(STRANGER, usual_namespace), (PACKER if usual_key == RECEIVER else RECEIVER, usual_namespace),
             (usual_key, choice.choice(other_namespaces))])
        chain.sign_receipt(name, key, namespace)


# Changes by accepted signers

def signed_by_packer(chain, choice):
    """The packer signs a receipt of the receiver, or both, with each kind of list of signers."""
    chain.list_signers(*choice.choice([
        [("ines@example.org", PACKING, PACKER), ("ravi@example.org", RECEIVING, RECEIVER)],
        [("ines@example.org", PACKING, PACKER), ("ravi@example.org", RECEIVING, PACKER)],
        [("ravi@example.org", RECEIVING, PACKER), ("ines@example.org", PACKING, PACKER), ("ravi@example.org", RECEIVING, RECEIVER)],
        [("ines@example.org,ravi@example.org", PACKING + RECEIVING, PACKER), ("ravi@example.org", [], RECEIVER)],
        [("ines@example.org", [], PACKER), ("ravi@example.org", [], RECEIVER)]]))
    for name in choice.choice([RECEIPTS[2:], RECEIPTS[2:3], RECEIPTS[3:]]):
        chain.sign_receipt(name, PACKER)


def signed_by_receiver(chain, choice):
    """The receiver signs a receipt of creation. The list of signers does not restrict the namespaces."""
    chain.list_signers(("ines@example.org", [], PACKER), ("ravi@example.org", [], RECEIVER))
    chain.sign_receipt(choice.choice(RECEIPTS[:2]), RECEIVER)


def packed_again_by_packer(chain, choice):
    """The packer signs a bundle with other records, and a new receipt. The receiver's receipts are unchanged."""
    former = {name: chain.files[name] for name in RECEIPTS[2:]}
    night = repack(chain, choice, change_records)
    chain.files.update(former)
    chain.sign_bundle(night)
    chain.sign_receipt(night + ".json")


def changed_verification(chain, choice):
    """The receiver signs a receipt of a verification that differs from the bundles."""
    statement = chain.statement("verified.json")
    bundles = statement["predicate"]["bundles"]
    bundle = choice.choice(bundles)
    change = choice.choice(["digest", "result", "totals", "principal", "key", "removed", "subject", "kind"])
    if change == "digest":
        bundle["digest"] = other_character(choice, bundle["digest"])
    elif change == "result":
        bundle["result"] = choice.choice(["bad", "incomplete"])
    elif change == "totals":
        change_leaf(choice, bundle["totals"])
    elif change == "principal":
        bundle["signer"]["principal"] = choice.choice(["ravi@example.org", "ines@old.example.org", "ines@example.org\n", None])
    elif change == "key":
        bundle["signer"]["key"] = other_character(choice, bundle["signer"]["key"])
    elif change == "removed":
        bundles.remove(bundle)
    elif change == "subject":
        change_leaf(choice, statement["subject"])
    else:
        statement["predicate"]["command"] = "bundle"
    chain.files["verified.json"] = to_json(statement)
    chain.sign_receipt("verified.json")


def changed_delivery(chain, choice):
    """The receiver signs a delivery receipt that differs from the bundles, or whose counts differ from its records."""
    statement = chain.statement("delivered.json")
    predicate = statement["predicate"]
    records = predicate["records"]
    index = choice.randrange(len(records))
    change = choice.choice(["digest", "subject", "removed", "repeated", "record", "bundle", "outcome", "outcomes"])
    if change == "digest":
        bundle = choice.choice(predicate["bundles"])
        bundle["digest"] = other_character(choice, bundle["digest"])
    elif change == "subject":
        change_leaf(choice, statement["subject"])
    elif change == "removed":
        del records[index]
    elif change == "repeated":
        records.append(records[index])
    elif change == "record":
        key = choice.choice(["id", "sha256", "system", "type"])
        records[index][key] = other_character(choice, records[index][key])
    elif change == "bundle":
        records[index]["bundle"] = 1 - records[index]["bundle"]
    elif change == "outcome":
        records[index]["outcome"] = "refused"
    else:
        counted = choice.choice([predicate, *predicate["bundles"]])
        if choice.random() < 0.5:
            counted["total"] += 1
        else:
            change_leaf(choice, counted["outcomes"])
    chain.files["delivered.json"] = to_json(statement)
    chain.sign_receipt("delivered.json")


def claimed_delivery(chain, choice):
    """The receiver signs a delivery receipt with correct counts, but with an outcome that contradicts itself or a bundle."""
    statement = chain.statement("delivered.json")
    records = statement["predicate"]["records"]
    delivered = choice.choice([record for record in records if record["outcome"] == "delivered"])
    change = choice.choice(["time", "status", "outcome", "held", "final", "released", "missing"])
    if change == "time":
        delivered["outcome"] = choice.choice(["delivered", "refused"])
        delivered["time"] = choice.choice(
            [None, "", "today", 0, "2026-06-01", "2026-06-01T02:00:00.000", "2026-06-01T02:00:00+02:00", "2026-02-30T02:00:00Z"])
    elif change == "status":
        delivered["status"] = choice.choice([None, 0, 199, 300, 404, "200"])
    elif change == "outcome":
        delivered["outcome"] = choice.choice(["Delivered", "delivered ", "", None])
    elif change == "released":
        delivered["released"] = choice.choice([["schema"], ["pending-events"], None])
    elif change == "missing":
        del choice.choice(records)["released"]
    else:
        held = choice.choice([record for record in records if record["outcome"] == "held"])
        held.update({key: delivered[key] for key in ("outcome", "reason", "status", "time")})
        held["released"] = choice.choice([[], ["schema"]]) if change == "held" else ["pending-events"]
    count_deliveries(statement["predicate"])
    chain.files["delivered.json"] = to_json(statement)
    chain.sign_receipt("delivered.json")


def joined_lines(chain, choice):
    """The receiver signs a receipt in which a string with line breaks contains several hashes, and their entries are removed."""
    name = choice.choice([*RECEIPTS[2:], "records"])
    statement = chain.statement("delivered.json" if name == "records" else name)
    if name == "records":
        predicate = statement["predicate"]
        first, *_, last = predicate["records"]
        names = json.dumps([last[key] for key in ("system", "type", "id")], separators=(",", ":"))
        first["sha256"] += "\n%s %s %s" % (predicate["bundles"][last["bundle"]]["digest"], names, last["sha256"])
        predicate["records"].remove(last)
        count_deliveries(predicate)
        name = "delivered.json"
    else:
        first, *others = statement["subject"]
        first["name"] += "".join("\n%s  %s" % (other["digest"]["sha256"], other["name"]) for other in others)
        statement["subject"] = [first]
    chain.files[name] = to_json(statement)
    chain.sign_receipt(name)


def change_manifest(choice, bundle):
    """Changes something in a bundle that contradicts the rest of the bundle."""
    manifest = bundle.manifest
    change = choice.choice(["hash", "count", "expression", "totals", "digest", "parents", "member", "inputs"])
    if change == "hash":
        entry = choice.choice(manifest["members"])
        entry["sha256"] = other_character(choice, entry["sha256"])
    elif change == "count":
        manifest["segments"][0]["records"] += 1
    elif change == "expression":
        # Shells evaluate a string in an arithmetic expression, and run the commands in it.
        manifest["segments"][0]["records"] = "%d+0" % manifest["segments"][0]["records"]
    elif change == "totals":
        change_leaf(choice, manifest["totals"])
    elif change == "digest":
        manifest["digest"] = other_character(choice, manifest["digest"])
    elif change == "parents":
        manifest["parents"] = [sha256(choice.randbytes(8))]
        bundle.update_digest()
    elif change == "member":
        del bundle.members[choice.randrange(1, len(bundle.members))]
        bundle.update_digest()
    else:
        manifest["inputs"][0]["label"] = other_character(choice, manifest["inputs"][0]["label"])


def signed_contradiction(chain, choice):
    """All signers sign a bundle that contradicts itself, and receipts that agree with it."""
    chain.sign_all(repack(chain, choice, change_manifest))


def change_member_type(choice, bundle):
    """Replaces a member that contains no records by an empty file that is a link or a FIFO."""
    member = choice.choice([member for member in bundle.members if not member.path.startswith("records/")])
    header = bytearray(member.header)
    header[TYPE] = ord(choice.choice("126"))
    header[LINK] = b"/dev/null".ljust(100, b"\0")
    member.header, member.data = bytes(header), b""
    bundle.update_hashes()


def signed_special_member(chain, choice):
    """All signers sign a bundle with a member that is not a regular file, and receipts that agree with it."""
    chain.sign_all(repack(chain, choice, change_member_type))


def signed_fork(chain, choice):
    """All signers sign a bundle that does not continue the bundle before it, and receipts that agree with it."""
    removed_parent(chain, choice)
    chain.sign_all(NIGHTS[1])


def signed_result(chain, choice):
    """The packer signs a receipt of creation with a result that no new bundle has."""
    name = choice.choice(RECEIPTS[:2])
    statement = chain.statement(name)
    statement["predicate"]["bundles"][0]["result"] = choice.choice(["bad", "good", "", None])
    chain.files[name] = to_json(statement)
    chain.sign_receipt(name)


def signed_repetition(chain, choice):
    """All signers sign an increment that repeats a record of its parent, and receipts that agree with it."""
    older, newer = (Bundle(chain.data(night)) for night in NIGHTS)
    line = choice.choice(older.segments()[0].data.splitlines(keepends=True))
    newer.segments()[0].data += line
    newer.update_manifest()
    chain.put(NIGHTS[1], newer.pack())
    chain.sign_all(NIGHTS[1])


KINDS = [
    changed_byte, cut_file, inserted_bytes, removed_file, added_file, swapped_files, swapped_volumes, swapped_receipts,
    older_bundle, special_file, changed_receipt, space_in_receipt, changed_record, removed_parent, other_signer, signed_by_packer,
    signed_by_receiver, packed_again_by_packer, changed_verification, changed_delivery, claimed_delivery, joined_lines,
    signed_contradiction, signed_special_member, signed_fork, signed_result, signed_repetition,
]


# Variants that are accepted

def unrestricted_signers(chain):
    chain.list_signers(("ines@example.org", [], PACKER), ("ravi@example.org", [], RECEIVER))


def two_lines_for_a_key(chain):
    """The line with the former principal does not permit any of the signatures. The receiver states the former principal once."""
    chain.list_signers(
        ("ines@older.example.org", ["git"], PACKER), ("ines@old.example.org", PACKING, PACKER),
        ("ines@example.org", PACKING, PACKER), ("ravi@example.org", RECEIVING, RECEIVER))
    statement = chain.statement("verified.json")
    statement["predicate"]["bundles"][0]["signer"]["principal"] = "ines@old.example.org"
    chain.files["verified.json"] = to_json(statement)
    chain.sign_receipt("verified.json")


def two_principals_in_a_line(chain):
    """The receipts state the second principal of the line."""
    chain.list_signers(("ines@old.example.org,ines@example.org", PACKING, PACKER), ("ravi@example.org", RECEIVING, RECEIVER))


def change_delivered_record(chain, fields, entry_fields):
    """Changes fields of a delivered record, and of its entry in the delivery receipt. All signers sign."""
    bundle = Bundle(chain.data(NIGHTS[1]))
    segment = bundle.segments()[0]
    records = [json.loads(line) for line in segment.data.splitlines()]
    record = next(record for record in records if not record["held"])
    statement = chain.statement("delivered.json")
    entry = next(entry for entry in statement["predicate"]["records"] if entry["bundle"] == 1 and entry["id"] == record["id"])
    record.update(fields)
    entry.update(entry_fields)
    segment.data = b"".join(map(to_json, records))
    bundle.update_manifest()
    chain.put(NIGHTS[1], bundle.pack())
    chain.files["delivered.json"] = to_json(statement)
    chain.sign_all(NIGHTS[1])


def released_record(chain):
    """The operator released a record that was held for three reasons, two of which have the same code."""
    change_delivered_record(
        chain, {"held": ["too-few-events: 1", "schema: $.v", "schema: $.seq"]}, {"released": ["too-few-events", "schema"]})


def filtered_bundle(chain):
    bundle = Bundle(chain.data(NIGHTS[1]))
    bundle.manifest["filters"] = {"since": "2026-06-01", "system": ["mozilla"]}
    chain.put(NIGHTS[1], bundle.pack())
    chain.sign_all(NIGHTS[1])


def delivered_list(chain):
    """Other requests delivered all events of a list, so that no status is known."""
    change_delivered_record(chain, {"system": "sift"}, {"system": "sift", "status": None})


ACCEPTED = [unrestricted_signers, two_lines_for_a_key, two_principals_in_a_line, filtered_bundle, released_record, delivered_list]
