"""Servers that misbehave: each job ends in time, with the status of the contract, and the next one loses nothing."""

import random
import time

import kills
from campaign import Loss, said
from server import CLOSE, HANG, LEANPLUM_BODY, OK, RESET, Behaviour, Drip, Endless, Pause, Server

# What an upload has become, with the exit status of a job in which all ended so.
DELIVERED, REFUSED, LATER, CREDENTIAL = "delivered", "refused", "later", "credential"
STATUS = {DELIVERED: 0, REFUSED: 1, LATER: 75, CREDENTIAL: 78}
ATTEMPTS, CONNECT, READ, EXCHANGE = 2, 2, 2, 4
# Few records each, for a job may wait for each of them; and the most that one client has.
CAPTURES = {
    "mozilla": ["samples/webxr"], "sift": ["--client", "5A7702C9-1D4E-46B3-8F95-E0B6A3C81D27", "samples/shop"],
    "leanplum": ["samples/leanplum"]}
RECORDS = 5
# One job may take as long as a client's requests may, one after another, with the pauses between them.
LIMIT = RECORDS * ATTEMPTS * (CONNECT + EXCHANGE + 1) + 20


def answer(status, headers=b"", body=b"", length=None):
    """An answer as bytes; `length` is what it claims."""
    length = len(body) if length is None else length
    return b"HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s" % (status, headers, length, body)


def statuses():
    """Plain answers, by what they mean."""
    for status, meaning in [
            (200, DELIVERED), (400, REFUSED), (402, REFUSED), (404, REFUSED), (405, REFUSED), (410, REFUSED),
            (411, REFUSED), (413, REFUSED), (414, REFUSED), (422, REFUSED), (431, REFUSED), (451, REFUSED),
            (401, CREDENTIAL), (403, CREDENTIAL), (407, CREDENTIAL), (408, LATER), (429, LATER), (500, LATER),
            (502, LATER), (503, LATER), (504, LATER), (599, LATER), (301, LATER), (302, LATER), (307, LATER), (308, LATER)]:
        body = LEANPLUM_BODY if status == 200 else b"chaos"
        headers = b"Location: http://127.0.0.1:1/\r\n" if 300 <= status < 400 else b""
        yield "status %d" % status, [answer(status, headers, body)], meaning
    for text in (b"1", b"3600", b"-1", b"99999999999999999999", b"Fri, 31 Dec 2100 23:59:59 GMT", b"soon"):
        yield "429, Retry-After %s" % text.decode(), [answer(429, b"Retry-After: %s\r\n" % text)], LATER


def cut_bodies():
    """The status line decides; the body only explains."""
    for status, meaning in ((200, DELIVERED), (400, REFUSED), (503, LATER)):
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
    """Nothing that could be taken for an answer."""
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


