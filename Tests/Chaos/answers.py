"""Tests uploads to servers that violate the protocol.

Each job must end in time with the documented exit status, and the next job must deliver what remains.
"""

import random
import time

import kills
from campaign import Failure, first_line
from server import CLOSE, HANG, LEANPLUM_BODY, OK, RESET, Behavior, Drip, Endless, Pause, Server

# The outcomes of an upload, and the exit status of a job in which all uploads have the same outcome.
DELIVERED, REJECTED, LATER, CREDENTIAL = "delivered", "rejected", "later", "credential"
STATUS = {DELIVERED: 0, REJECTED: 1, LATER: 69, CREDENTIAL: 78}
# The number of attempts.
ATTEMPTS = 2
# The timeouts of connecting, reading and an exchange, in seconds: for servers that keep clients waiting, and for all others.
# With the short ones, a busy machine can exceed them although the server responds.
SHORT, LONG = (2, 2, 4), (60, 60, 120)
# The captures are small, because a job may wait for each of their records.
CAPTURES = {
    "mozilla": ["samples/webxr"], "sift": ["--client", "5A7702C9-1D4E-46B3-8F95-E0B6A3C81D27", "samples/shop"],
    "leanplum": ["samples/leanplum"]}
# The maximum number of records of one client.
RECORDS = 5


# The maximum duration of a job after SIGTERM, in seconds. The job itself takes 5 s, but on a busy machine more. Without the
# signal, it would wait for 600 s.
SIGNAL_TIMEOUT = 60


def answer(status, headers=b"", body=b"", length=None):
    """Returns a response as bytes. `length` is the value of its Content-Length header, by default the length of the body."""
    length = len(body) if length is None else length
    return b"HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s" % (status, headers, length, body)


def statuses():
    """Yields complete responses with various status codes, and the expected outcome of the upload."""
    for status, meaning in [
            (200, DELIVERED), (400, REJECTED), (402, REJECTED), (404, REJECTED), (405, REJECTED), (410, REJECTED),
            (411, REJECTED), (413, REJECTED), (414, REJECTED), (422, REJECTED), (431, REJECTED), (451, REJECTED),
            (401, CREDENTIAL), (403, CREDENTIAL), (407, CREDENTIAL), (408, LATER), (429, LATER), (500, LATER),
            (502, LATER), (503, LATER), (504, LATER), (599, LATER), (301, LATER), (302, LATER), (307, LATER), (308, LATER)]:
        body = LEANPLUM_BODY if status == 200 else b"chaos"
        headers = b"Location: http://127.0.0.1:1/\r\n" if 300 <= status < 400 else b""
        yield "status %d" % status, [answer(status, headers, body)], meaning
    for text in (b"1", b"3600", b"-1", b"99999999999999999999", b"Fri, 31 Dec 2100 23:59:59 GMT", b"soon"):
        yield "429, Retry-After %s" % text.decode(), [answer(429, b"Retry-After: %s\r\n" % text)], LATER


def cut_bodies():
    """Yields responses whose body is incomplete. The status code alone determines the outcome."""
    for status, meaning in ((200, DELIVERED), (400, REJECTED), (503, LATER)):
        head = answer(status, length=100_000)
        yield "%d, body cut" % status, [head + b"{", CLOSE], meaning
        yield "%d, body reset" % status, [head + b"{", Pause(0.1), RESET], meaning
        yield "%d, body stalls" % status, [head + b"{", HANG], meaning
        yield "%d, body drips" % status, [head, Drip(b"x" * 100_000)], meaning
        yield "%d, body endless" % status, [
            b"HTTP/1.1 %d X\r\n\r\n" % status, Endless(b"x" * 65536)], meaning
        yield "%d, broken chunks" % status, [
            b"HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" % status, CLOSE], meaning


