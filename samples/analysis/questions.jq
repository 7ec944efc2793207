# Answers five questions with records that have labels and with the lines of a timeline, which `pingferry convert` writes:
#   pingferry convert --labels -o phone.ndjson phone/
#   pingferry convert -o phone.timeline.jsonl phone/
#   jq -nr -f questions.jq phone.ndjson phone.timeline.jsonl

def show(question; columns): "# " + question, (columns | @csv | gsub("\""; "")), (.[] | @csv);
def counts(name): reduce .[] as $key ({}; .[$key | tojson] += 1) | to_entries | map((.key | fromjson) + [.value]);

# Records have a payload. Lines of a timeline do not.
[inputs] | map(select(has("payload"))) as $records | map(select(has("payload") | not)) as $lines

# Each client counts once a day. The case of letters in client ids is ignored.
| ($records | map(select(.time and .client) | [.time[:10], .system, (.client | ascii_downcase)]) | unique
    | map([.[0]]) | counts(.) | show("daily-active-clients"; ["day", "clients"])),

# Lines with a name are events. The message is the label of the event or, if there is none, its name.
  ($lines | map(select(.name) | [.datetime[:10], .message]) | counts(.)
    | show("events-by-label"; ["day", "label", "events"])),

# The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
  ($records | map(select(.system == "mozilla" and .type == "core")
      | {client: (.client // "" | ascii_downcase), seq: .payload.seq})
    | group_by(.client) | map({client: .[0].client, seq: (map(.seq) | unique)})
    | map([.client, .seq[0], .seq[-1], .seq[-1] - .seq[0] + 1 - (.seq | length)]) | map(select(.[3] > 0))
    | show("sequence-gaps"; ["client", "first", "last", "missing"])),

# A key such as `actionbar.Google` consists of the source of the search and the engine.
  ([$records[] | select(.system == "mozilla" and .type == "core") | .payload.searches // {} | to_entries[]
      | {engine: (.key | if index(".") then .[index(".") + 1:] else . end), count: .value}]
    | group_by(.engine) | map([.[0].engine, (map(.count) | add)])
    | show("searches-by-engine"; ["engine", "searches"])),

# A hold consists of a code and, after a colon, details. `labels` has an element for each event of the record.
  ($records | map((.held | map(split(":")[0]) | unique)[] as $code | {code: $code, events: (.labels | length)})
    | group_by(.code) | map([.[0].code, length, (map(.events) | add)])
    | show("what-waits"; ["code", "records", "events"]))
