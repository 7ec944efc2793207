"""Reads telemetry that is queued in captured app data.

    import pingferry

    for record in pingferry.records("phone/", system="glean", since="2026-01-01"):
        print(record["time"], record["type"], record["payload"])

`pingferry.spark` is a data source for Apache Spark.
"""

from __future__ import annotations

import decimal
import json
import os
import subprocess
import tempfile
import warnings
from typing import Any, Callable, Generator, Iterator

from pingferry.program import last_lines, program_path

__all__ = ["Error", "IncompleteWarning", "records"]


class Error(Exception):
    """The program failed. The string of the error is the message of the program."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        #: The exit status, such as 64 for an invalid option, 65 for damaged data and 66 for a missing capture. If a signal ended the
        #: program, the negative number of the signal.
        self.status = status
        self.message = message

    def __str__(self) -> str:
        return self.message


class IncompleteWarning(UserWarning):
    """Some data could not be read. The message states what, and why. All other records were returned."""


def records(
    *captures: str | bytes | os.PathLike[Any], parse_float: Callable[[str], Any] = float, **options: Any
) -> Generator[dict[str, Any], None, None]:
    """Yields the records of captures as dictionaries, in the order of `pingferry convert`, which runs meanwhile.

        import pandas, pingferry
        frame = pandas.json_normalize(pingferry.records("phone/", "backup.zip", type=["core", "metrics"], labels=True))

    `captures` are the paths of folders, backups, archives, request logs, NDJSON files or bundles. `options` are those of
    `pingferry convert`: `since="2026-01-01"` is `--since 2026-01-01`, `spool_limit=1024` is `--spool-limit 1024`, `uploadable=True` is
    `--uploadable`, and a list is an option that is repeated. The keys of a record are described by `pingferry convert --help` and in the
    article "The record".

    Integers are exact. Other numbers are passed to `parse_float` as strings, so that `decimal.Decimal` keeps all digits. Integers of
    more than 4300 digits, which Python refuses, become `decimal.Decimal`. Strings may contain single surrogates, which UTF-8 cannot
    encode.

    Warns with IncompleteWarning at the end if some data could not be read. Raises Error if the program fails. As records are yielded
    while the captures are read, use `list(records(…))` if records must not be used before that is known. The program ends when the
    generator is closed. Raises FileNotFoundError if there is no program.
    """
    program = program_path()
    if program is None:
        raise FileNotFoundError("there is no program pingferry: install the wheel, or state its path in the environment variable PINGFERRY")
    paths = [os.fsdecode(capture) for capture in captures]
    command = [program, "convert", "--quiet", "--output", "-", *option_words(options), "--", *paths]
    parse = json.JSONDecoder(parse_float=parse_float).decode
    parse_large = json.JSONDecoder(parse_float=parse_float, parse_int=decimal.Decimal).decode
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as process:
            try:
                for line in process.stdout or ():
                    text = line.decode()
                    try:
                        record = parse(text)
                    except ValueError:
                        record = parse_large(text)
                    yield record
            except BaseException:
                process.terminate()
                raise
        status = process.returncode
        message = "\n".join(last_lines(errors)) or f"pingferry ended with status {status}"
    if status == 1:
        warnings.warn(message, IncompleteWarning, stacklevel=2)
    elif status != 0:
        raise Error(status, message)


def option_words(options: dict[str, Any]) -> Iterator[str]:
    """Yields the words of options of the command line."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for single in value if isinstance(value, (list, tuple)) else [value]:
            if single is True:
                yield option
            elif single is not None and single is not False:
                yield f"{option}={single}"
