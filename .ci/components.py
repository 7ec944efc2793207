"""The components of the release: Swift packages, the Swift toolchain, and C libraries, with versions, licenses and hashes."""

import dataclasses
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess

from debian_packages import DebianPackage, output, owner

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The list of the libraries that the linker used for the static program.
ARCHIVES = os.path.join(ROOT, ".build/static/archives")
SWIFT_LICENSE = "Apache-2.0 WITH Swift-exception"
# The prefixes of the names of libraries in the toolchain that contain code under another license than the toolchain.
OTHER_SWIFT_LICENSES = {"lib_FoundationICU": "Unicode-3.0", "libclang_rt": "Apache-2.0 WITH LLVM-exception"}


@dataclasses.dataclass
class Component:
    """Code that a program is linked with, or the tool that built it.

    `url` is a package URL, `license` an SPDX expression or `None`. `commit` is the commit in `repository`. `files` contains the name
    and the SHA-256 of each linked file. `texts` contains the license texts by their names.
    """
    name: str
    version: str
    url: str
    license: str | None
    texts: dict[str, str]
    repository: str | None = None
    commit: str | None = None
    package: DebianPackage | None = None
    files: list[tuple[str, str]] = dataclasses.field(default_factory=list)


def file_hash(path):
    """Returns the SHA-256 of a file in hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def read_texts(folder, names):
    """Returns the contents of the files with one of the names, with or without a suffix, by the names of the files."""
    texts = {}
    for file in sorted(os.listdir(folder)):
        if os.path.splitext(file)[0] in names:
            with open(os.path.join(folder, file), encoding="utf-8") as stream:
                texts[file] = stream.read()
    return texts


@functools.cache
def swift_packages():
    """Returns the Swift packages that are linked into each program."""
    with open(os.path.join(ROOT, "Package.resolved"), encoding="utf-8") as stream:
        pins = json.load(stream)["pins"]
    components = []
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        repository = pin["location"].removesuffix(".git")
        version, commit = pin["state"]["version"], pin["state"]["revision"]
        texts = read_texts(os.path.join(ROOT, ".build/checkouts", pin["identity"]), ("LICENSE", "NOTICE"))
        has_exception = any("Runtime Library Exception to the Apache 2.0 License" in text for text in texts.values())
        components.append(Component(
            pin["identity"], version, "pkg:swift/%s@%s" % (re.sub("^[a-z]+://", "", repository), version),
            SWIFT_LICENSE if has_exception else None, texts, repository, commit))
    return components


def toolchain_folder():
    """Returns the folder of the Swift toolchain, which contains the folder `usr`."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swift")))))


@functools.cache
def toolchain_version():
    """Returns the version of the Swift toolchain and the name of its release, such as `6.2` and `swift-6.2-RELEASE`."""
    return re.search(r"Swift version (\S+) \((\S+?)\)", output("swift", "--version")).groups()


def swift_component(name, license, files):
    """Returns a component of the Swift toolchain."""
    version, release = toolchain_version()
    texts = read_texts(os.path.join(toolchain_folder(), "usr/share/swift"), ("LICENSE",))
    return Component(name, version, "pkg:github/swiftlang/swift@" + release, license, texts, files=files)


@functools.cache
def toolchain():
    """Returns the Swift toolchain, with the hash of the compiler."""
    compiler = os.path.realpath(os.path.join(toolchain_folder(), "usr/bin/swift-frontend"))
    return swift_component("swift", SWIFT_LICENSE, [("swift-frontend", file_hash(compiler))])


def swift_runtime(archives=()):
    """Returns the libraries of the toolchain that are linked into a program. `archives` contains their paths, if they are known."""
    files = sorted((os.path.basename(path), file_hash(path)) for path in archives)
    others = {license for prefix, license in OTHER_SWIFT_LICENSES.items() if any(name.startswith(prefix) for name, _ in files)}
    return swift_component("swift-runtime", " AND ".join([SWIFT_LICENSE, *sorted(others)]), files)


def debian_component(package):
    """Returns the component that a Debian package contains."""
    return Component(
        package.name, package.version, package.url, package.license, {"copyright": package.copyright}, package=package)


@functools.cache
def dynamic_libraries(program):
    """Returns the libraries that are loaded when a program starts. `program` is the path of the program."""
    stated = output(os.path.join(ROOT, ".ci/dependencies"), program)
    names = sorted(re.sub(r"[ (|:].*", "", part.strip()) for part in stated.split(","))
    return [debian_component(DebianPackage(name)) for name in names]


@functools.cache
def static_libraries():
    """Returns the libraries that are linked into the static program, including the Swift runtime."""
    with open(ARCHIVES, encoding="utf-8") as stream:
        paths = sorted({os.path.realpath(os.path.join(ROOT, line.strip())) for line in stream if line.strip()})
    runtime, packages = [], {}
    for path in paths:
        if path.startswith(toolchain_folder() + "/"):
            runtime.append(path)
        # The build folder contains only libraries of this project and of Swift packages.
        elif not path.startswith(ROOT + "/"):
            package = owner(path)
            component = packages.setdefault(package.name, debian_component(package))
            component.files.append((os.path.basename(path), file_hash(path)))
    return [swift_runtime(runtime)] + [packages[name] for name in sorted(packages)]


def commit():
    """Returns the current commit."""
    return output("git", "-C", ROOT, "rev-parse", "HEAD").strip()


def is_modified():
    """Returns whether tracked files differ from the current commit."""
    return subprocess.run(["git", "-C", ROOT, "diff", "--quiet", "HEAD"]).returncode != 0


def write_json(path, value):
    """Writes a value as JSON with sorted keys."""
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(value, stream, indent=2, sort_keys=True, ensure_ascii=False)
        stream.write("\n")
