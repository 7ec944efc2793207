"""A model of phones, of a server and of the ledger, from which `nights` predicts the uploads of each job."""

import base64
import collections
import datetime
import hashlib
import itertools
import json
import time
import uuid

import answers
from campaign import Failure
from server import CLOSE, LEANPLUM_BODY, Behavior, Server, element_key, items

FIRST_NIGHT = datetime.datetime(2026, 6, 1, 2, 30)
DAY = datetime.timedelta(days=1)
# The number of jobs in which a record fails alone with a server error before it is set aside.
LONE_FAILURES = 3
# The outcomes of records in receipts.
DELIVERED, REFUSED, EXCLUDED, HELD, IN_FLIGHT, WAITING = "delivered", "refused", "excluded", "held", "in-flight", "waiting"

# An answer of the server. `pause` is the value of Retry-After in seconds, or 0 for none.
Answer = collections.namedtuple("Answer", "status pause", defaults=[0])
# A request for a record. `items` are the keys that `server.items` returns: all items, or the undelivered events of a list.
Upload = collections.namedtuple("Upload", "record items")
# The faults of a job: the answers to all records of a system and to single records, the number of the request at which the job is
# killed, and whether the proxy can be reached.
Faults = collections.namedtuple("Faults", "systems records kill has_proxy", defaults=[{}, {}, None, True])
REFUSALS = (400, 404, 413)


def expect(name, found, wanted):
    if found != wanted:
        raise Failure("%s: %s instead of %s" % (name, found, wanted))


# Records

class Record:
    """A record. Its number increases with its time."""

    def __init__(self, number, client, kind, path, payload, held):
        self.number, self.client, self.system, self.held = number, client, client[0], held
        self.kind, self.is_list = kind, self.system != "mozilla"
        text = json.dumps(payload, sort_keys=True, separators=(",", ":"))
        self.id = "sha256:" + hashlib.sha256(text.encode()).hexdigest() if self.is_list else path.split("/")[3]
        self.events = payload["data"] if self.is_list else []
        self.items = frozenset(map(element_key, self.events)) if self.is_list else frozenset([path])
        queued = FIRST_NIGHT - 9 * DAY + number * datetime.timedelta(minutes=1)
        self.line = json.dumps({
            "system": self.system, "type": kind, "id": self.id, "client": client[1], "time": queued.isoformat() + ".000Z",
            "app": None, "target": {"path": path}, "payload": payload, "notes": [], "held": held,
            "source": {"capture": "nights", "path": str(number), "store": "har-entry", "index": 0}})

    def __repr__(self):
        return "%s %s %d (%s)" % (self.system, self.kind, self.number, self.id)


class Phones:
    """Clients that write random records."""

    def __init__(self, choice):
        self.choice, self.records = choice, []
        systems = ["mozilla"] * choice.randint(2, 4) + ["sift"] * choice.randint(1, 2) + ["leanplum"] * choice.randint(1, 2)
        self.clients = [(system, self.identifier()) for system in systems]

    def identifier(self):
        return str(uuid.UUID(int=self.choice.getrandbits(128), version=4)).upper()

    def write(self):
        """Returns the new records of some clients."""
        new = []
        for client in self.choice.sample(self.clients, self.choice.randint(1, len(self.clients))):
            for _ in range(self.choice.randint(1, 7)):
                new.append((self.ping if client[0] == "mozilla" else self.list)(client, len(self.records)))
                self.records.append(new[-1])
        return new

    def ping(self, client, number):
        kind, document = self.choice.choice(["core", "focus-event"]), self.identifier()
        payload = {
            "clientId": client[1], "seq": number, "locale": "en-US", "os": "iOS", "osversion": "13.3.1", "device": "iPhone11,8",
            "arch": "arm64", "tz": 0}
        if kind == "core":
            payload |= {"v": 7, "created": "2026-05-20", "profileDate": 18119, "sessions": 1, "durations": 9, "searches": {}}
        else:
            payload |= {"v": 1, "created": 1583154291684, "processStartTimestamp": 1583154195279, "settings": {},
                        "events": [[second, "action", "foreground", "app"] for second in range(3)]}
        held = self.choice.choices([[], ["schema"], ["pending-events"]], [0.9, 0.06, 0.04])[0]
        path = "/submit/telemetry/%s/%s/Focus/8.1.3/release/4236?v=4" % (document, kind)
        return Record(number, client, kind, path, payload, held)

    def list(self, client, number):
        """Returns a list of new events, which sometimes follow events of an earlier list."""
        events = [self.event(client) for _ in range(self.choice.randint(1, 3))]
        earlier = [record for record in self.records if record.client == client]
        if earlier and self.choice.random() < 0.3:
            shared = self.choice.choice(earlier).events
            events = self.choice.sample(shared, self.choice.randint(1, len(shared))) + events
        if client[0] == "sift":
            return Record(number, client, "mobile_events", "/v3/accounts/nights/mobile_events", {"data": events}, [])
        return Record(number, client, "multi", "/api", {"data": events}, [])

    def event(self, client):
        if client[0] == "sift":
            return {"time": self.choice.getrandbits(40), "mobile_event_type": "view", "path": "/", "installation_id": client[1]}
        return {"action": "track", "event": "view", "client": "ios", "deviceId": client[1], "userId": client[1], "devMode": False,
                "sdkVersion": "2.7.2", "time": "1583311541.250000", "reqId": self.identifier(), "uuid": self.identifier()}


