"""Answers six questions with the tables in a folder that `pingferry convert -o phone.csv` writes.

    python3 pandas_questions.py phone.csv
"""

import sys

import pandas


def table(name):
    # All columns are read as strings, because pandas could mistake a column with few values for numbers. An empty field is a
    # missing value.
    return pandas.read_csv(f"{sys.argv[1]}/{name}.csv", dtype="string", keep_default_na=False, na_values=[""])


def show(question, answer):
    print("#", question)
    answer.to_csv(sys.stdout, index=False, lineterminator="\n")


def total(numbers):
    # The integers of Python have no limit. The sum of a column of 64-bit integers would be wrong if a forged number made it too large.
    return sum(int(number) for number in numbers.dropna())


records, events, core, holds = table("records"), table("events"), table("core"), table("holds")
searches = table("searches")
# Rows with an impossible time, which results from a wrong clock, are left out of answers by day.
timed, timed_events = records[records.clock == "plausible"], events[events.at_clock == "plausible"]

# Each client counts once a day.
seen = timed.assign(client=timed.system + " " + timed.client_key)
show("daily-active-clients", seen.groupby("day").client.nunique().reset_index(name="clients"))

# Events without a documented meaning have no label. Their names are used instead.
named = timed_events.assign(day=timed_events.at_day, label=timed_events.label.fillna(timed_events.name))
show("events-by-label", named.groupby(["day", "label"]).size().reset_index(name="events"))

usage = core.merge(timed[["record", "day"]], on="record")
show("usage-by-day", usage.groupby("day").durations.agg(total).reset_index(name="seconds"))

# The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
pings = core.merge(records[["record", "client_key"]], on="record").dropna(subset=["client_key", "seq"])
numbers = {client: {int(number) for number in group.seq} for client, group in pings.groupby("client_key")}
gaps = pandas.DataFrame(
    [(client, min(found), max(found), max(found) - min(found) + 1 - len(found)) for client, found in numbers.items()],
    columns=["client", "first_number", "last_number", "missing"], dtype="object")
show("sequence-gaps", gaps[gaps.missing > 0])

show("searches-by-engine", searches.groupby("engine")["count"].agg(total).reset_index(name="searches"))

in_record = events.groupby("record").size().rename("events")
waiting = holds[["record", "code"]].drop_duplicates().join(in_record, on="record").fillna({"events": 0})
waiting["events"] = waiting["events"].astype("Int64")
show("what-waits", waiting.groupby("code").agg(records=("record", "size"), events=("events", "sum")).reset_index())
