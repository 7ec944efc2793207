"""The components of the release: Swift packages, the Swift toolchain, and C libraries, with versions, licenses and hashes."""

import dataclasses
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess

from debian_packages import DebianPackage, output, owner, owners

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The paths of the libraries that are linked into the static program.
ARCHIVES = os.path.join(ROOT, ".build/static/archives")
SWIFT_LICENSE = "Apache-2.0 WITH Swift-exception"
# The components of the toolchain that programs are linked with: the name, the repository, the license, and the prefixes of the names of
# the libraries. The first matching line applies. swift-foundation builds lib_FoundationCollections from a copy of swift-collections.
SWIFT_COMPONENTS = (
    ("swift-corelibs-libdispatch", "swift-corelibs-libdispatch", SWIFT_LICENSE, ("libBlocksRuntime", "libdispatch", "libswiftDispatch")),
    ("swift-foundation-icu", "swift-foundation-icu", SWIFT_LICENSE + " AND Unicode-3.0", ("lib_FoundationICU",)),
    ("swift-foundation", "swift-foundation", SWIFT_LICENSE,
     ("libFoundationEssentials", "libFoundationInternationalization", "lib_FoundationCShims", "lib_FoundationCollections")),
    ("swift-corelibs-foundation", "swift-corelibs-foundation", SWIFT_LICENSE, ("libFoundation", "libCoreFoundation", "lib_CF")),
    ("swift-experimental-string-processing", "swift-experimental-string-processing", SWIFT_LICENSE,
     ("libswift_RegexParser", "libswift_StringProcessing", "libswiftRegexBuilder")),
    ("compiler-rt", "llvm-project", "Apache-2.0 WITH LLVM-exception", ("libclang_rt",)),
    ("swift-stdlib", "swift", SWIFT_LICENSE, ("libswift",)),
)


@dataclasses.dataclass
class Component:
    """Code that a program is linked with, or the tool that built it.

    `url` is a package URL, `license` an SPDX expression or `None`. `location` is the address of the source code, if it is known. `commit`
    is the commit in `repository`. `files` contains the name and the SHA-256 of each linked file. `texts` contains the license texts by
    their names.
    """
    name: str
    version: str
    url: str
    license: str | None
    texts: dict[str, str]
    location: str | None = None
    repository: str | None = None
    commit: str | None = None
    package: DebianPackage | None = None
    files: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    @property
    def concluded(self):
        """The license under which this project uses the component: the alternative that is not the GPL, if there is a choice."""
        alternatives = (self.license or "").split(" OR ")
        return next((alternative for alternative in alternatives if not alternative.startswith("GPL-")), self.license)

    @property
    def folder(self):
        """The name of the folder of the license texts. Debian packages that are built from the same source package share it."""
        return self.package.source if self.package else self.name


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
            SWIFT_LICENSE if has_exception else None, texts, "git+%s@%s" % (repository, commit), repository, commit))
    return components


def toolchain_folder():
    """Returns the folder of the Swift toolchain, which contains the folder `usr`."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swift")))))


@functools.cache
def toolchain_version():
    """Returns the version of the Swift toolchain and the name of its release, such as `6.2` and `swift-6.2-RELEASE`."""
    return re.search(r"Swift version (\S+) \((\S+?)\)", output("swift", "--version")).groups()


def swift_component(name, repository, license, files):
    """Returns a component of the Swift toolchain. All repositories of the toolchain have a tag with the name of the release."""
    _, release = toolchain_version()
    texts = read_texts(os.path.join(toolchain_folder(), "usr/share/swift"), ("LICENSE",))
    return Component(
        name, release, "pkg:github/swiftlang/%s@%s" % (repository, release), license, texts,
        "git+https://github.com/swiftlang/%s@%s" % (repository, release), files=files)


@functools.cache
def toolchain():
    """Returns the Swift toolchain, with the hash of the compiler."""
    compiler = os.path.realpath(os.path.join(toolchain_folder(), "usr/bin/swift-frontend"))
    return swift_component("swift", "swift", SWIFT_LICENSE, [("swift-frontend", file_hash(compiler))])


def debian_component(package):
    """Returns the component that a Debian package contains."""
    return Component(
        package.name, package.version, package.url, package.license, {"copyright": package.copyright}, package.location,
        package=package)


@functools.cache
def dynamic_libraries(program):
    """Returns the libraries that are loaded when a program starts. `program` is the path of the program."""
    stated = output(os.path.join(ROOT, ".ci/dependencies"), program)
    names = sorted(re.sub(r"[ (|:].*", "", part.strip()) for part in stated.split(","))
    return [debian_component(DebianPackage(name)) for name in names]


def linked_libraries(paths):
    """Returns the components that contain the static libraries at `paths`, without those of this project and of Swift packages."""
    toolchain, packages = {}, {}
    for path in sorted({os.path.realpath(path) for path in paths}):
        library = os.path.basename(path), file_hash(path)
        if path.startswith(toolchain_folder() + "/"):
            line = next((line[:3] for line in SWIFT_COMPONENTS if library[0].startswith(line[3])), None)
            if not line:
                raise SystemExit("%s: components.py does not state the component of this library" % path)
            toolchain.setdefault(line, []).append(library)
        # The build folder contains only libraries of this project and of Swift packages.
        elif not path.startswith(ROOT + "/"):
            package = owner(path)
            packages.setdefault(package.name, debian_component(package)).files.append(library)
    return [swift_component(*line, toolchain[line]) for line in sorted(toolchain)] + [packages[name] for name in sorted(packages)]


@functools.cache
def static_program_libraries():
    """Returns the libraries that are linked into the static program."""
    with open(ARCHIVES, encoding="utf-8") as stream:
        return linked_libraries(line.strip() for line in stream)


@functools.cache
def dynamic_program_libraries(name):
    """Returns the libraries that are linked into the program `name`, which loads other libraries when it starts."""
    with open(os.path.join(ROOT, ".build", name + ".map"), encoding="utf-8") as stream:
        return linked_libraries(re.findall(r"(/[^ ()]*\.a)\(", stream.read()))


def image_files(name):
    """Returns the paths of the files of Debian packages that the image of the program `name` contains in addition to it.

    These are ssh-keygen, which verifies signatures, the dynamic linker, and the libraries that it loads for both programs.
    """
    programs = [os.path.join(ROOT, ".build/release", name), "/usr/bin/ssh-keygen"]
    listed = "".join(output("ldd", program) for program in programs)
    return ["/usr/bin/ssh-keygen", *sorted(set(re.findall(r"(/\S+) \(0x", listed)))]


@functools.cache
def authority_files():
    """Returns the paths of the certificates in the package ca-certificates, without those that were added to this machine."""
    listed = output("dpkg-query", "--listfiles", "ca-certificates").split()
    return sorted(path for path in listed if path.endswith(".crt") and path.startswith("/usr/share/ca-certificates/"))


def authorities():
    """Returns the certificates of the package ca-certificates in the format PEM, and the number of those that this machine lacks."""
    present = [path for path in authority_files() if os.path.exists(path)]
    texts = []
    for path in present:
        with open(path, encoding="ascii") as stream:
            # Some files do not end with a line break.
            texts.append(stream.read().rstrip("\n") + "\n")
    return "".join(texts), len(authority_files()) - len(present)


@functools.cache
def image_packages(name):
    """Returns the Debian packages of the files in the image of the program `name`, in the order of their names."""
    return owners(image_files(name) + authority_files()[:1])


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
