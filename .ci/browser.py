"""Drives a headless Chromium through a pair of pipes, with nothing but the standard library.

Source: Chromium's --remote-debugging-pipe: messages of the DevTools protocol as JSON, each ended by a zero byte, come in on
descriptor 3 and go out on descriptor 4.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# A machine at work may take long to start a browser.
PATIENCE = 120


def chromium():
    """The path of the browser; None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A browser without a window and without a network."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.output = os.pipe()
        self.input, theirs_out = os.pipe()
        options = [
            chromium(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
            "--force-device-scale-factor=1", "--user-data-dir=" + self.profile.name]
        shell = ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (theirs_in, theirs_out), "sh"]
        self.process = subprocess.Popen(
            shell + options, pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.bytes = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self.input)
            os.close(self.output)
            self.profile.cleanup()

    def _receive(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.bytes:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.input, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("the browser does not answer")
            self.bytes += piece
        message, _, self.bytes = self.bytes.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """Calls a method of the protocol and returns its result; what happens meanwhile is kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError("%s: %s" % (method, answer["error"]))
            else:
                return answer["result"]

    def open(self, path, width=1280, height=900, dark=False):
        """Opens a file as a page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, target, "file://" + os.path.abspath(path), width, height, dark)


class Page:
    """An open page."""

    def __init__(self, browser, session, target, address, width, height, dark):
        self.browser, self.session, self.target = browser, session, target
        self.address = address
        start = len(browser.events)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self._events(start)):
            browser.events.append(browser._receive())
        # The rest of what loading caused has been told when the page answers again.
        self.evaluate("document.readyState")
        self.happened = self._events(start)

    def _events(self, start):
        return [event for event in self.browser.events[start:] if event.get("sessionId") == self.session]

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    @property
    def complaints(self):
        """What the page logged, threw or was refused."""
        methods = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [event["params"] for event in self.happened if event["method"] in methods]

    @property
    def requests(self):
        """The addresses that were asked for, besides the page itself."""
        sent = [event["params"]["request"]["url"] for event in self.happened
                if event["method"] == "Network.requestWillBeSent"]
        return [address for address in sent if address != self.address]

    def picture(self, path, height=None):
        """Keeps a picture of the page: of its upper part, or of all of it."""
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        area = {"x": 0, "y": 0, "width": size["width"], "height": min(height or size["height"], size["height"]), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)["data"]
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
