"""Installed Debian packages, and the licenses that their copyright files state."""

import functools
import os
import re
import subprocess
import urllib.parse

# The SPDX identifiers of the short names of copyright files that differ from them. A suffix "+" is replaced by "-or-later".
IDENTIFIERS = {
    "apache-2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "curl": "curl",
    "expat": "MIT",
    "gpl-2": "GPL-2.0",
    "gpl-3": "GPL-3.0",
    "isc": "ISC",
    "lgpl-2": "LGPL-2.0",
    "lgpl-2.1": "LGPL-2.1",
    "lgpl-3": "LGPL-3.0",
    "zlib": "Zlib",
}
# The licenses of source packages whose copyright file is not machine-readable, or uses a name of its own. A version in the name of
# the package is omitted.
EXPRESSIONS = {
    "bzip2": "bzip2-1.0.6",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libxml2": "MIT",
    "sqlite3": "blessing",
}
# Licenses that are not valid without the text of another one.
INCLUDED = {"LGPL-3": "GPL-3", "LGPL": "GPL"}
COMMON_LICENSES = "/usr/share/common-licenses"


class DebianPackage:
    """An installed package, with its source package."""

    def __init__(self, name):
        self.name, self.version, self.architecture, self.source, self.source_version = installed()[name]

    @property
    def url(self):
        """The package URL. Source: purl specification, type "deb"."""
        distribution = release_fields()
        return "pkg:deb/%s/%s@%s?arch=%s&distro=%s" % (
            distribution["ID"], urllib.parse.quote(self.name), urllib.parse.quote(self.version, safe=":"), self.architecture,
            "-".join(distribution[key] for key in ("ID", "VERSION_ID") if key in distribution))

    @property
    def location(self):
        """The address of the source package in Debian's archive of all versions, or `None` on other distributions."""
        if release_fields()["ID"] != "debian":
            return None
        return "https://snapshot.debian.org/package/%s/%s/" % (urllib.parse.quote(self.source), urllib.parse.quote(self.source_version))

    @property
    def copyright(self):
        with open("/usr/share/doc/%s/copyright" % self.name, encoding="utf-8") as stream:
            return stream.read()

    @property
    def license(self):
        """The SPDX expression of the license of most files in the source package, or `None` if it is not known."""
        known = EXPRESSIONS.get(re.sub(r"-[0-9.]+$", "", self.source))
        return known or expression(self.copyright)

    @property
    def common_licenses(self):
        """The names of the files in the folder of common licenses that the copyright file refers to."""
        names = {name.rstrip(".") for name in re.findall(COMMON_LICENSES + r"/([A-Za-z0-9.-]+)", self.copyright)}
        names |= {INCLUDED[name] for name in names if name in INCLUDED}
        return sorted(name for name in names if os.path.isfile(os.path.join(COMMON_LICENSES, name)))


def output(*command):
    """Runs a command and returns its standard output."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


@functools.cache
def installed():
    """Returns the fields of all installed packages by the names of the packages, with and without the architecture."""
    fields = "${db:Status-Status}\t${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n"
    packages = {}
    for line in output("dpkg-query", "--show", "--showformat=" + fields).splitlines():
        status, *package = line.split("\t")
        if status == "installed":
            # A package can be installed for several architectures. The first one is that of this machine.
            packages.setdefault(package[0], package)
            packages[package[0] + ":" + package[2]] = package
    return packages


def release_fields():
    """Returns the fields that identify the distribution, such as `ID` and `VERSION_ID`."""
    with open("/etc/os-release", encoding="utf-8") as stream:
        return dict(line.strip().replace('"', "").split("=", 1) for line in stream if "=" in line)


def owners(paths):
    """Returns the packages that installed files, in the order of their names."""
    # The database may contain the path from before /lib was merged into /usr/lib.
    candidates = {path: (path, path.removeprefix("/usr")) for path in map(os.path.realpath, paths)}
    found = subprocess.run(
        ["dpkg-query", "--search", *{candidate for pair in candidates.values() for candidate in pair}],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8").stdout
    packages = {path: names.split(",")[0] for names, path in (line.split(": ", 1) for line in found.splitlines())}
    names = set()
    for path, pair in candidates.items():
        name = packages.get(pair[0]) or packages.get(pair[1])
        if not name:
            raise SystemExit("%s: no Debian package contains this file" % path)
        names.add(name)
    return [DebianPackage(name) for name in sorted(names)]


def owner(path):
    """Returns the package that installed a file."""
    return owners([path])[0]


def expression(text):
    """Returns the SPDX expression of the license of `Files: *` in a machine-readable copyright file.

    Returns `None` if the file is not machine-readable or the license has no standard name. Source: DEP-5, "License field".
    """
    paragraphs = re.split(r"\n\s*\n", text)
    every = next((part for part in paragraphs if re.search(r"^Files:\s*\*\s*$", part, re.M)), "")
    stated = re.search(r"^License:[ \t]*(\S.*)$", every, re.M)
    if not stated:
        return None
    words = []
    for word in re.split(r"\s+(or|and)\s+", stated[1].strip()):
        if word in ("or", "and"):
            words.append(word.upper())
            continue
        identifier = IDENTIFIERS.get(word.lower().removesuffix("+"))
        if not identifier:
            return None
        if "GPL" in identifier:
            identifier += "-or-later" if word.endswith("+") else "-only"
        words.append(identifier)
    return " ".join(words)