# The server

class NightServer(Server):
    """A server that logs each upload with its answer, and kills the job when the faults require it."""

    def __init__(self, phones):
        super().__init__(Behavior(self.respond))
        self.phones, self.faults, self.process, self.key = phones, Faults(), None, None
        self.log, self.plan, self.poison, self.connections, self.logged = [], {}, set(), 0, 0

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            await super().serve(reader, writer)
        finally:
            self.connections -= 1

    async def body(self, reader, headers):
        body = await super().body(reader, headers)
        # No other request is read before `respond` is called for this one.
        self.last = headers, body
        return body

    def respond(self, path):
        """Logs a request for `path`, and returns the steps of the answer."""
        keys = frozenset(items(path, *self.last))
        # Several lists can contain the same events. If none of them is planned, the upload is a fault that the checks find.
        candidates = [upload.record for upload in itertools.chain(*self.plan.values()) if upload.items == keys]
        candidates += [record for record in self.phones.records if keys <= record.items]
        record = candidates[0]
        answer = self.answer_to(record, self.last[0].get("authorization", ""))
        self.log.append((Upload(record, keys), answer))
        self.logged += 1
        if self.faults.kill is not None and len(self.log) >= self.faults.kill:
            self.process.kill()
            return [CLOSE]
        if answer.status == CLOSE:
            return [CLOSE]
        headers = b"Retry-After: %d\r\n" % answer.pause if answer.pause else b""
        return [answers.answer(answer.status, headers, LEANPLUM_BODY if answer.status == 200 else b"nights")]

    def answer_to(self, record, authorization):
        if record.system == "sift" and base64.b64decode(authorization.split()[-1]).decode().rstrip(":") != self.key:
            return Answer(401)
        if record.system in self.faults.systems:
            return self.faults.systems[record.system]
        if record in self.poison:
            return Answer(500)
        return self.faults.records.get(record, Answer(200))

    def take_log(self):
        """Returns the uploads since the last call, each with its last answer, after the job has closed its connections."""
        time.sleep(0.02)
        while self.connections:
            time.sleep(0.005)
        log, self.log = self.log, []
        return dict(log)


# The model

