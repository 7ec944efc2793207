"""A chain of evidence whose files can be changed, packed and signed again."""

import collections
import json
import os
import subprocess

from bundles import Bundle, sha256, to_json

NIGHTS = ["monday", "tuesday"]
RECEIPTS = ["monday.json", "tuesday.json", "verified.json", "delivered.json"]
# The keys of the two accepted signers and of another person.
PACKER, RECEIVER, STRANGER = "ines", "ravi", "mallory"


class Chain:
    """The files of a chain of evidence, and the folder with the keys of the signers."""

    def __init__(self, files, keys):
        self.files, self.keys = files, keys

    def copy(self):
        return Chain(dict(self.files), self.keys)

    def write(self, folder):
        for name, data in self.files.items():
            with open(os.path.join(folder, name), "wb") as stream:
                stream.write(data)

    def parts(self, night):
        """Returns the names of the file or of the volumes of a bundle."""
        name = night + ".tar.zst"
        return sorted(file for file in self.files if file.startswith(name + ".0")) or [name]

    def data(self, night):
        return b"".join(self.files[part] for part in self.parts(night))

    def put(self, night, data):
        """Replaces the bytes of a bundle, which keeps its number of volumes, and updates the list of the volumes."""
        *parts, last = self.parts(night)
        for part in parts:
            size = len(self.files[part])
            self.files[part], data = data[:size], data[size:]
        self.files[last] = data
        self.list_volumes(night)

    def list_volumes(self, night):
        name = night + ".tar.zst.sha256"
        if name in self.files:
            lines = ["%s  %s\n" % (sha256(self.files[part]), part) for part in self.parts(night)]
            self.files[name] = "".join(lines).encode()

    def sign_bundle(self, night, key=PACKER, namespace="pingferry-bundle"):
        self.files[night + ".tar.zst.sig"] = self.signature(self.data(night), key, namespace)

    def sign_receipt(self, name, key=None, namespace="pingferry-receipt"):
        key = key or (PACKER if name.removesuffix(".json") in NIGHTS else RECEIVER)
        self.files[name + ".sig"] = self.signature(self.files[name], key, namespace)

    def signature(self, data, key, namespace):
        return subprocess.run(
            ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", os.path.join(self.keys, key)], input=data,
            stdout=subprocess.PIPE, check=True).stdout

    def statement(self, name):
        return json.loads(self.files[name])

    def update_receipt(self, name):
        """Updates a receipt as if a program had written it for the bundles."""
        statement = self.statement(name)
        nights = [name.removesuffix(".json")] if name.removesuffix(".json") in NIGHTS else NIGHTS
        statement["subject"] = [
            {"name": part, "digest": {"sha256": sha256(self.files[part])}} for night in nights for part in self.parts(night)]
        bundles = [Bundle(self.data(night)) for night in nights]
        for entry, bundle in zip(statement["predicate"]["bundles"], bundles):
            entry["digest"] = bundle.manifest["digest"]
        if "records" in statement["predicate"]:
            update_deliveries(statement["predicate"], bundles)
        else:
            for entry, bundle in zip(statement["predicate"]["bundles"], bundles):
                entry["totals"] = bundle.manifest["totals"]
        self.files[name] = to_json(statement)


def identity(record):
    return record["system"], record["type"], record["id"]


def outcomes(entries):
    """Returns the numbers of records with each outcome, in the form of a delivery receipt."""
    counts = collections.Counter((entry["outcome"], entry["reason"], entry["status"]) for entry in entries)
    return [{"outcome": outcome, "reason": reason, "status": status, "records": count}
            for (outcome, reason, status), count in counts.items()]


def update_deliveries(predicate, bundles):
    """Updates the records of a delivery receipt and their counts. New records have the outcome of the first record."""
    former = {(entry["bundle"], *identity(entry)): entry for entry in predicate["records"]}
    first = predicate["records"][0]
    predicate["records"] = []
    for index, bundle in enumerate(bundles):
        entries = [
            {**former.get((index, *identity(record)), first), "bundle": index, "sha256": sha256(to_json(record["payload"])[:-1]),
             **{key: record[key] for key in ("system", "type", "id")}} for record in bundle.records()]
        predicate["bundles"][index].update(outcomes=outcomes(entries), total=len(entries))
        predicate["records"] += entries
    predicate.update(outcomes=outcomes(predicate["records"]), total=len(predicate["records"]))
