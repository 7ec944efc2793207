"""Programs and a server for files of released versions, which `make-released` writes and `compatibility` reads."""

import http.server
import json
import os
import subprocess
import sys
import threading

from packages import ROOT

sys.path.append(os.path.join(ROOT, "Tests/Chaos"))
from server import LEANPLUM_BODY, element_key, items

RELEASED = os.path.join(ROOT, "Tests/Fixtures/released")
# The bundles in the order in which each follows its parents.
CHAIN = ["first.tar.zst", "second.tar.zst"]
# All bundles. A bundle in volumes is named by its first volume.
BUNDLES = [*CHAIN, "large.tar.zst", "volumes.tar.zst.001", "pseudonyms.tar.zst"]


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def write(path, data):
    """Writes a file that only its owner can read, because keys and credentials must not be readable by others."""
    with open(path, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as stream:
        stream.write(data)


class Programs:
    """Both programs, which run in `folder`.

    `prefix` contains the words that precede each command, such as those of `env`.
    """

    def __init__(self, pingferry, folder, prefix=()):
        self.pingferry, self.folder, self.prefix = pingferry, folder, list(prefix)
        self.uploader = os.path.join(os.path.dirname(pingferry), "pingferry-upload")
        self.environment = {
            "HOME": folder, "TMPDIR": folder, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
            "PINGFERRY_CREDENTIALS": "credentials.json"}

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *words, **options):
        return subprocess.Popen(
            [*self.prefix, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options)

    def run(self, *words, status=(0,)):
        """Runs a command, checks its exit status, and returns its standard output and its standard error."""
        process = self.start(*words)
        output, errors = process.communicate()
        errors = errors.decode(errors="replace")
        assert process.returncode in status, "%s: status %d instead of %s: %s" % (
            " ".join(words), process.returncode, " or ".join(map(str, status)), errors.strip())
        return output, errors

    def read(self, *words, status=(0,)):
        """Runs `pingferry` and returns its standard output."""
        return self.run(self.pingferry, *words, status=status)[0]

    def upload(self, *words, status=(0,)):
        """Runs `pingferry-upload` with the ledger of the folder and returns its standard output."""
        return self.run(self.uploader, *words, "--ledger", "ledger.sqlite", status=status)[0]

    def send_words(self, server, *words):
        """Returns the words of a job that sends bundles to `server` over one connection."""
        return ["send", "--quiet", "--proxy", "direct", "--timezone", "UTC", "--connections", "1", "--endpoint", server.address, *words]

    def outcomes(self, *bundles):
        """Returns an object for each record in the bundles, with its outcome in the ledger."""
        return json.loads(self.upload("receipt", "--quiet", "--receipt-records", *bundles))["predicate"]["records"]


class Server:
    """A server on this machine that accepts uploads. It is stopped at the end of the `with` statement.

    `answer` is called with the keys of the items in each request. It returns the status of the answer, or `None` if the server
    must close the connection without an answer.
    """

    def __init__(self, answer=lambda keys: 200):
        self.lock, self.accepted, self.answer = threading.Lock(), [], answer
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                server.handle(self)

            do_PUT = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = "http://127.0.0.1:%d" % self.server.server_port

    def handle(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        keys = items(request.path, {name.lower(): value for name, value in request.headers.items()}, body)
        with self.lock:
            status = self.answer(keys)
            if status == 200:
                self.accepted += keys
        if status is None:
            request.close_connection = True
            return
        text = LEANPLUM_BODY if request.path.startswith("/api") else b""
        request.send_response(status)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
