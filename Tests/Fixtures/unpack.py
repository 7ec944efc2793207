"""Unpacks archives of captures with expected results."""

import os
import subprocess

CAPTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "captures")


def unpack(name, folder):
    """Unpacks the archive `name` of `Tests/Fixtures/captures` into `folder`, which is created."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["tar", "-xJmf", os.path.join(CAPTURES, name + ".tar.xz"), "-C", folder], check=True)
