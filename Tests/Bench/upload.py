"""Compares `pingferry-upload` with `curl --parallel`.

Both send 100,000 records of 5,000 clients to nginx on loopback over the same number of connections. nginx responds to all requests
with status 200.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import measuring
from measuring import FOLDER, pingferry, program

CLIENTS, UPLOADS, CONNECTIONS = 5000, 100_000, 64

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
        load = measuring.load("upload-load", CLIENTS, UPLOADS)
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


def peak_memory(process):
    """Returns the largest resident size that a running process has had, in bytes."""
    with open("/proc/%d/status" % process.pid, encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def upload(name, folder, command):
    """Measures a program that sends all uploads to nginx, and prints a row.

    `command` is called with the address of the server and returns the command line. Returns the elapsed time in seconds.
    """
    with tempfile.TemporaryDirectory(dir=folder) as server:
        with nginx(server) as address:
            words = command(address)
            start, sizes = time.monotonic(), []
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            while process.poll() is None:
                # A process that has just ended has no size.
                with contextlib.suppress(OSError, StopIteration):
                    sizes.append(peak_memory(process))
                time.sleep(0.1)
            seconds = time.monotonic() - start
        # nginx writes the rest of its log when it is stopped.
        received = os.path.getsize(server + "/requests")
    if process.returncode != 0 or received != UPLOADS:
        sys.exit("bench: %s ended with status %d, and nginx received %d requests" % (name, process.returncode, received))
    quarters = [sizes[len(sizes) * part // 4] / 1e6 for part in (1, 2, 3)] + [sizes[-1] / 1e6] if sizes else [0] * 4
    print("%-18s %8.2f s %9.0f uploads/s   peak MB at quarters: %s"
          % (name, seconds, UPLOADS / seconds, " ".join("%.0f" % size for size in quarters)), flush=True)
    return seconds


def run():
    """Prints the rates of both programs. There are no limits."""
    bundle, records = make_inputs()
    with tempfile.TemporaryDirectory(dir=os.path.abspath(FOLDER)) as folder:
        ledger, requests = folder + "/ledger.sqlite", folder + "/requests.config"

        def send(address):
            return [program("pingferry-upload"), "send", "--ledger", ledger, "--daily-limit", "unlimited", "--per-type-limit",
                    "unlimited", "--connections", str(CONNECTIONS), "--endpoint", "mozilla=" + address, "--proxy", "direct",
                    "--quiet", bundle]

        def curl(address):
            with open(requests, "w", encoding="utf-8") as config:
                config.writelines(curl_requests(records, address))
            return ["curl", "--no-progress-meter", "--parallel", "--parallel-max", str(CONNECTIONS), "--config", requests]

        ours = upload("pingferry-upload", folder, send)
        print("%-18s %8.1f bytes per settled record" % ("ledger", os.path.getsize(ledger) / UPLOADS))
        theirs = upload("curl --parallel", folder, curl)
    print("%-18s %8.2f times the rate of curl" % ("pingferry-upload", theirs / ours))
    return True
