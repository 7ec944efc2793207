#!/usr/bin/env python3
"""Runs a command with a server on this machine that accepts every upload.

    accept.py COMMAND…

Adds the option `--endpoint` with the address of the server to the command. Exits with the status of the command.
"""

import http.server
import subprocess
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_PUT = do_POST

    def log_message(self, *_):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    status = subprocess.run([*sys.argv[1:], "--endpoint", "http://127.0.0.1:%d" % server.server_port]).returncode
    server.shutdown()
sys.exit(status)