def no_answers():
    """Yields behaviors that are not a complete response."""
    noise = random.Random(0).randbytes(5000)
    endless = b"HTTP/1.1 100 Continue\r\n\r\n"
    for name, steps in {
            "no answer, closed": [CLOSE], "no answer, reset": [RESET], "no answer, hangs": [HANG],
            "status line cut": [b"HTTP/1.1 2", CLOSE], "status line stalls": [b"HTTP/1.1 2", HANG],
            "status line drips": [Drip(b"HTTP/1.1 200 " + b"O" * 10_000)],
            "head drips": [OK, Drip(b"X: 1\r\n" * 10_000)], "head cut": [OK + b"X: 1", CLOSE],
            "head stalls": [OK + b"X: 1\r\n", HANG], "head endless": [OK, Endless(b"X: 12345678\r\n" * 1000)],
            "one header endless": [OK + b"X: ", Endless(b"x" * 65536)], "garbage": [noise, CLOSE],
            "garbage, open": [noise, HANG], "NUL bytes": [b"\0" * 1000, CLOSE], "endless NUL bytes": [Endless(b"\0" * 65536)],
            "SSH": [b"SSH-2.0-OpenSSH_9.2\r\n", HANG], "HTTP/2": [b"\0\0\x12\4\0\0\0\0\0" + b"\0" * 18, HANG],
            "HTTP/9.9": [b"HTTP/9.9 200 OK\r\n\r\n", CLOSE], "status abc": [b"HTTP/1.1 abc OK\r\n\r\n", CLOSE],
            "endless 100": [Endless(endless)], "100 drips": [Drip(endless * 1000, 0.05)]}.items():
        yield name, steps, LATER


