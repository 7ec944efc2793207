"""Answers questions to the tables in a folder that `pingferry convert -o phone.csv` made:

    python3 pandas_questions.py phone.csv
"""

import sys

import pandas


def table(name):
    # All as text, for a column of few values may look like numbers; an empty field is a value that is not known.
    return pandas.read_csv(f"{sys.argv[1]}/{name}.csv", dtype="string", keep_default_na=False, na_values=[""])


def show(question, answer):
    print("#", question)
    answer.to_csv(sys.stdout, index=False, lineterminator="\n")


records, events, core, holds = table("records"), table("events"), table("core"), table("holds")
searches = table("searches")

# Each client once a day, whatever the letter case of its id is.
seen = records.assign(client=records.system + " " + records.client.str.lower())
show("daily-active-clients", seen.groupby("day").client.nunique().reset_index(name="clients"))

# An event that no document names has its technical name alone.
named = events.assign(day=events.time.str[:10], label=events.label.fillna(events.name))
show("events-by-label", named.groupby(["day", "label"]).size().reset_index(name="events"))

# The phone counts the core pings of a client one by one: what lies between the first and the last has to be there.
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
