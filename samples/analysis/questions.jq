# Answers questions to records with labels and to the timeline, as `pingferry convert` writes them:
#   pingferry convert --labels -o phone.ndjson phone/
#   pingferry convert -o phone.timeline.jsonl phone/
#   jq -nr -f questions.jq phone.ndjson phone.timeline.jsonl

def show(question; columns): "# " + question, (columns | @csv | gsub("\""; "")), (.[] | @csv);
def counts(name): reduce .[] as $key ({}; .[$key | tojson] += 1) | to_entries | map((.key | fromjson) + [.value]);

# Records have a payload, lines of a timeline have none.
[inputs] | map(select(has("payload"))) as $records | map(select(has("payload") | not)) as $lines

# Each client once a day, whatever the letter case of its id is.
| ($records | map(select(.time and .client) | [.time[:10], .system, (.client | ascii_downcase)]) | unique
    | map([.[0]]) | counts(.) | show("daily-active-clients"; ["day", "clients"])),

# A line with a name is an event; its message is what it means, or its name.
  ($lines | map(select(.name) | [.datetime[:10], .message]) | counts(.)
    | show("events-by-label"; ["day", "label", "events"])),

# The phone counts the core pings of a client one by one: what lies between the first and the last has to be there.
  ($records | map(select(.system == "mozilla" and .type == "core")
      | {client: (.client // "" | ascii_downcase), seq: .payload.seq})
    | group_by(.client) | map({client: .[0].client, seq: (map(.seq) | unique)})
    | map([.client, .seq[0], .seq[-1], .seq[-1] - .seq[0] + 1 - (.seq | length)]) | map(select(.[3] > 0))
    | show("sequence-gaps"; ["client", "first", "last", "missing"])),

# `actionbar.Google` is a search with Google that was begun in the bar of actions.
  ([$records[] | select(.system == "mozilla" and .type == "core") | .payload.searches // {} | to_entries[]
      | {engine: (.key | if index(".") then .[index(".") + 1:] else . end), count: .value}]
    | group_by(.engine) | map([.[0].engine, (map(.count) | add)])
    | show("searches-by-engine"; ["engine", "searches"])),

# A reason may have details behind a colon. There is a label, or null, for each event.
  ($records | map((.held | map(split(":")[0]) | unique)[] as $code | {code: $code, events: (.labels | length)})
    | group_by(.code) | map([.[0].code, length, (map(.events) | add)])
    | show("what-waits"; ["code", "records", "events"]))
