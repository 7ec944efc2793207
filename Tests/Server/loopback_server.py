#!/usr/bin/env python3
"""A test server on 127.0.0.1 that behaves like the servers that receive uploads.

The server counts its requests, and can be configured to fail in many ways. It prints its port when it is ready and runs until
it is killed.

    loopback_server.py [--port=N] [--idle-ms=N] [--ends-with-parent] [--certificate=PEM --key=PEM [--client-authority=PEM]]
    loopback_server.py --proxy [--proxy-authorization=VALUE]

Orders are sent to /-/orders as JSON with the members `rules` (see `Rule`), `keep`, `epoch`, `kill` and `release`. /-/report
returns the received requests. Source of the behavior: "Mozilla's HTTP edge server: behaviour measured on loopback".
"""

import asyncio
import base64
import contextlib
import fcntl
import hashlib
import json
import os
import signal
import ssl
import sys
import termios

REASONS = {200: b"OK", 204: b"No Content", 400: b"Bad Request", 404: b"Not Found", 503: b"Service Unavailable"}
LINE_LIMIT = 1 << 20
# The idle limit in milliseconds. It is longer than any test, so that the connection of a slow client is not closed.
IDLE_LIMIT = 3_600_000


class Closed(Exception):
    """Raised to close the connection without an answer."""


class Rule:
    """A rule that replaces the normal answer to some requests.

    The rule applies to requests whose path starts with `path` and whose body contains `contains`. `times` is the number of
    requests it applies to (all if it is missing). The rule has one of the following actions:
    - `status`: sends this status with `headers` and `text`, immediately, after `stall` milliseconds, or when the test releases
      it (`hold`).
    - `hold` alone: delays the normal answer until the test releases it.
    - `cut`: closes the connection without an answer, `before` or `after` the body is read.
    - `early`: sends these bytes instead of an answer, and never reads the body.
    - `raw`: sends these bytes instead of an answer. Then the connection is closed if `cut` is `answer`. With `drip`, one byte
      follows after each interval of this many milliseconds. Otherwise, the connection stays open without further bytes.

    With `stray`, the server sends these bytes in a separate write after the answer: immediately after `raw`, and otherwise when
    the test releases them. The report counts them once the client's system has acknowledged them.
    """

    def __init__(self, orders):
        self.path, self.contains = orders.get("path", ""), orders.get("contains", "").encode()
        self.times, self.status = orders.get("times"), orders.get("status")
        self.headers, self.text = orders.get("headers", {}), orders.get("text", "").encode()
        self.stall, self.hold, self.cut = orders.get("stall"), orders.get("hold", False), orders.get("cut")
        self.early = orders.get("early", "").encode()
        self.raw = orders["raw"].encode() if "raw" in orders else None
        self.drip, self.stray = orders.get("drip"), orders.get("stray", "").encode()

    @property
    def is_before_body(self):
        return self.cut == "before" or self.early

    def applies(self, path):
        return (self.times is None or self.times > 0) and path.startswith(self.path)

    def use(self):
        if self.times is not None:
            self.times -= 1
        return self


class State:
    """The rules of the server and the requests that it received."""

    def __init__(self):
        self.rules, self.requests, self.receipts = [], [], {}
        self.keep = self.total = self.connections = self.idle = self.epoch = self.strays = 0
        self.pending_kill = None
        self.released = asyncio.Event()

    def apply_orders(self, orders):
        if "rules" in orders:
            self.rules = [Rule(rule) for rule in orders["rules"]]
        self.keep = orders.get("keep", self.keep)
        self.epoch = orders.get("epoch", self.epoch)
        if "kill" in orders:
            # The system may reuse a process id, but the descriptor always refers to the same process.
            self.pending_kill = {**orders["kill"], "process": os.pidfd_open(orders["kill"]["process"])}
        if orders.get("release"):
            self.released.set()
            self.released = asyncio.Event()

    def report(self):
        return {"total": self.total, "connections": self.connections, "idle": self.idle, "strays": self.strays,
                "distinct": len(self.receipts), "receipts": list(self.receipts.values()), "requests": self.requests}

    def rule_before_body(self, path):
        return next((rule.use() for rule in self.rules if rule.is_before_body and rule.applies(path)), None)

    def rule(self, path, body):
        return next((rule.use() for rule in self.rules
                     if not rule.is_before_body and rule.applies(path) and rule.contains in body), None)

    def count_down_to_kill(self):
        """Kills the process of the order `kill` after the given number of requests and the given delay."""
        if self.pending_kill is None:
            return
        self.pending_kill["requests"] -= 1
        if self.pending_kill["requests"] <= 0:
            process, seconds = self.pending_kill["process"], self.pending_kill["microseconds"] / 1e6
            self.pending_kill = None
            asyncio.get_running_loop().call_later(seconds, kill, process)

    def record(self, method, path, fields, body, accepted):
        """Counts a request whose body arrived. An upload is identified by its path and body, without the time of a form."""
        self.total += 1
        identity = body.rpartition(b"&time=")[0] or body if path == "/api" else body
        digest = hashlib.sha256(identity).hexdigest()
        receipt = self.receipts.setdefault(
            (path, digest), {"path": path, "sha256": digest, "client": client(body), "times": 0, "accepted": 0})
        receipt["times"] += 1
        receipt["accepted"] += accepted
        receipt["epoch"] = self.epoch
        if len(self.requests) < self.keep:
            self.requests.append({"method": method, "path": path, "headers": fields,
                                  "body": base64.b64encode(body).decode()})