def valid_answers():
    """Yields unusual but valid responses."""
    for name, steps in {
            "100 before 200": [b"HTTP/1.1 100 Continue\r\n\r\n", answer(200, body=LEANPLUM_BODY)],
            "103 before 200": [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", answer(200, body=LEANPLUM_BODY)],
            "slow": [Pause(0.5), answer(200, body=LEANPLUM_BODY)],
            "200, closed after": [answer(200, b"Connection: close\r\n", LEANPLUM_BODY), CLOSE],
            "200, closed without notice": [answer(200, body=LEANPLUM_BODY), CLOSE],
            "200, reset after": [answer(200, body=LEANPLUM_BODY), Pause(0.2), RESET],
            "200 without a length": [OK + b"\r\n" + LEANPLUM_BODY, CLOSE],
            "200 in chunks": [OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
                              % (len(LEANPLUM_BODY), LEANPLUM_BODY)],
            "head in drops": [Drip(answer(200, body=LEANPLUM_BODY), 0.002)]}.items():
        yield name, steps, DELIVERED


def table():
    """Returns the name of each behavior, a function that creates it, and the expected outcome of uploads."""
    rows = []
    for source in (statuses, cut_bodies, no_answers, valid_answers):
        for name, steps, meaning in source():
            rows.append((name, lambda times, steps=steps: Behavior(steps, times=times), meaning))
    for name, step in (("closes", CLOSE), ("resets", RESET), ("hangs", HANG)):
        rows.append((name + " before the body",
                     lambda times, step=step: Behavior(before_body=[step], times=times), LATER))
        rows.append((name + " on connecting",
                     lambda times, step=step: Behavior(on_connect=[step], times=times), LATER))
    rows.append(("garbage on connecting", lambda times: Behavior(on_connect=[b"\xff" * 99, CLOSE], times=times), LATER))
    return rows


def meaning_for(system, name, meaning):
    """Returns the expected outcome for a system.

    Leanplum reports the outcome in the body, so that a response with an incomplete body is not final.
    """
    if system == "leanplum" and meaning in (DELIVERED, REJECTED) and (", body" in name or "broken chunks" in name):
        return LATER
    return meaning


def behaviors(campaign, part, _):
    """Tests each behavior with each system, both for all requests and for the first two requests only."""
    cases = [(system, times, *row) for row in table() for system in CAPTURES for times in (None, 2)]
    bundles = {}
    for system, capture in CAPTURES.items():
        bundle = campaign.bundle(system + ".tar.zst", capture)
        bundles[system] = (bundle, kills.expected_items(campaign, bundle))

    def run(number, folder):
        system, times, name, make, meaning = cases[number]
        meaning = meaning_for(system, name, meaning)
        try:
            behavior = make(times)
            behavior.accepts = meaning == DELIVERED
            with Server(behavior) as server:
                case = Case(campaign, folder, server, *bundles[system], SHORT if behavior.keeps_clients_waiting() else LONG)
                case.first_job(meaning, times)
                case.next_jobs(meaning, system)
        except Failure as failure:
            raise Failure("%s, %s%s: %s" % (name, system, "" if times is None else ", at first", failure)) from None
        return meaning

    def terminated(number, folder):
        name, make, _ = stalls[number]
        with Server(make(None)) as server:
            try:
                return stop_waiting_job(campaign, folder, server, bundles["mozilla"][0])
            except Failure as failure:
                raise Failure("%s: %s" % (name, failure)) from None

    # At a smaller scale, the cases are spread over the whole list. Many cases run at once, because they mostly wait.
    chosen = campaign.cases(len(cases))
    numbers = chosen if campaign.case is not None else [index * len(cases) // len(chosen) for index in chosen]
    campaign.each(part, numbers, run, jobs=8 * campaign.jobs)
    stalls = [row for row in table() if any(word in row[0] for word in ("hang", "stall", "drip", "endless"))]
    if campaign.case is None:
        campaign.each(part + "-signal", campaign.cases(len(stalls)), terminated, jobs=8 * campaign.jobs)


class Case:
    """A case with one system and one behavior of the server."""

    def __init__(self, campaign, folder, server, bundle, wanted, timeouts):
        self.campaign, self.folder, self.server, self.wanted = campaign, folder, server, wanted
        self.ledger = folder + "/l.sqlite"
        connect, read, exchange = timeouts
        self.words = campaign.job(
            self.ledger, "-q", *kills.endpoints(server), "--attempts", str(ATTEMPTS), "--connect-timeout", str(connect),
            "--read-timeout", str(read), "--exchange-timeout", str(exchange), bundle)
        # The requests of one client are sent one after another, with pauses between them.
        self.timeout = RECORDS * ATTEMPTS * (connect + exchange + 1) + 20

    def job(self):
        return self.campaign.run(self.folder, "pingferry-upload", *self.words, timeout=self.timeout)

    def first_job(self, meaning, times):
        done = self.job()
        allowed = {STATUS[meaning]}
        if times is not None and meaning == LATER:
            # If both attempts of a request failed, the remaining requests of that client are deferred. 69 states that nothing
            # was delivered.
            allowed |= {0, 75}
        if done.returncode not in allowed:
            raise Failure("status %d instead of %s: %s" % (done.returncode, sorted(allowed), first_line(done)))

    def next_jobs(self, meaning, system):
        """Runs jobs while the server follows the protocol, after a retry of the rejected uploads. All items must arrive."""
        self.server.reset()
        refusals = self.campaign.status(self.folder, self.ledger)["refusals"]
        if bool(refusals) != (meaning == REJECTED):
            raise Failure("the ledger contains %d rejected uploads" % len(refusals))
        if refusals:
            ids = [refusal["id"] for refusal in refusals]
            self.campaign.run(self.folder, "pingferry-upload", "retry", "-q", "--ledger", self.ledger, *ids)
        for _ in range(3):
            done = self.job()
            if done.returncode not in (69, 75):
                break
            if self.server.requests == 0:
                # The pause requested by the server has not ended yet.
                return
        self.check_end(done, meaning, system)

    def check_end(self, done, meaning, system):
        if done.returncode != 0:
            raise Failure("the next job ended with status %d: %s" % (done.returncode, first_line(done)))
        lost = self.wanted - set(self.server.accepted)
        if lost:
            raise Failure("%d of %d items never arrived" % (len(lost), len(self.wanted)))
        kills.check_settled(self.campaign, self.folder, self.ledger)
        twice = [key for key, count in self.server.accepted.items() if count > 1]
        if twice:
            raise Failure("%d items were sent again after a response" % len(twice))
        if meaning == DELIVERED and self.server.requests:
            raise Failure("the next job sent %d requests, although all items were delivered" % self.server.requests)


def stop_waiting_job(campaign, folder, server, bundle):
    """Checks that SIGTERM ends a job while the server does not respond. Returns a description of the outcome."""
    ledger = folder + "/l.sqlite"
    words = campaign.job(ledger, "-q", *kills.endpoints(server), "--read-timeout", "600", bundle)
    process = campaign.start(folder, "pingferry-upload", *words)
    time.sleep(1.5)
    if process.poll() is not None:
        return "ended before the signal"
    start = time.monotonic()
    process.terminate()
    while process.poll() is None and time.monotonic() < start + SIGNAL_TIMEOUT:
        time.sleep(0.05)
    seconds = time.monotonic() - start
    if process.poll() is None:
        process.kill()
        process.wait()
    if seconds >= SIGNAL_TIMEOUT:
        raise Failure("SIGTERM did not end the job in %d s" % SIGNAL_TIMEOUT)
    kills.check_ledger(campaign, folder, ledger, server)
    return "ended %d s after SIGTERM" % seconds
