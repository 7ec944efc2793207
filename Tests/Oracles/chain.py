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
# The key and the namespace with which each receipt is signed.
SIGNATURES = {
    "monday.json": (PACKER, "pingferry-receipt"), "tuesday.json": (PACKER, "pingferry-receipt"),
    "verified.json": (RECEIVER, "pingferry-received"), "delivered.json": (RECEIVER, "pingferry-delivered")}
# The namespaces in which each accepted signer may sign.
PACKING, RECEIVING = ["pingferry-bundle", "pingferry-receipt"], ["pingferry-received", "pingferry-delivered"]


class Chain:
    """The files of a chain of evidence, the list of accepted signers, and the folder with the keys of the signers.

    `special_files` contains a function for the path of each file that is not a regular file. The function creates the file.
    """

    def __init__(self, files, signers, keys, special_files=()):
        self.files, self.signers, self.keys, self.special_files = files, signers, keys, dict(special_files)

    def copy(self):
        return Chain(dict(self.files), self.signers, self.keys, self.special_files)

    def write(self, folder):
        """Writes the list of signers to the file `signers` in a folder, and the chain to the folder `chain`."""
        os.mkdir(os.path.join(folder, "chain"))
        files = {os.path.join("chain", name): data for name, data in self.files.items()}
        for name, data in {**files, "signers": self.signers}.items():
            with open(os.path.join(folder, name), "wb") as stream:
                stream.write(data)
        for name, create in self.special_files.items():
            create(os.path.join(folder, "chain", name))

    def list_signers(self, *lines):
        """Replaces the list of signers. A line consists of principals, a list of namespaces that can be empty, and a key."""
        self.signers = b""
        for principals, namespaces, key in lines:
            with open(os.path.join(self.keys, key + ".pub"), "rb") as stream:
                words = [principals, *(['namespaces="%s"' % ",".join(namespaces)] if namespaces else []), ""]
                self.signers += " ".join(words).encode() + stream.read()

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

    def sign_receipt(self, name, key=None, namespace=None):
        usual_key, usual_namespace = SIGNATURES[name]
        self.files[name + ".sig"] = self.signature(self.files[name], key or usual_key, namespace or usual_namespace)

    def sign_all(self, night):
        """Signs a bundle, and updates and signs all receipts."""
        self.sign_bundle(night)
        for name in RECEIPTS:
            self.update_receipt(name)
            self.sign_receipt(name)

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
    """Updates the records of a delivery receipt and their numbers. New records have the outcome of the first record."""
    former = {(entry["bundle"], *identity(entry)): entry for entry in predicate["records"]}
    first = predicate["records"][0]
    predicate["records"] = []
    for index, bundle in enumerate(bundles):
        entries = [
            {**former.get((index, *identity(record)), first), "bundle": index, "sha256": sha256(to_json(record["payload"])[:-1]),
             **{key: record[key] for key in ("system", "type", "id")}} for record in bundle.records()]
        predicate["records"] += entries
    count_deliveries(predicate)


def count_deliveries(predicate):
    """Updates the numbers of records in a delivery receipt."""
    for index, bundle in enumerate(predicate["bundles"]):
        entries = [entry for entry in predicate["records"] if entry["bundle"] == index]
        bundle.update(outcomes=outcomes(entries), total=len(entries))
    predicate.update(outcomes=outcomes(predicate["records"]), total=len(predicate["records"]))