def client(body):
    """Returns the client id in a Mozilla ping, or None."""
    _, found, rest = body.partition(b'"clientId":"')
    return rest.partition(b'"')[0].decode(errors="replace") if found else None


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, signal.SIGKILL)
    os.close(process)


def unacknowledged(connection):
    """Returns the number of bytes that were sent on a connection and not acknowledged."""
    return int.from_bytes(fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)


def default_answer(method, path, fields, body):
    """Returns the normal answer to a request: the status, the body, and whether the body is chunked."""
    name, _, query = path.partition("?")
    if path.startswith("/submit"):
        recorded = [value for name, value in fields if name.lower() in ("user-agent", "date", "x-debug-id")]
        if method not in ("POST", "PUT"):
            return 405, b"", False
        if len(body) >= 10_000_000:
            return 413, b"payload too large", False
        if any(len(text) > 1024 for text in [name, query, *recorded]):
            return 431, b"header too large", False
        return 200, b"", True
    if path == "/api":
        return 200, b'{"response":[{"success":true}]}', False
    if path == "/v3/links/ping-centre" or path.startswith("/v3/accounts/"):
        return 200, b"", False
    return 404, b"", False


async def read_head(reader):
    """Reads the head of the next request, and returns its method, path and header fields."""
    text = await reader.readuntil(b"\r\n\r\n")
    first, *lines = text[:-4].decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    return method, path, [[name, value.strip()] for name, _, value in (line.partition(":") for line in lines)]


def value(fields, name, otherwise=None):
    return next((value for key, value in fields if key.lower() == name), otherwise)


async def read_body(reader, fields):
    if (value(fields, "transfer-encoding") or "").lower() != "chunked":
        return await reader.readexactly(int(value(fields, "content-length", 0)))
    parts = []
    while True:
        count = int((await reader.readline()).split(b";")[0], 16)
        parts.append(await reader.readexactly(count))
        await reader.readline()
        if count == 0:
            return b"".join(parts)


