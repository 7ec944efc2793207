"""Changes bytes of signed bundles, of their signatures and of the list of signers.

A changed bundle must never be accepted, neither by `verify` nor by an upload.
"""

import os
import subprocess

from campaign import Failure, first_line, read

# The name of the bundle of a case.
NAME = "signed.tar.zst"


def sign(campaign):
    """Returns the contents of a bundle, of its signature, and of a list that names its signer."""
    folder = campaign.new_folder()
    key, path = folder + "/key", folder + "/" + NAME
    with open(path, "wb") as file:
        file.write(read(campaign.samples()))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "pingferry-bundle", "-f", key, path], check=True,
                   stderr=subprocess.DEVNULL)
    return {NAME: read(path), NAME + ".sig": read(path + ".sig"), "signers": b"ines@example.org " + read(key + ".pub")}


def digest(done):
    """Returns the line of the output of `verify` that has the digest of the bundle."""
    return [line for line in done.stdout.splitlines() if line.startswith(b"digest ")]


def changes(campaign, part, count):
    """Changes one byte in each case."""
    files = sign(campaign)
    names = sorted(files)

    def write(folder, name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    def run(number, folder):
        choice = campaign.random(part, number)
        for name, data in files.items():
            write(folder, name, data)
        words = ["--signers", folder + "/signers", folder + "/" + NAME]
        whole = campaign.pingferry(folder, "verify", *words)
        if whole.returncode != 0:
            raise Failure("verify rejects the unchanged bundle: %s" % first_line(whole))
        name = names[number % len(names)]
        data = bytearray(files[name])
        data[choice.randrange(len(data))] ^= choice.randint(1, 255)
        write(folder, name, data)
        verified = campaign.pingferry(folder, "verify", *words)
        sent = campaign.run(folder, "pingferry-upload", "send", "--dry-run", "--ledger", folder + "/l.sqlite", *words)
        if verified.returncode == 0 or sent.returncode == 0:
            # A list can state the same in other bytes, such as another name of the signer. The contents are the same.
            if name != "signers" or digest(verified) != digest(whole) or sent.returncode != 0:
                raise Failure("a change of %s is accepted: verify %d, send %d" % (name, verified.returncode, sent.returncode))
            return "signers: same meaning"
        if verified.returncode != 65 or sent.returncode != 65:
            raise Failure("a change of %s ends with status %d of verify and %d of send: %s"
                          % (name, verified.returncode, sent.returncode, first_line(sent)))
        return name + ": rejected"
    campaign.each(part, campaign.cases(count), run)
