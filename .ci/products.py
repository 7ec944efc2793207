"""The programs in the files of the release."""

import dataclasses
import hashlib
import io
import os
import subprocess
import tarfile
import zipfile

from components import ROOT, dynamic_libraries, dynamic_program_libraries, file_hash, static_program_libraries, swift_packages


@dataclasses.dataclass(frozen=True)
class Program:
    """A program in a file of the release. `is_static` is whether it loads no libraries."""
    name: str
    sha256: str
    is_static: bool

    def static_components(self):
        """Returns the components that are linked into the program."""
        return swift_packages() + (static_program_libraries() if self.is_static else dynamic_program_libraries(self.name))

    def dynamic_components(self):
        """Returns the components that the program loads when it starts."""
        return [] if self.is_static else dynamic_libraries(built_program(self.name))


def built_program(name):
    """Returns the path of a program in the folder of the release build."""
    return os.path.join(ROOT, ".build/release", name)


def programs(path):
    """Returns the programs in a file of the release: a static program, an archive, a Debian package, or a Python wheel."""
    if path.endswith("-static"):
        return [Program("pingferry", file_hash(path), True)]
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as archive:
            return [
                Program(os.path.basename(name), hashlib.sha256(archive.read(name)).hexdigest(), True)
                for name in archive.namelist() if ".data/scripts/" in name]
    if path.endswith(".deb"):
        content = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, stdout=subprocess.PIPE).stdout
        return packed_programs(fileobj=io.BytesIO(content))
    return packed_programs(path) if path.endswith(".tar.gz") else []


def packed_programs(path=None, fileobj=None):
    """Returns the programs in a tar archive, which are the files in a folder `bin`."""
    found = []
    with tarfile.open(path, fileobj=fileobj) as archive:
        for member in archive:
            if member.isfile() and os.path.basename(os.path.dirname(member.name)) == "bin":
                content = archive.extractfile(member).read()
                found.append(Program(os.path.basename(member.name), hashlib.sha256(content).hexdigest(), False))
    return sorted(found, key=lambda program: program.name)
