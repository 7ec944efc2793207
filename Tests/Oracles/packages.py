#!/usr/bin/env python3
"""Installs Python packages in the repository's virtual environment `.venv`.

    packages.py REQUIREMENT...

Installs each `REQUIREMENT`, for example `duckdb>=1.2,<2`. If that fails, prints the reason on standard output and exits with 1.
"""

import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
ENVIRONMENT = os.path.join(ROOT, ".venv")


def python(environment=ENVIRONMENT):
    """Returns the path of the Python interpreter of a virtual environment."""
    return os.path.join(environment, "bin/python")


def install(*requirements, environment=ENVIRONMENT):
    """Installs packages in a virtual environment, which is created if it does not exist or belongs to another Python.

    Requirements that are met already are not downloaded again. Returns `None`, or the reason why the installation failed.
    """
    commands = [[python(environment), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
                 *requirements]]
    # An interpreter without pip is left behind by an earlier attempt that failed.
    is_complete = os.path.exists(os.path.join(environment, "bin/pip"))
    if not is_complete or os.path.realpath(python(environment)) != os.path.realpath(sys.executable):
        commands.insert(0, [sys.executable, "-m", "venv", "--clear", environment])
    for command in commands:
        finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        if finished.returncode != 0:
            return "cannot install %s: %s" % (" ".join(requirements), last_line(finished.stdout))
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
