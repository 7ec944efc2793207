"""A small server on loopback that answers as the systems' servers do, or in any other way."""

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
    """What the server that knows a path answers."""
    body = LEANPLUM_BODY if path.startswith("/api") else b""
    return [OK + b"Content-Length: %d\r\n\r\n" % len(body) + body]


class Pause:
    """Nothing for some seconds."""

    def __init__(self, seconds):
        self.seconds = seconds


class Drip:
    """Bytes one by one."""

    def __init__(self, data, seconds=0.2):
        self.data, self.seconds = data, seconds


class Endless:
    """The same bytes until nobody reads them any more."""

    def __init__(self, data):
        self.data = data


HANG, CLOSE, RESET = "hang", "close", "reset"


class Behaviour:
    """How a server answers: what it does when a connection comes up, before a body is read, and then.

    Each is a list of steps: bytes, `Pause`, `Drip`, `Endless`, HANG, CLOSE, RESET.
    """

    def __init__(self, steps=None, before_body=None, on_connect=None, times=None, accepts=False):
        self.steps, self.before_body, self.on_connect, self.times = steps, before_body, on_connect, times
        # Whether the answer tells the client that the upload has arrived.
        self.accepts = accepts

    def take(self):
        """Whether it applies once more."""
        if self.times is None:
            return True
        self.times -= 1
        return self.times >= 0


def items(path, headers, body):
    """What a request delivers: a document by its path, or the elements of a list."""
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if path.startswith("/submit"):
        return [path]
    if path.startswith("/api"):
        body = urllib.parse.parse_qs(body.decode())["data"][0]
    return [element_key(element) for element in json.loads(body)["data"]]


def element_key(element):
    return json.dumps(element, sort_keys=True)


class Server:
    """A server that runs for as long as the `with` lasts."""

    def __init__(self, behaviour=None):
        self.behaviour = behaviour
        self.requests = 0
        # How often each item arrived, and how often with an answer that told so.
        self.arrived, self.accepted = collections.Counter(), collections.Counter()
        # The bodies of each document.
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

    def forget(self):
        """Behaves from now on, and counts anew."""
        self.behaviour = None
        self.requests = 0

    async def serve(self, reader, writer):
        try:
            if self.behaviour and self.behaviour.on_connect and self.behaviour.take():
                return await self.act(self.behaviour.on_connect, reader, writer)
            while await self.answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def answer(self, reader, writer):
        """One request; whether there may be another one on the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        behaviour = self.behaviour
        if behaviour and behaviour.on_connect:
            behaviour = None
        if behaviour and not behaviour.take():
            behaviour = None
        if behaviour and behaviour.before_body:
            self.requests += 1
            return await self.act(behaviour.before_body, reader, writer)
        body = await self.body(reader, headers)
        self.requests += 1
        keys = items(path, headers, body)
        self.arrived.update(keys)
        if path.startswith("/submit"):
            self.bodies[path].add(body)
        steps = behaviour.steps if behaviour else normal(path)
        if callable(steps):
            steps = steps(path)
        if behaviour is None or behaviour.accepts:
            self.accepted.update(keys)
        return await self.act(steps, reader, writer)

    async def body(self, reader, headers):
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
