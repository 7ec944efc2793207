"""The programs in the files of the release."""

import dataclasses
import functools
import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import zipfile

from components import (
    ROOT, debian_component, dynamic_libraries, dynamic_program_libraries, file_hash, static_program_libraries, swift_packages)
from debian_packages import DebianPackage


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
    """Returns the programs in a file of the release: a static program, an archive, a package, a Python wheel, or container images."""
    if path.endswith("-oci.tar"):
        return [program for layer in image_layers(path) for program in layer_programs(layer)]
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
    if path.endswith(".rpm"):
        with open(path, "rb") as stream:
            content = subprocess.run(["rpm2archive", "--nocompression"], stdin=stream, check=True, stdout=subprocess.PIPE).stdout
        return packed_programs(fileobj=io.BytesIO(content), is_static=True)
    return packed_programs(path) if path.endswith(".tar.gz") else []


def packages(path):
    """Returns the components in a file of the release that are Debian packages. Only container images contain some."""
    return [component for layer in image_layers(path) for component in layer_packages(layer)] if path.endswith("-oci.tar") else []


def packed_programs(path=None, fileobj=None, is_static=False):
    """Returns the programs in a tar archive, which are the files in a folder `bin`, except for the programs of others."""
    found = []
    with tarfile.open(path, fileobj=fileobj) as archive:
        for member in archive:
            folder, name = os.path.split(member.name)
            if member.isfile() and os.path.basename(folder) == "bin" and name.startswith("pingferry"):
                content = archive.extractfile(member).read()
                found.append(Program(name, hashlib.sha256(content).hexdigest(), is_static))
    return sorted(found, key=lambda program: program.name)


@functools.cache
def image_layers(path):
    """Returns the layers of the images in an OCI image layout, as uncompressed tar archives."""
    with tarfile.open(path) as archive:
        def read(descriptor):
            return archive.extractfile("blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")).read()

        manifests = [json.loads(read(descriptor)) for descriptor in json.load(archive.extractfile("index.json"))["manifests"]]
        layers = [layer for manifest in manifests for layer in manifest["layers"]]
        return [gzip.decompress(read(layer)) for layer in layers if layer["mediaType"].endswith("+gzip")]


@functools.cache
def layer_packages(layer):
    """Returns the Debian packages in a layer, which is a tar archive."""
    with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
        paths = [name for name in archive.getnames() if os.path.dirname(name) == "var/lib/dpkg/status.d"]
    return [debian_component(DebianPackage(os.path.basename(path))) for path in sorted(paths)]


def layer_programs(layer):
    """Returns the programs in a layer, which is a tar archive. A program without other packages is static."""
    return packed_programs(fileobj=io.BytesIO(layer), is_static=not layer_packages(layer))
