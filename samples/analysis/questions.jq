# Answers six questions with records that have labels and with the lines of a timeline, which `pingferry convert` writes:
#   pingferry convert --labels -o phone.ndjson phone/
#   pingferry convert -o phone.timeline.jsonl phone/
#   jq -nr -f questions.jq phone.ndjson phone.timeline.jsonl

def show(question; columns): "# " + question, (columns | @csv | gsub("\""; "")), (.[] | @csv);
def counts(name): reduce .[] as $key ({}; .[$key | tojson] += 1) | to_entries | map((.key | fromjson) + [.value]);

# Only integers count. Other values are missing in the tables, too.
def integer: if type == "number" and . == floor then . else null end;

# The column `clock` of the tables: a time before the first year of the system, or in 2038 or later, results from a wrong clock.
{"mozilla": "2015", "glean": "2018", "sift": "2015", "leanplum": "2012", "activity-stream": "2016", "adjust": "2013"} as $first_years
| def is_plausible(time): time != null and time[:4] >= $first_years[.system] and time[:4] < "2038";

# Records have a payload. Lines of a timeline do not.
[inputs] | map(select(has("payload"))) as $records | map(select(has("payload") | not)) as $lines
| ($records | map(select(.system == "mozilla" and .type == "core"))) as $core

# Each client counts once a day. The case of letters in client ids is ignored. A day on which no record has a client has 0 clients.
| ($records | map(select(is_plausible(.time))
      | {day: .time[:10], client: (if .client then [.system, (.client | ascii_downcase)] else null end)})
    | group_by(.day) | map([.[0].day, (map(.client | values) | unique | length)])
    | show("daily-active-clients"; ["day", "clients"])),

# Lines with a number `n` are events. The message is the label of the event or, if there is none, its name. An event with neither has
# the message of a record without events.
  ($lines | map(select(has("n") and is_plausible(.datetime) and (.name or .message != "\(.system) \(.type)"))
      | [.datetime[:10], .message]) | counts(.)
    | show("events-by-label"; ["day", "label", "events"])),

  ($core | map(select(is_plausible(.time)) | {day: .time[:10], seconds: (.payload.durations | integer // 0)})
    | group_by(.day) | map([.[0].day, (map(.seconds) | add)])
    | show("usage-by-day"; ["day", "seconds"])),

# The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
  ($core | map({client: (.client // empty | ascii_downcase), seq: (.payload.seq | integer | values)})
    | group_by(.client) | map({client: .[0].client, seq: (map(.seq) | unique)})
    | map([.client, .seq[0], .seq[-1], .seq[-1] - .seq[0] + 1 - (.seq | length)]) | map(select(.[3] > 0))
    | show("sequence-gaps"; ["client", "first_number", "last_number", "missing"])),

# A key such as `actionbar.Google` consists of the source of the search and the engine.
  ([$core[].payload.searches | objects | to_entries[]
      | {engine: (.key | if index(".") then .[index(".") + 1:] else . end), count: (.value | integer // 0)}]
    | group_by(.engine) | map([.[0].engine, (map(.count) | add)])
    | show("searches-by-engine"; ["engine", "searches"])),

# A hold consists of a code and, after a colon, details. `labels` has an element for each event of the record.
  ($records | map((.held | map(split(":")[0]) | unique)[] as $code | {code: $code, events: (.labels | length)})
    | group_by(.code) | map([.[0].code, length, (map(.events) | add)])
    | show("what-waits"; ["code", "records", "events"]))
