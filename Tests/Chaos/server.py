"""An HTTP server on loopback that responds like the servers of the telemetry systems, or violates the protocol."""

import asyncio
import collections
import gzip
import json
import socket
import struct
import threading
import urllib.parse

OK = b"HTTP/1.1 200 OK\r\n"
LEANPLUM_BODY = b'{"response":[{"success":true}]}'


def normal(path):
    """Returns the steps with which the server of a telemetry system responds to a request for `path`."""
    body = LEANPLUM_BODY if path.startswith("/api") else b""
    return [OK + b"Content-Length: %d\r\n\r\n" % len(body) + body]


class Pause:
    """Sends nothing for some seconds."""

    def __init__(self, seconds):
        self.seconds = seconds


class Drip:
    """Sends bytes one by one, with a delay after each."""

    def __init__(self, data, seconds=0.2):
        self.data, self.seconds = data, seconds


class Endless:
    """Repeats the same bytes until the client closes the connection."""

    def __init__(self, data):
        self.data = data


HANG, CLOSE, RESET = "hang", "close", "reset"


class Behavior:
    """The steps that a server performs instead of responding normally.

    `on_connect` is performed on a new connection, `before_body` before the request body is read, and `steps` after that. A step is
    `bytes`, `Pause`, `Drip`, `Endless`, `HANG`, `CLOSE` or `RESET`. `times` limits the number of requests to which the behavior
    applies.
    """

    def __init__(self, steps=None, before_body=None, on_connect=None, times=None, accepts=False):
        self.steps, self.before_body, self.on_connect, self.times = steps, before_body, on_connect, times
        # Whether the response states that the upload succeeded.
        self.accepts = accepts

    def keeps_clients_waiting(self):
        """Returns whether a client that waits for the end of a response would wait very long."""
        steps = [*(self.steps or []), *(self.before_body or []), *(self.on_connect or [])]
        return any(step == HANG or isinstance(step, (Drip, Endless)) for step in steps)

    def take(self):
        """Returns whether the behavior applies to one more request."""
        if self.times is None:
            return True
        self.times -= 1
        return self.times >= 0


def items(path, headers, body):
    """Returns the keys of the items in a request: the path of a document, or the elements of a list."""
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if path.startswith("/submit"):
        return [path]
    if path.startswith("/api"):
        body = urllib.parse.parse_qs(body.decode())["data"][0]
    return [element_key(element) for element in json.loads(body)["data"]]


def element_key(element):
    """Returns a string that is equal for equal elements."""
    return json.dumps(element, sort_keys=True)


class Server:
    """A server in a thread. It is stopped at the end of the `with` statement."""

    def __init__(self, behavior=None):
        self.behavior = behavior
        self.requests = 0
        # The number of times that each item arrived, and that its arrival was confirmed.
        self.arrived, self.accepted = collections.Counter(), collections.Counter()
        # The distinct request bodies of each document, by path.
        self.bodies = collections.defaultdict(set)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        self.server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self.serve, "127.0.0.1", 0, limit=1 << 20), self.loop).result()
        self.address = "http://127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def stop(self):
        self.server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def reset(self):
        """Makes the server follow the protocol from now on, and resets the number of requests."""
        self.behavior = None
        self.requests = 0

    async def serve(self, reader, writer):
        try:
            if self.behavior and self.behavior.on_connect and self.behavior.take():
                return await self.act(self.behavior.on_connect, reader, writer)
            while await self.answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def answer(self, reader, writer):
        """Handles one request. Returns whether the connection remains open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        behavior = self.behavior
        if behavior and behavior.on_connect:
            behavior = None
        if behavior and not behavior.take():
            behavior = None
        if behavior and behavior.before_body:
            self.requests += 1
            return await self.act(behavior.before_body, reader, writer)
        body = await self.body(reader, headers)
        self.requests += 1
        keys = items(path, headers, body)
        self.arrived.update(keys)
        if path.startswith("/submit"):
            self.bodies[path].add(body)
        steps = behavior.steps if behavior else normal(path)
        if callable(steps):
            steps = steps(path)
        if behavior is None or behavior.accepts:
            self.accepted.update(keys)
        return await self.act(steps, reader, writer)

    async def body(self, reader, headers):
        """Reads the body of a request, which may be chunked."""
        if headers.get("transfer-encoding") != "chunked":
            return await reader.readexactly(int(headers.get("content-length", 0)))
        body = b""
        while True:
            length = int((await reader.readline()).split(b";")[0], 16)
            body += await reader.readexactly(length)
            await reader.readline()
            if length == 0:
                return body

    async def act(self, steps, reader, writer):
        """Performs steps. Returns whether the connection remains open."""
        for step in steps:
            if step == CLOSE:
                return False
            if step == RESET:
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
            if step == HANG:
                while await reader.read(1 << 16):
                    pass
                return False
            await self.write(step, writer)
        return True

    async def write(self, step, writer):
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Drip):
            for index in range(len(step.data)):
                writer.write(step.data[index:index + 1])
                await writer.drain()
                await asyncio.sleep(step.seconds)
        elif isinstance(step, Endless):
            while True:
                writer.write(step.data)
                await writer.drain()
                await asyncio.sleep(0)
        else:
            writer.write(step)
            await writer.drain()
