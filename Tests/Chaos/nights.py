"""Simulates ten nights of scheduled upload jobs, and compares all figures after each job.

A model of the ledger predicts the uploads of each job, and is updated from the answers of the server. After a kill, a receipt
states whether the last upload of each client was settled, because only the ledger contains this.
"""

import collections
import datetime
import glob
import json
import os
import shutil
import subprocess
import sys

from campaign import TIMEOUT, Failure, first_line, read
from nights_model import (
    DAY, DELIVERED, EXCLUDED, FIRST_NIGHT, HELD, IN_FLIGHT, REFUSALS, REFUSED, WAITING, Answer, Faults, Model, NightServer, Phones, expect)
from server import CLOSE

NIGHTS = 10
# The maximum number of nights without faults after which everything must have arrived.
GOOD_NIGHTS = 60
# Retry-After exceeds the maximum delay within a job, so that jobs do not wait.
OUTAGES = [Answer(500), Answer(502), Answer(302), Answer(503, 72_600), Answer(429, 37_800), Answer(CLOSE)]
SINGLE_FAULTS = [Answer(status) for status in (500, 500, 503, 429, CLOSE, *REFUSALS)]


class Case:
    """The nights of one operator."""

    def __init__(self, campaign, choice, folder, statistics):
        self.campaign, self.choice, self.folder, self.statistics = campaign, choice, folder, statistics
        for name in ("spool", "done", "records"):
            os.mkdir(os.path.join(folder, name))
        self.phones = Phones(choice)
        self.model = Model(choice)
        # The records of each bundle by the name of its file, and the contents of files that are still being copied.
        self.bundles, self.unfinished = {}, {}
        self.jobs, self.key = 0, "old"
        zone = "Etc/GMT-2" if self.model.zone else "UTC"
        self.common = ["--ledger", self.path("ledger.sqlite"), "--timezone", zone]
        self.rotation = sorted(choice.sample(range(NIGHTS + 1), 2))
        self.uploads = collections.defaultdict(set)
        self.arrived = collections.Counter()

    def program(self, now, *words):
        """Runs an upload program whose clock begins at `now`, and returns the finished process."""
        environment = self.campaign.environment(self.folder) | {
            "LD_PRELOAD": "/usr/$LIB/faketime/libfaketimeMT.so.1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC",
            "FAKETIME": now.strftime("@%Y-%m-%d %H:%M:%S"), "PINGFERRY_SIFT_KEY_nights": self.key}
        process = subprocess.Popen(
            self.campaign.command("pingferry-upload", *words), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.server.process = process
        try:
            output, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failure("%s was still running after %d s" % (words[0], TIMEOUT)) from None
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def spool(self):
        """Returns the names of the files of bundles that jobs are given."""
        return sorted(name for name in os.listdir(self.path("spool")) if name.endswith((".zst", ".001")))

    def deliver_bundle(self, night):
        """Puts a bundle of new records, and sometimes of earlier ones, into the spool. Sometimes its copy is unfinished."""
        earlier = self.phones.records[:]
        records = self.phones.write()
        if earlier and self.choice.random() < 0.3:
            records = self.choice.sample(earlier, self.choice.randint(1, min(9, len(earlier)))) + records
        captures, name = self.path("records", "%d.ndjson" % night), "%d.tar.zst" % night
        with open(captures, "w") as file:
            file.writelines(record.line + "\n" for record in records)
        volumes = self.choice.random() < 0.2
        done = self.campaign.pingferry(
            self.folder, "bundle", "-q", *(["--volume-size", "4K"] if volumes else []), "-o", self.path("spool", name), captures)
        expect("status of bundle: %s" % first_line(done), done.returncode, 0)
        self.bundles[name + ".001" if volumes else name] = records
        # The first bundle is complete, because without a ledger, a job without a readable bundle has no summary.
        if night > 0 and not volumes and self.choice.random() < 0.15:
            self.unfinished[name] = read(self.path("spool", name))
            os.truncate(self.path("spool", name), self.choice.randrange(len(self.unfinished[name])))

    def finish_copies(self):
        for name, data in self.unfinished.items():
            with open(self.path("spool", name), "wb") as file:
                file.write(data)
        self.unfinished = {}

    def run(self):
        with NightServer(self.phones) as self.server:
            for night in range(NIGHTS):
                if night > 0 and self.choice.random() < 0.6:
                    self.finish_copies()
                if night == 0 or self.choice.random() < 0.7:
                    self.deliver_bundle(night)
                waiting = [record for record in self.phones.records if record not in self.model.settled]
                if waiting and self.choice.random() < 0.15:
                    self.server.poison.add(self.choice.choice(waiting))
                self.server.key = "old" if night < self.rotation[0] else "new"
                self.key = "old" if night < self.rotation[1] else "new"
                shift = self.choice.choice([0, 0, 0, self.choice.randint(-6, 23)])
                now = FIRST_NIGHT + night * DAY + datetime.timedelta(hours=shift)
                was_killed = self.described_job(now, self.random_faults())
                if was_killed or self.choice.random() < 0.25:
                    self.described_job(now + datetime.timedelta(hours=1), self.random_faults())
                if self.choice.random() < 0.6:
                    self.morning(now + datetime.timedelta(hours=5))
            self.good_nights()
        self.check_arrivals()

    def random_faults(self):
        kind = self.choice.choices(["none", "outage", "system", "records", "proxy"], [35, 15, 15, 30, 5])[0]
        outage = self.choice.choice(OUTAGES)
        if kind == "proxy":
            return Faults(has_proxy=False)
        kill = self.choice.randint(1, 12) if self.choice.random() < 0.2 else None
        waiting = [record for record in self.phones.records if record not in self.model.settled]
        chosen = self.choice.sample(waiting, min(len(waiting), self.choice.randint(1, 5))) if kind == "records" else []
        systems = {"outage": ["mozilla", "sift", "leanplum"], "system": [self.choice.choice(["mozilla", "sift"])]}.get(kind, [])
        return Faults(dict.fromkeys(systems, outage), {record: self.choice.choice(SINGLE_FAULTS) for record in chosen}, kill)

    def described_job(self, now, faults):
        try:
            return self.job(now, faults)
        except Failure as failure:
            raise Failure("job %d at %s (%s): %s" % (self.jobs, now, faults, failure)) from None

    def job(self, now, faults):
        """Runs a job and checks all figures. Returns whether the job was killed."""
        self.jobs += 1
        names = self.spool()
        pool = [record for name in names if name not in self.unfinished for record in self.bundles[name]]
        was_paused = self.model.is_paused(now)
        plan = self.model.begin(set(pool), now)
        self.server.faults, self.server.plan, self.server.logged = faults, plan, 0
        receipt = ["--receipt", self.path("receipt.json"), "--receipt-records", "--force"]
        # Without a readable bundle, there is no receipt.
        done = self.program(
            now, "send", *self.common, *(receipt if pool else []), "--keep-going", "--json", "--move-done", self.path("done"),
            "--metrics", self.path("metrics.prom"), "--endpoint", self.server.address, "--attempts", "1",
            "--proxy", "direct" if faults.has_proxy else "http://127.0.0.1:1", "--connections", str(self.choice.randint(1, 8)),
            "--daily-limit", str(self.model.daily), "--per-type-limit", str(self.model.per_type),
            "--limit-scope", self.model.scope, self.path("spool"))
        log = self.server.take_log()
        self.check_uploads(log, plan, now)
        for uploads in plan.values():
            self.model.perhaps_marked.update(uploads[len(log.keys() & set(uploads)):][:1])
        was_killed = done.returncode == -9
        self.statistics.update(jobs=1, kills=was_killed, requests=self.server.logged)
        if was_killed:
            self.adopt(log, plan, now)
            self.check_status(now)
            return True
        if done.returncode < 0 or done.returncode >= 128 or not done.stdout:
            raise Failure("status %d: %s" % (done.returncode, first_line(done)))
        summary = json.loads(done.stdout)
        for upload, answer in log.items():
            self.model.answer(upload, answer, now)
        stopped = {reason["system"] for reason in summary["undelivered"] if reason["code"] == "server-left-alone"}
        self.model.count_lone_failures(log, stopped)
        self.check_summary(summary, log, plan, pool, faults)
        status = self.expected_status(summary, log, pool, was_paused, plan)
        expect("exit status (%s)" % first_line(done), done.returncode, status)
        if pool:
            self.check_receipt(read(self.path("receipt.json")), pool)
        self.check_status(now)
        self.check_metrics(summary, status)
        self.check_moved(names, now)
        return False

    # Checks

    def check_uploads(self, log, plan, now):
        """Checks that the uploads of each client are the first ones of its plan, and that they respect the limits."""
        sent, kinds = collections.defaultdict(list), collections.Counter()
        for upload, answer in log.items():
            client, bucket = upload.record.client, self.model.bucket(upload.record.client)
            sent[client].append(upload)
            slot, day = (bucket, upload.record.system, upload.record.kind), (bucket, self.model.day(now))
            kinds[slot] += 1
            # Uploads that the server has certainly not accepted are not counted.
            if answer.status in (200, CLOSE, *REFUSALS):
                self.uploads[day].add(upload)
            if answer.status in (200, CLOSE):
                self.arrived.update(upload.items)
            if len(self.uploads[day]) > self.model.daily or kinds[slot] > self.model.per_type:
                raise Failure("the uploads of %s exceed the limits" % (client,))
        for client, uploads in sent.items():
            for upload, planned in zip(uploads, plan[client] + [None] * len(uploads)):
                if upload != planned:
                    state = self.model.outcome(upload.record)
                    raise Failure("sent %s, which is %s, instead of %s" % (upload, state, planned))

    def check_summary(self, summary, log, plan, pool, faults):
        statuses = [answer.status for answer in log.values()]
        counts = summary["records"]
        expect("delivered in the summary", counts.get("delivered", 0), statuses.count(200))
        expect("refused in the summary", counts.get("refused", 0), sum(status in REFUSALS for status in statuses))
        expect("sum of the records in the summary", sum(counts.values()), summary["total"])
        expect("total in the summary", summary["total"], len(pool))
        if faults.has_proxy:
            details = "%d requests arrived, undelivered: %s" % (self.server.logged, summary["undelivered"])
            expect("requests in the summary (%s)" % details, summary["requests"], len(log))
            if all(status in (200, *REFUSALS) for status in statuses):
                expect("uploads without a failure", len(log), sum(map(len, plan.values())))
        planned = sum(map(len, plan.values()))
        undelivered = sum(reason["uploads"] for reason in summary["undelivered"])
        settled = statuses.count(200) + sum(status in REFUSALS for status in statuses)
        expect("undelivered uploads in the summary", undelivered, planned - settled)

    def expected_status(self, summary, log, pool, was_paused, plan):
        statuses = [answer.status for answer in log.values()]
        waiting = [record for record in pool if record not in self.model.settled and not self.model.is_held(record)]
        active = [record for record in waiting if not self.model.is_set_aside(record)]
        unresolved = [record for record in self.phones.records if self.model.settled.get(record) == REFUSED
                      or self.model.is_set_aside(record) or self.is_releasable(record)]
        failed = [status for status in statuses if status not in (200, *REFUSALS)] or (summary["requests"] if not log else 0)
        if self.unfinished:
            return 65
        if 401 in statuses:
            return 78
        if failed and 200 not in statuses or was_paused and active:
            return 69
        return 1 if unresolved else 75 if active else 0

    def is_releasable(self, record):
        return record in self.model.known and record.held == ["schema"] and self.model.outcome(record) == HELD

    def check_receipt(self, receipt, pool):
        found = sorted((record["id"], record["outcome"]) for record in json.loads(receipt)["predicate"]["records"])
        wanted = sorted((record.id, self.model.outcome(record)) for record in pool)
        if found != wanted:
            wrong = next(pair for pair in zip(found, wanted) if pair[0] != pair[1])
            raise Failure("receipt: %s instead of %s" % wrong)

    def check_status(self, now):
        done = self.program(now, "status", "--json", *self.common)
        expect("exit status of status: %s" % first_line(done), done.returncode, 0)
        status, day = json.loads(done.stdout), self.model.day(now)
        expect("totals in status", {key: status["totals"][key] for key in self.model.totals()}, self.model.totals())
        expect("set aside in status", {entry["id"] for entry in status["setAside"]},
               {record.id for record in self.phones.records if self.model.is_set_aside(record)})
        for entry in status["clients"]:
            client = entry["system"], entry["client"]
            if entry["today"] > self.model.used(client, day):
                self.model.mark_again(client, day)
            expect("today's uploads of %s in status" % (client,), entry["today"], self.model.used(client, day))

    def check_metrics(self, summary, status):
        values = collections.Counter()
        for line in read(self.path("metrics.prom")).decode().splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                values[name.removeprefix("pingferry_").split("{")[0], *name.split('"')[1:2]] += int(value)
        for system in ("mozilla", "sift", "leanplum"):
            totals = self.model.totals(system)
            for metric, key in {"delivered_records": "delivered", "refused_records": "refused", "in_flight_uploads": "inFlight",
                                "given_up_records": "givenUp"}.items():
                expect("metric %s of %s" % (metric, system), values[metric, system], totals[key])
            undelivered = sum(reason["uploads"] for reason in summary["undelivered"] if reason["system"] == system)
            expect("metric undelivered_uploads of %s" % system, values["undelivered_uploads", system], undelivered)
        expect("metric last_exit_status", values["last_exit_status",], status)
        expect("metric job_running", values["job_running",], 0)
        expect("metric unusable_bundles", values["unusable_bundles",], len(self.unfinished))

    def check_moved(self, names, now):
        finished = {DELIVERED, EXCLUDED, HELD}
        left = [name for name in names if name in self.unfinished
                or not {self.model.outcome(record) for record in self.bundles[name]} <= finished]
        expect("bundles that are not moved", self.spool(), left)
        if left and not self.unfinished:
            needs_action = any(self.model.outcome(record) == REFUSED or self.model.outcome(record) == WAITING
                               and self.model.is_set_aside(record) for name in left for record in self.bundles[name])
            done = self.program(now, "status", "-q", *self.common, self.path("spool"))
            expect("exit status of status with bundles", done.returncode, 1 if needs_action else 75)

    # Kills, mornings and the end

    def adopt(self, log, plan, now):
        """Applies the answers of a killed job. A receipt states which of the last uploads were settled."""
        names = [name for name in self.spool() if name not in self.unfinished]
        done = self.program(
            now, "receipt", "-q", "--receipt-records", *self.common, *[self.path("spool", name) for name in names])
        expect("exit status of receipt: %s" % first_line(done), done.returncode, 0)
        outcomes = {record["id"]: record["outcome"] for record in json.loads(done.stdout)["predicate"]["records"]}
        for uploads in plan.values():
            sent = [upload for upload in uploads if upload in log]
            for upload in sent[:-1]:
                self.model.answer(upload, log[upload], now)
            next_one = uploads[len(sent):len(sent) + 1]
            if sent and outcomes[sent[-1].record.id] == IN_FLIGHT:
                self.model.mark(sent[-1], self.model.day(now))
                self.model.repeats[sent[-1].record] += 1
                continue
            if sent:
                self.model.answer(sent[-1], log[sent[-1]], now)
            # The next upload can be marked although its request has not arrived.
            if next_one and outcomes[next_one[0].record.id] == IN_FLIGHT and next_one[0] not in self.model.flights:
                self.model.mark(next_one[0], self.model.day(now))
        self.check_receipt(done.stdout, [record for name in names for record in self.bundles[name]])

    def morning(self, now):
        """Runs a random command of the operator."""
        model, records, ledger = self.model, self.phones.records, self.common
        stuck = [record for record in records if model.settled.get(record) in (REFUSED, EXCLUDED) or model.is_set_aside(record)]
        waiting = [record for record in records if record in model.known and record not in model.settled
                   and not model.is_in_flight(record) and record.held != ["pending-events"]]
        had_pause = model.pause is not None
        action = self.choice.choice(["retry", "retry-all", "forget", "give-up", "release", "end-pause"])
        if action == "retry-all":
            words, chosen = ["retry", "--all"], [record for record in stuck if model.settled.get(record) != EXCLUDED]
        elif action == "end-pause":
            words, chosen, model.pause = ["forget", self.server.address], [], None
        else:
            among = {"retry": stuck, "release": list(filter(self.is_releasable, records)),
                     "forget": [record for record in records if record in model.known],
                     "give-up": waiting + [record for record in stuck if model.settled.get(record) == REFUSED]}[action]
            chosen = self.choice.sample(among, min(1, len(among)))
            words = {"give-up": ["forget", "--for-good"], "release": ["release", "--reason", "schema"]}.get(action, [action])
            words = words + [record.id for record in chosen]
        if not chosen and action != "end-pause":
            return
        done = self.program(now, *words, *ledger)
        expect("exit status of %s: %s" % (" ".join(words), first_line(done)), done.returncode, 0 if chosen or had_pause else 66)
        for record in chosen:
            if action == "forget":
                model.forget(record)
            elif action == "give-up":
                model.settle(record, EXCLUDED)
            elif action == "release":
                model.released.add(record)
            else:
                model.settled.pop(record, None)
                model.failures.pop(record, None)
        self.check_status(now)

    def good_nights(self):
        """Gives all bundles to jobs again, until they send nothing."""
        self.finish_copies()
        for name in os.listdir(self.path("done")):
            shutil.move(self.path("done", name), self.path("spool"))
        self.server.poison, self.server.key, self.key = set(), "new", "new"
        for night in range(NIGHTS + 1, NIGHTS + GOOD_NIGHTS):
            before = self.statistics["requests"]
            now = FIRST_NIGHT + night * DAY
            was_paused = self.model.is_paused(now)
            self.described_job(now, Faults())
            if self.statistics["requests"] == before and not was_paused:
                return
        raise Failure("jobs without faults still send uploads after %d nights" % GOOD_NIGHTS)

    def check_arrivals(self):
        """Checks that each item arrived once, except for allowed repeats, unless its record was not to be sent."""
        for record in self.phones.records:
            if self.model.outcome(record) in (WAITING, IN_FLIGHT) and not self.model.is_set_aside(record):
                raise Failure("%s is not delivered: %s" % (record, self.model.outcome(record)))
        lists = collections.defaultdict(list)
        for record in self.phones.records:
            for item in record.items:
                lists[item].append(record)
        for item, records in lists.items():
            delivered = [self.model.settled.get(record) == DELIVERED for record in records]
            most = any(delivered) + sum(self.model.repeats[record] for record in records)
            if not delivered[0] <= self.arrived[item] <= most:
                raise Failure("an item of %s arrived %d times instead of %d to %d times" % (
                    records, self.arrived[item], delivered[0], most))


def simulate(campaign, part, count):
    """Simulates the nights of several operators."""
    if not glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1"):
        sys.exit("%s: libfaketime is not installed" % part)
    statistics = collections.Counter()

    def run(number, folder):
        Case(campaign, campaign.random(part, number), folder, statistics).run()
        return "all figures agree"
    campaign.each(part, campaign.cases(count), run)
    print("%s: %s" % (part, dict(statistics)), file=sys.stderr)