class Model:
    """The expected contents of the ledger."""

    def __init__(self, choice):
        self.daily, self.per_type = choice.randint(3, 8), choice.randint(2, 5)
        self.scope = choice.choice(["client", "client", "job"])
        if self.scope == "job":
            self.daily, self.per_type = 4 * self.daily, 3 * self.per_type
        # The hours by which the time zone of the daily limit differs from UTC.
        self.zone = choice.choice([0, 2])
        self.settled, self.failures, self.items = {}, collections.Counter(), set()
        # The day on which each upload in flight was marked. An upload is uncertain if an earlier job has marked it.
        self.flights, self.uncertain = {}, set()
        self.quotas = collections.Counter()
        self.released, self.known, self.pause = set(), set(), None
        # Uploads in flight since another day that a job may have marked again without a request. Then they count today as well.
        self.perhaps_marked = set()
        # The number of additional deliveries of each record that are allowed.
        self.repeats = collections.Counter()

    def is_held(self, record):
        return bool(record.held) and record not in self.released

    def is_set_aside(self, record):
        return record not in self.settled and self.failures[record] >= LONE_FAILURES

    def is_in_flight(self, record):
        return any(upload.record is record for upload in self.flights)

    def outcome(self, record):
        """Returns the outcome of a record in a receipt."""
        if record in self.settled:
            return self.settled[record]
        if self.is_held(record):
            return HELD
        if record.is_list and record.items <= self.items:
            return DELIVERED
        return IN_FLIGHT if self.is_in_flight(record) else WAITING

    def totals(self, system=None):
        """Returns the numbers of records in `status`, and the number of uploads in flight."""
        outcomes = [outcome for record, outcome in self.settled.items() if system in (None, record.system)]
        flights = [upload for upload in self.flights if system in (None, upload.record.system)]
        return {"delivered": outcomes.count(DELIVERED), "refused": outcomes.count(REFUSED), "givenUp": outcomes.count(EXCLUDED),
                "inFlight": len(flights)}

    def day(self, now):
        return (now + datetime.timedelta(hours=self.zone)).date()

    def bucket(self, client):
        """Returns the part of a key that identifies the uploads that share a limit with those of `client`."""
        return client if self.scope == "client" else None

    def used(self, client, day):
        """Returns the number of uploads of a client that count toward its limit, or of all clients if it is `None`."""
        # Uploads of later days count, too, if the clock was set back.
        return sum(count for (name, used), count in self.quotas.items() if client in (None, name) and used >= day)

    def is_paused(self, now):
        return self.pause is not None and now < self.pause[1] and self.pause[0] - now <= DAY

    def begin(self, records, now):
        """Begins a job. Returns the uploads that it must make, in order, by client."""
        day, plan, planned, sent, finished = self.day(now), collections.defaultdict(list), collections.Counter(), set(), []
        for record in sorted(records, key=lambda record: record.number):
            if record in self.settled or self.is_held(record) or self.is_set_aside(record) or self.is_paused(now):
                continue
            left = record.items - self.items - sent
            if not left:
                finished.append(record)
                continue
            upload, bucket = Upload(record, left), self.bucket(record.client)
            slot, is_new = (bucket, record.system, record.kind), self.flights.get(upload) != day
            if is_new and self.used(bucket, day) + planned[bucket] >= self.daily or planned[slot] >= self.per_type:
                continue
            planned.update({slot: 1, bucket: is_new})
            plan[record.client].append(upload)
            sent |= left
        for record in finished:
            self.settle(record, DELIVERED)
        self.known |= {record for record in records if record not in self.settled}
        self.uncertain, self.perhaps_marked = set(self.flights), set()
        if self.pause and self.pause[1] <= now:
            self.pause = None
        return plan

    def mark(self, upload, day):
        if self.flights.get(upload) != day:
            self.quotas[upload.record.client, day] += 1
        self.flights[upload] = day

    def mark_again(self, client, day):
        for upload in self.perhaps_marked & self.flights.keys():
            if upload.record.client == client:
                self.mark(upload, day)

    def settle(self, record, outcome):
        self.settled[record] = outcome
        self.failures.pop(record, None)
        for upload in [upload for upload in self.flights if upload.record is record]:
            del self.flights[upload]

    def answer(self, upload, answer, now):
        """Applies the answer to an upload."""
        self.mark(upload, self.day(now))
        if answer.status == 200:
            self.settle(upload.record, DELIVERED)
            self.items |= upload.items if upload.record.is_list else set()
        elif answer.status in REFUSALS:
            self.settle(upload.record, REFUSED)
        elif answer.status == CLOSE:
            self.repeats[upload.record] += 1
        elif upload not in self.uncertain:
            del self.flights[upload]
            self.quotas[upload.record.client, self.day(now)] -= 1
        end = now + datetime.timedelta(seconds=answer.pause)
        if answer.pause and (not self.pause or end > self.pause[1] or self.pause[0] > now + DAY):
            self.pause = (now, end)

    def count_lone_failures(self, log, stopped):
        """Counts records that failed with a server error. `stopped` are the systems whose server was left alone."""
        delivering = {upload.record.system for upload, answer in log.items() if answer.status == 200}
        for upload, answer in log.items():
            is_server_error = answer.status != CLOSE and answer.status >= 500 and not answer.pause
            if is_server_error and upload.record.system in delivering - stopped:
                self.failures[upload.record] += 1

    def forget(self, record):
        self.repeats[record] += self.settled.get(record) == DELIVERED
        self.settle(record, None)
        del self.settled[record]
        self.known.discard(record)
        self.released.discard(record)