class Server:
    """Answers the requests of each connection in order."""

    def __init__(self, idle):
        self.state, self.idle = State(), idle

    async def serve(self, reader, writer):
        self.state.connections += 1
        try:
            # The first request has no time limit, because the machine may be busy.
            await self.respond(reader, writer, *await read_head(reader))
            while True:
                await self.respond(reader, writer, *await self.next_head(reader, writer))
        except (Closed, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            # The client has closed the connection, is idle, or sent an invalid request.
            pass
        finally:
            writer.close()

    async def next_head(self, reader, writer):
        """Reads the head of the next request. An idle connection is counted as idle, and closed after the idle limit."""
        self.state.idle += 1
        try:
            return await asyncio.wait_for(read_head(reader), self.idle)
        except asyncio.TimeoutError:
            writer.close()
            await writer.wait_closed()
            raise Closed from None
        finally:
            self.state.idle -= 1

    async def respond(self, reader, writer, method, path, fields):
        if path.startswith("/-/"):
            await self.control(writer, path, await read_body(reader, fields))
            # Control requests are rare, so that their connections are not kept open.
            raise Closed
        rule = self.state.rule_before_body(path)
        if rule:
            if rule.early:
                writer.write(rule.early)
                await self.state.released.wait()
            raise Closed
        body = await read_body(reader, fields)
        self.state.count_down_to_kill()
        rule = self.state.rule(path, body)
        if rule and rule.cut == "after":
            self.state.record(method, path, fields, body, False)
            raise Closed
        if rule and rule.raw is not None:
            self.state.record(method, path, fields, body, rule.raw.startswith(b"HTTP/1.1 2"))
            return await self.write_raw(reader, writer, rule)
        status, text, is_chunked = default_answer(method, path, fields, body)
        if rule and rule.status is not None:
            status, text, is_chunked = rule.status, rule.text, False
        self.state.record(method, path, fields, body, 200 <= status < 300)
        if rule and rule.hold:
            await self.state.released.wait()
        if rule and rule.stall:
            await asyncio.sleep(rule.stall / 1000)
        await self.write(writer, status, rule.headers if rule else {}, text, is_chunked)
        if rule and rule.stray:
            await self.state.released.wait()
            await self.write_stray(writer, rule.stray)

    async def control(self, writer, path, body):
        """Answers a control request of the test."""
        if path == "/-/report":
            return await self.write(writer, 200, {"Connection": "close"}, json.dumps(self.state.report()).encode())
        try:
            self.state.apply_orders(json.loads(body))
            status = 204
        except ValueError:
            status = 400
        await self.write(writer, status, {"Connection": "close"}, b"")

    async def write(self, writer, status, headers, body, is_chunked=False):
        lines = [b"HTTP/1.1 %d %s" % (status, REASONS.get(status, b"Status"))]
        lines += ["{}: {}".format(*field).encode() for field in headers.items()]
        if is_chunked:
            lines.append(b"Transfer-Encoding: chunked")
            body = (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
        elif status != 204:
            lines.append(b"Content-Length: %d" % len(body))
        writer.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        await writer.drain()

    async def write_stray(self, writer, stray):
        writer.write(stray)
        await writer.drain()
        # Waits until the client's system has acknowledged all bytes, or the client has closed the connection.
        while not writer.is_closing() and (
                writer.transport.get_write_buffer_size() or unacknowledged(writer.get_extra_info("socket"))):
            await asyncio.sleep(0.005)
        self.state.strays += 1

    async def write_raw(self, reader, writer, rule):
        writer.write(rule.raw)
        await writer.drain()
        if rule.cut == "answer":
            raise Closed
        if rule.stray:
            return await self.write_stray(writer, rule.stray)
        gone = asyncio.ensure_future(reader.read())
        try:
            while not gone.done():
                await asyncio.wait([gone], timeout=rule.drip / 1000 if rule.drip else None)
                if rule.drip:
                    writer.write(b"x")
                    await writer.drain()
        finally:
            gone.cancel()
        raise Closed


class Proxy:
    """Accepts one CONNECT request per connection, and then forwards bytes in both directions."""

    def __init__(self, authorization):
        self.authorization = authorization

    async def serve(self, reader, writer):
        other = None
        try:
            method, address, fields = await read_head(reader)
            host, _, port = address.rpartition(":")
            if self.authorization is not None and value(fields, "proxy-authorization") != self.authorization:
                return self.refuse(writer, b"407 Proxy Authentication Required")
            if method != "CONNECT":
                return self.refuse(writer, b"405 Method Not Allowed")
            try:
                server, other = await asyncio.open_connection(host.strip("[]"), int(port))
            except OSError:
                return self.refuse(writer, b"502 Bad Gateway")
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(self.forward(reader, other), self.forward(server, writer))
        except (asyncio.IncompleteReadError, OSError, ValueError):
            # One side has closed the connection, or the request is invalid.
            pass
        finally:
            for end in (writer, other):
                if end is not None:
                    end.close()

    def refuse(self, writer, status):
        writer.write(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % status)

    async def forward(self, reader, writer):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        # When one side ends, the other side is closed too.
        writer.close()


def encryption(options):
    if "--certificate" not in options:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options["--certificate"], options["--key"])
    if "--client-authority" in options:
        context.load_verify_locations(options["--client-authority"])
        context.verify_mode = ssl.CERT_REQUIRED
    return context


async def exit_with(parent):
    """Exits when the parent process has ended, so that a crashed test leaves no server running."""
    while os.getppid() == parent:
        await asyncio.sleep(1)
    os._exit(0)


async def main():
    parent = os.getppid()
    options = dict(argument.partition("=")[::2] for argument in sys.argv[1:])
    idle = int(options.get("--idle-ms", IDLE_LIMIT)) / 1000
    served = Proxy(options.get("--proxy-authorization")) if "--proxy" in options else Server(idle)
    server = await asyncio.start_server(
        served.serve, "127.0.0.1", int(options.get("--port", 0)), limit=LINE_LIMIT, backlog=1024,
        ssl=encryption(options))
    # The line is written at once and without buffering, because the test waits for it.
    os.write(1, b"%d\n" % server.sockets[0].getsockname()[1])
    await (exit_with(parent) if "--ends-with-parent" in options else server.serve_forever())


if __name__ == "__main__":
    asyncio.run(main())
