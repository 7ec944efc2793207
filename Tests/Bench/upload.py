"""Compares `pingferry-upload` with `curl --parallel`.

Both send 20,000 records of 1,000 clients to nginx on loopback over the same number of connections. nginx responds to all requests
with status 200. The programs take turns, each time with a new ledger, and the medians of the times are compared.
"""

import contextlib
import glob
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import measuring
from measuring import FOLDER, pingferry, program

CLIENTS, UPLOADS, CONNECTIONS, RUNS = 1000, 20_000, 64, 9
# The rate relative to that of curl.
GOAL, LIMIT = 0.9, 0.55

CONFIGURATION = """
daemon off;
worker_processes 1;
pid %(folder)s/pid;
error_log %(folder)s/errors warn;
events { worker_connections 1024; }
http {
    # One byte, the end of the line, is logged for each request, so that the size of the log is the number of requests.
    log_format dot "";
    access_log %(folder)s/requests dot buffer=64k;
    client_body_temp_path %(folder)s/bodies;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    client_body_buffer_size 64k;
    keepalive_requests 1000000;
    server {
        listen 127.0.0.1:%(port)d;
        location / { return 200; }
    }
}
"""


@contextlib.contextmanager
def nginx(folder):
    """Runs nginx with its files in `folder` and yields its address."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with open(folder + "/nginx.conf", "w", encoding="ascii") as file:
        file.write(CONFIGURATION % {"folder": folder, "port": port})
    executable = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") or sys.exit("bench: nginx is not installed")
    process = subprocess.Popen([executable, "-e", folder + "/errors", "-c", file.name])
    try:
        while process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        else:
            sys.exit("bench: nginx does not start")
        yield "http://127.0.0.1:%d" % port
    finally:
        process.terminate()
        process.wait()


def make_inputs():
    """Returns the paths of a bundle and of its records as NDJSON, which are made once."""
    def make(part):
        os.mkdir(part)
        load = measuring.load("uploads", CLIENTS, UPLOADS)
        subprocess.run(pingferry("bundle", load, output=part + "/bundle.tar.zst"), check=True)
        subprocess.run(pingferry("convert", part + "/bundle.tar.zst", output=part + "/records.ndjson"), check=True)
        measuring.remove(load)
    folder = measuring.make_once(FOLDER + "/upload", make)
    return folder + "/bundle.tar.zst", folder + "/records.ndjson"


def curl_requests(records, address):
    """Yields the lines of a configuration file with which curl sends the same bodies to the same paths."""
    with open(records, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            record = json.loads(line)
            body = json.dumps(record["payload"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            yield '%surl = "%s%s"\ndata = "%s"\noutput = /dev/null\n' % (
                "next\n" if number else "", address, record["target"]["path"], body.replace("\\", "\\\\").replace('"', '\\"'))


def upload(name, folder, command):
    """Runs a program that sends all uploads to nginx, and returns its measurement.

    `command` is called with the address of the server and returns the command line.
    """
    with tempfile.TemporaryDirectory(dir=folder) as server:
        with nginx(server) as address:
            measurement = measuring.measure(command(address))
        # nginx writes the rest of its log when it is stopped.
        received = os.path.getsize(server + "/requests")
    if received != UPLOADS:
        sys.exit("bench: nginx received %d requests of %s" % (received, name))
    return measurement


def new_job(bundle, ledger, address, *options):
    """Removes a ledger, and returns the command line of a job that sends a bundle to the server at `address`."""
    for path in glob.glob(ledger + "*"):
        os.remove(path)
    return [program("pingferry-upload"), "send", "--ledger", ledger, "--endpoint", "mozilla=" + address, "--proxy", "direct",
            *options, bundle]


def run():
    """Prints the rates of both programs, and returns whether `pingferry-upload` is fast enough."""
    bundle, records = make_inputs()
    rows = {"curl --parallel": [], "pingferry-upload": []}
    with tempfile.TemporaryDirectory(dir=os.path.abspath(FOLDER)) as folder:
        ledger, requests = folder + "/ledger.sqlite", folder + "/requests.config"

        def send(address):
            return new_job(bundle, ledger, address, "--daily-limit", "unlimited", "--per-type-limit", "unlimited",
                           "--connections", str(CONNECTIONS), "--quiet")

        def curl(address):
            with open(requests, "w", encoding="utf-8") as config:
                config.writelines(curl_requests(records, address))
            return ["curl", "--no-progress-meter", "--parallel", "--parallel-max", str(CONNECTIONS), "--config", requests]

        for _ in range(RUNS):
            for name, command in zip(rows, (curl, send)):
                rows[name].append(upload(name, folder, command))
        ledger_size = os.path.getsize(ledger)
    medians = {name: [statistics.median(values) for values in zip(*measured)] for name, measured in rows.items()}
    base = medians["curl --parallel"]
    print("%-20s %9s %9s %9s %9s %9s" % ("uploads", "clock s", "per s", "rate", "cores s", "peak MB"))
    for name, (clock, processor, memory) in medians.items():
        print("%-20s %9.2f %9.0f %9.2f %9.2f %9.1f" % (
            name, clock, UPLOADS / clock, base[0] / clock, processor, memory / 1e6))
    print("%.1f bytes of the ledger per settled record" % (ledger_size / UPLOADS), flush=True)
    rate = base[0] / medians["pingferry-upload"][0]
    if rate < GOAL:
        print("    less than %s" % ("the goal of %.2f" % GOAL if rate >= LIMIT else "the limit of %.2f" % LIMIT))
    return rate >= LIMIT