def fine():
    """Odd answers that are good."""
    for name, steps in {
            "100 before 200": [b"HTTP/1.1 100 Continue\r\n\r\n", answer(200, body=LEANPLUM_BODY)],
            "103 before 200": [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", answer(200, body=LEANPLUM_BODY)],
            "slow": [Pause(0.5), answer(200, body=LEANPLUM_BODY)],
            "200, closed after": [answer(200, b"Connection: close\r\n", LEANPLUM_BODY), CLOSE],
            "200, closed without a word": [answer(200, body=LEANPLUM_BODY), CLOSE],
            "200, reset after": [answer(200, body=LEANPLUM_BODY), Pause(0.2), RESET],
            "200 without a length": [OK + b"\r\n" + LEANPLUM_BODY, CLOSE],
            "200 in chunks": [OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
                              % (len(LEANPLUM_BODY), LEANPLUM_BODY)],
            "head in drops": [Drip(answer(200, body=LEANPLUM_BODY), 0.002)]}.items():
        yield name, steps, DELIVERED


def table():
    """All behaviours: name, how a new one is made, and what becomes of uploads."""
    rows = []
    for source in (statuses, cut_bodies, no_answers, fine):
        for name, steps, meaning in source():
            rows.append((name, lambda times, steps=steps: Behaviour(steps, times=times), meaning))
    for name, step in (("closes", CLOSE), ("resets", RESET), ("hangs", HANG)):
        rows.append((name + " before the body",
                     lambda times, step=step: Behaviour(before_body=[step], times=times), LATER))
        rows.append((name + " on connecting",
                     lambda times, step=step: Behaviour(on_connect=[step], times=times), LATER))
    rows.append(("garbage on connecting", lambda times: Behaviour(on_connect=[b"\xff" * 99, CLOSE], times=times), LATER))
    return rows


def meaning_for(system, name, meaning):
    """Of Leanplum the body decides: an answer whose body did not arrive says nothing."""
    if system == "leanplum" and meaning in (DELIVERED, REFUSED) and (", body" in name or "broken chunks" in name):
        return LATER
    return meaning


def behaviours(campaign, part, _):
    """Each behaviour with each system: always, and for the first two requests only."""
    known = campaign.run(campaign.folder, "pingferry-upload", "send", "--help").stdout.decode()
    deadline = ["--exchange-timeout", str(EXCHANGE)] if "--exchange-timeout" in known else []
    cases = [(system, times, *row) for row in table() for system in CAPTURES for times in (None, 2)]
    bundles = {}
    for system, capture in CAPTURES.items():
        bundle = campaign.bundle(system + ".tar.zst", capture)
        bundles[system] = (bundle, kills.expected(campaign, bundle))

    def run(number, folder):
        system, times, name, make, meaning = cases[number]
        meaning = meaning_for(system, name, meaning)
        try:
            behaviour = make(times)
            behaviour.accepts = meaning == DELIVERED
            with Server(behaviour) as server:
                case = Case(campaign, folder, server, *bundles[system], deadline)
                case.first_job(meaning, times)
                case.next_jobs(meaning, system)
        except Loss as loss:
            raise Loss("%s, %s%s: %s" % (name, system, "" if times is None else ", at first", loss)) from None
        return meaning

    def signalled(number, folder):
        name, make, _ = stalls[number]
        with Server(make(None)) as server:
            try:
                return stop_while(campaign, folder, server, bundles["mozilla"][0])
            except Loss as loss:
                raise Loss("%s: %s" % (name, loss)) from None

    # A smaller campaign takes a part of the list, spread over it. Most of the time of a case is spent waiting.
    chosen = campaign.cases(len(cases))
    numbers = chosen if campaign.case is not None else [index * len(cases) // len(chosen) for index in chosen]
    campaign.each(part, numbers, run, jobs=8 * campaign.jobs)
    stalls = [row for row in table() if any(word in row[0] for word in ("hang", "stall", "drip", "endless"))]
    if campaign.case is None:
        campaign.each(part + "-signal", campaign.cases(len(stalls)), signalled, jobs=8 * campaign.jobs)


class Case:
    """One system and one behaviour."""

    def __init__(self, campaign, folder, server, bundle, wanted, deadline):
        self.campaign, self.folder, self.server, self.wanted = campaign, folder, server, wanted
        self.ledger = folder + "/l.sqlite"
        self.words = campaign.job(
            self.ledger, "-q", *kills.endpoints(server), "--attempts", str(ATTEMPTS), "--connect-timeout", str(CONNECT),
            "--read-timeout", str(READ), *deadline, bundle)

    def job(self):
        return self.campaign.run(self.folder, "pingferry-upload", *self.words, limit=LIMIT)

    def first_job(self, meaning, times):
        done = self.job()
        allowed = {STATUS[meaning]}
        if times is not None:
            # Two attempts may both have met it; then the rest of that client waits.
            allowed |= {0, 75} if meaning == LATER else set()
        if done.returncode not in allowed:
            raise Loss("status %d instead of %s: %s" % (done.returncode, sorted(allowed), said(done)))

    def next_jobs(self, meaning, system):
        """The server behaves now: what was refused is let go, and everything arrives."""
        self.server.forget()
        refusals = self.campaign.status(self.folder, self.ledger)["refusals"]
        if bool(refusals) != (meaning == REFUSED):
            raise Loss("%d refusals in the ledger" % len(refusals))
        if refusals:
            ids = [refusal["id"] for refusal in refusals]
            self.campaign.run(self.folder, "pingferry-upload", "retry", "-q", "--ledger", self.ledger, *ids)
        for _ in range(3):
            done = self.job()
            if done.returncode != 75:
                break
            if self.server.requests == 0:
                # It still keeps to what the server asked for.
                return
        self.check_end(done, meaning, system)

    def check_end(self, done, meaning, system):
        if done.returncode != 0:
            raise Loss("the job after it ended with %d: %s" % (done.returncode, said(done)))
        lost = self.wanted - set(self.server.accepted)
        if lost:
            raise Loss("%d of %d items never arrived" % (len(lost), len(self.wanted)))
        kills.check_settled(self.campaign, self.folder, self.ledger)
        twice = [key for key, count in self.server.accepted.items() if count > 1]
        if twice:
            raise Loss("%d items were sent again after an answer" % len(twice))
        if meaning == DELIVERED and self.server.requests:
            raise Loss("%d requests of the next job, after all was delivered" % self.server.requests)


def stop_while(campaign, folder, server, bundle):
    """SIGTERM while a server does not answer ends the job within 5 s."""
    ledger = folder + "/l.sqlite"
    words = campaign.job(ledger, "-q", *kills.endpoints(server), "--read-timeout", "600", bundle)
    process = campaign.start(folder, "pingferry-upload", *words)
    time.sleep(1.5)
    if process.poll() is not None:
        return "ended before the signal"
    start = time.monotonic()
    process.terminate()
    while process.poll() is None and time.monotonic() < start + 15:
        time.sleep(0.05)
    seconds = time.monotonic() - start
    if process.poll() is None:
        process.kill()
        process.wait()
    # Four seconds more, for a machine that is busy with the other cases.
    if seconds > 5 + 4:
        raise Loss("SIGTERM ended the job after %s" % ("%.1f s" % seconds if seconds < 15 else "more than 15 s"))
    kills.look(campaign, folder, ledger, server)
    return "ended %d s after SIGTERM" % seconds
