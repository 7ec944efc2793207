"""Answers five questions with the tables in a folder that `pingferry convert -o phone.csv` writes.

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


records, events, core, holds = table("records"), table("events"), table("core"), table("holds")
searches = table("searches")

# Each client counts once a day. The case of letters in client ids is ignored.
seen = records.assign(client=records.system + " " + records.client.str.lower())
show("daily-active-clients", seen.groupby("day").client.nunique().reset_index(name="clients"))

# Events without a documented meaning have no label. Their names are used instead.
named = events.assign(day=events["at"].str[:10], label=events.label.fillna(events.name))
show("events-by-label", named.groupby(["day", "label"]).size().reset_index(name="events"))

# The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
pings = core.merge(records[["record", "client"]], on="record")
pings = pings.assign(client=pings.client.str.lower(), seq=pings.seq.astype("Int64"))
gaps = pings.groupby("client").seq.agg(first="min", last="max", found="nunique").reset_index()
gaps["missing"] = gaps["last"] - gaps["first"] + 1 - gaps["found"]
show("sequence-gaps", gaps[gaps.missing > 0].drop(columns="found"))

searches["searches"] = searches["count"].astype("Int64")
show("searches-by-engine", searches.groupby("engine").searches.sum().reset_index())

in_record = events.groupby("record").size().rename("events")
waiting = holds[["record", "code"]].drop_duplicates().join(in_record, on="record").fillna({"events": 0})
waiting["events"] = waiting["events"].astype("Int64")
show("what-waits", waiting.groupby("code").agg(records=("record", "size"), events=("events", "sum")).reset_index())
