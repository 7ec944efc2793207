#!/usr/bin/env python3
"""Installs Python packages in the repository's virtual environment `.venv`.

    packages.py REQUIREMENT...

Installs each `REQUIREMENT` that is not met, for example `duckdb>=1.2,<2`, after printing it on standard error. If that fails, or if
`PINGFERRY_NO_INSTALL=1` forbids it, prints the reason on standard output and exits with 1.
"""

import importlib
import os
import site
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
ENVIRONMENT = os.path.join(ROOT, ".venv")
# Only modules that a check installs can be imported, so that a module that no check names is missing on every machine.
sys.path = [path for path in sys.path if not path.endswith(("/site-packages", "/dist-packages"))]
# A program that prints those of the given requirements that the environment of the interpreter does not meet.
UNMET = """
import importlib.metadata, sys
from pip._vendor.packaging.requirements import Requirement
for text in sys.argv[1:]:
    requirement = Requirement(text)
    try: is_met = requirement.specifier.contains(importlib.metadata.version(requirement.name), prereleases=True)
    except importlib.metadata.PackageNotFoundError: is_met = False
    if not is_met: print(text)
"""


def python(environment=ENVIRONMENT):
    """Returns the path of the Python interpreter of a virtual environment."""
    return os.path.join(environment, "bin/python")


def is_usable(environment):
    """Returns whether a virtual environment exists and belongs to this Python.

    An interpreter without pip is left behind by an earlier attempt that failed.
    """
    return os.path.exists(os.path.join(environment, "bin/pip")) \
        and os.path.realpath(python(environment)) == os.path.realpath(sys.executable)


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")


def install(*requirements, options=(), environment=ENVIRONMENT):
    """Installs packages with pip in a virtual environment, which is created if it does not exist or belongs to another Python.

    Requirements that are met already are not downloaded again. Packages to install are printed first. Returns `None`, or the reason why
    the packages are not installed. Modules in the environment of the repository can then be imported.
    """
    failure = install_missing(requirements, options, environment)
    if environment == ENVIRONMENT:
        site.addsitedir(os.path.join(environment, "lib/python%d.%d/site-packages" % sys.version_info[:2]))
        importlib.invalidate_caches()
    return failure


def install_missing(requirements, options, environment):
    missing = list(requirements)
    if is_usable(environment):
        found = run(python(environment), "-c", UNMET, *requirements)
        if found.returncode == 0:
            missing = found.stdout.split("\n")[:-1]
    if not missing:
        return None
    names = " ".join(missing)
    if os.environ.get("PINGFERRY_NO_INSTALL") == "1":
        return "not installed, because PINGFERRY_NO_INSTALL=1 forbids it: %s" % names
    print("installing these Python packages in %s: %s" % (os.path.relpath(environment, ROOT), names), file=sys.stderr, flush=True)
    commands = [[python(environment), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", *options,
                 *missing]]
    if not is_usable(environment):
        commands.insert(0, [sys.executable, "-m", "venv", "--clear", environment])
    for command in commands:
        finished = run(*command)
        if finished.returncode != 0:
            return "cannot install %s: %s" % (names, last_line(finished.stdout))
    return None


def last_line(output):
    """Returns the last line of `output` that is not blank."""
    lines = output.split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no error message")


def main():
    failure = install(*sys.argv[1:])
    if failure:
        print(failure)
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
