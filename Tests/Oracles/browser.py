"""Controls headless Chromium over a pair of pipes. Needs no package besides the standard library.

With `--remote-debugging-pipe`, Chromium reads messages of the DevTools protocol from file descriptor 3 and writes messages to
file descriptor 4. Each message is JSON, terminated by a zero byte.

Source: "Chrome DevTools Protocol", https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# The maximum time, in seconds, that the browser may take to answer. A busy machine starts it slowly.
TIMEOUT = 120


def chromium():
    """Returns the path of Chromium or Chrome, or `None` if neither is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A headless browser process. It is stopped at the end of the `with` statement."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        browser_input, self.output = os.pipe()
        self.input, browser_output = os.pipe()
        options = [
            chromium(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
            "--force-device-scale-factor=1", "--user-data-dir=" + self.profile.name]
        shell = ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (browser_input, browser_output), "sh"]
        self.process = subprocess.Popen(
            shell + options, pass_fds=(browser_input, browser_output), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(browser_input)
        os.close(browser_output)
        self.buffer = b""
        self.last_id = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self.input)
            os.close(self.output)
            self.profile.cleanup()

    def _receive(self):
        """Returns the next message from the browser."""
        end = time.monotonic() + TIMEOUT
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.input, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("the browser exited or did not answer within %d s" % TIMEOUT)
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """Calls a method of the protocol and returns its result. Messages received before the result are added to `events`."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") != self.last_id:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError("%s: %s" % (method, answer["error"]))
            else:
                return answer["result"]

    def open(self, path, width=1280, height=900, dark=False):
        """Opens the file at `path` in a new page and waits until it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, target, "file://" + os.path.abspath(path), width, height, dark)


class Page:
    """A page that is open in a browser."""

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
        # The page answers after it has reported all events of loading.
        self.evaluate("document.readyState")
        self.events = self._events(start)

    def _events(self, start):
        """Returns the events of this page, beginning at the index `start` of the events of the browser."""
        return [event for event in self.browser.events[start:] if event.get("sessionId") == self.session]

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    @property
    def errors(self):
        """The log entries, console messages and exceptions of the page."""
        methods = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [event["params"] for event in self.events if event["method"] in methods]

    @property
    def requests(self):
        """The URLs that were requested, except for that of the page itself."""
        sent = [event["params"]["request"]["url"] for event in self.events
                if event["method"] == "Network.requestWillBeSent"]
        return [address for address in sent if address != self.address]

    def save_screenshot(self, path, height=None):
        """Saves a screenshot of the page as a PNG file. It is cut off after `height` pixels, if given."""
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        area = {"x": 0, "y": 0, "width": size["width"], "height": min(height or size["height"], size["height"]), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)["data"]
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))

    def print(self):
        """Returns the page as a PDF file, in the paper size that the page requests."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])

    def set_print_layout(self, width):
        """Lays out the page as for print, where a sheet has `width` CSS pixels between its margins."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media="print")

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
