#!/usr/bin/env bash
# Checks a chain of evidence without pingferry.
#
#     audit.sh SIGNERS FOLDER
#
# SIGNERS is a list of accepted signers in the format of ssh-keygen. README.md describes the files in FOLDER. Prints a line for
# each check. Exits with status 1 at the first check that fails. Requires ssh-keygen, sha256sum, tar, zstd and jq.
set -euo pipefail
shopt -s nullglob inherit_errexit
export LC_ALL=C
step="arguments: SIGNERS FOLDER"
work=$(mktemp -d)
trap 'status=$?; rm -rf "$work"; (( status == 0 )) || { echo "FAILED: $step"; exit 1; }' EXIT
signers=$(realpath "$1")
cd "$2"

# Reports that the current check passed: pass [RESULT]
pass() {
    echo "ok: $step${1:+: $1}"
}

# Prints the names of the file or the volumes of a bundle: files BUNDLE
files() {
    if [[ -e $1.001 ]]; then printf '%s\n' "$1".[0-9][0-9][0-9]; else echo "$1"; fi
}

# Prints a bundle or another file: contents NAME
contents() {
    files "$1" | xargs -d '\n' cat
}

# Prints the SHA-256 of the files whose names are on standard input, in the format of sha256sum. Names are relative to the current
# folder, also if they begin with a slash.
hashes() {
    sed 's|^|./|' | xargs -d '\n' sha256sum | sed 's|  \./|  |'
}

# Verifies the signature NAME.sig of a file for a principal, and prints the type and the fingerprint of the key:
# verify NAME NAMESPACE PRINCIPAL
verify() {
    contents "$1" | ssh-keygen -Y verify -n "$2" -f "$signers" -I "$3" -s "$1.sig" | sed 's/.* with //'
}

# Checks the signature NAME.sig of a file, and stores the fingerprint of its key in $work/NAME.key: signature NAME NAMESPACE
signature() {
    step="$1: signature"
    # ssh-keygen accepts text after a signature, and version 0. Therefore the form of the file is checked, too.
    sed '1d;$d' "$1.sig" | base64 -d | base64 -w 70 \
        | cat <(echo "-----BEGIN SSH SIGNATURE-----") - <(echo "-----END SSH SIGNATURE-----") | cmp - "$1.sig"
    sed -n 2p "$1.sig" | grep -q ^U1NIU0lHAAAAAQ
    # A key can have several principals. For each call, ssh-keygen reports only those of the first line with the key.
    while IFS= read -r line || [[ -n $line ]]; do
        ssh-keygen -Y find-principals -f <(printf '%s\n' "$line") -s "$1.sig" 2> "$work/errors" || true
    done < "$signers" > "$work/principals"
    while IFS= read -r principal; do
        if verify "$1" "$2" "$principal" 2> "$work/errors" | sed 's/.* //' > "$work/$1.key"; then
            pass "$principal"
            return
        fi
    done < "$work/principals"
    cat "$work/errors" >&2
    return 1
}

# Checks the kind of a receipt, its subjects, and the FIELDS of its bundles. LIST contains an object for each expected bundle,
# and LIST.files the names of all their files: receipt RECEIPT KIND FIELDS LIST
receipt() {
    step="$1: files and digests of the bundles"
    # Lines are compared as JSON, because a string can contain line breaks.
    jq -c "\"\(.predicateType) \(.predicate.command)\", (.subject[] | .digest.sha256 + \"  \" + .name),
        (.predicate.bundles[] | {$3})" "$1" > "$work/stated"
    head -n 1 "$work/stated" | grep -qxE "\"https://pingferry\.example/$2\""
    tail -n +2 "$work/stated" | sort > "$work/found"
    hashes < "$4.files" | jq -R . > "$work/expected"
    jq -c "{$3}" "$4" >> "$work/expected"
    sort "$work/expected" | cmp - "$work/found"
    pass "$(wc -l < "$4")"
}

# Checks that each bundle has a valid signature by the principal and the key that a receipt states: stated_signers RECEIPT
stated_signers() {
    step="$1: signers of the bundles"
    for bundle in "${bundles[@]}"; do
        signer=$(jq -c --arg name "$bundle" '.predicate.bundles[] | select(.files[0] == ($name, $name + ".001")) | .signer' "$1")
        principal=$(jq -r .principal <<< "$signer")
        key=$(verify "$bundle" pingferry-bundle "$principal")
        jq -e --arg principal "$principal" --arg key "$key" '. == {$principal, $key}' <<< "$signer" > "$work/equal"
    done
    pass
}

# Nothing is opened before this check. The second and third pattern match hidden names.
files=(* .[!.]* ..?*)
for file in "${files[@]}"; do
    step="$file: must be a regular file"
    [[ -f $file && ! -L $file ]]
done
step="only regular files"
pass "${#files[@]}"

printf '%s\n' *.tar.zst *.tar.zst.001 | sed 's/\.001$//' | sort -u > "$work/bundles"
mapfile -t bundles < "$work/bundles"

# Nothing is unpacked before all signatures are checked.
for bundle in "${bundles[@]}"; do
    if [[ -e $bundle.001 ]]; then
        step="$bundle: list of the volumes"
        files "$bundle" | hashes | cmp - "$bundle.sha256"
        pass "$(wc -l < "$bundle.sha256")"
    fi
    signature "$bundle" pingferry-bundle
done
for made in "${bundles[@]/%.tar.zst/.json}"; do
    signature "$made" pingferry-receipt
done
cat "$work"/*.key | sort > "$work/packers"
signature verified.json pingferry-received
signature delivered.json pingferry-delivered
step="different keys of packers and receivers"
cat "$work"/{verified,delivered}.json.key | sort | comm -12 - "$work/packers" | cmp - /dev/null
pass

for bundle in "${bundles[@]}"; do
    step="$bundle: members"
    folder=$work/$bundle
    manifest=$folder/manifest.json
    records=$folder.records
    mkdir "$folder"
    # The first character of each line is the type of the member, which is "-" for a regular file.
    contents "$bundle" | tar --zstd -tv | sed /^-/d | cmp - /dev/null
    contents "$bundle" | tar --zstd -xC "$folder"
    contents "$bundle" | tar --zstd -t | sed '/^manifest\.json$/d' > "$work/members"
    (cd "$folder" && hashes < "$work/members") > "$folder.hashes"
    jq '(.segments + .members)[] | .sha256 + "  " + .path' "$manifest" | sort > "$work/found"
    jq -R . "$folder.hashes" | sort | cmp - "$work/found"
    pass "$(wc -l < "$work/found")"

    # The digest is the hash of the list of hashes, which ends with a line for each parent.
    step="$bundle: digest"
    digest=$(jq -r '.parents // [] | .[] + "  parent"' "$manifest" | cat "$folder.hashes" - | sha256sum | cut -c -64)
    jq -r .digest "$manifest" | cmp - <(echo "$digest")
    pass "$digest"

    step="$bundle: records"
    jq -r '.segments[] | "\(.records)\t\(.path)"' "$manifest" > "$work/segments"
    : > "$records"
    while read -r count path; do
        [[ $(wc -l < "$folder/$path") == "$count" ]]
        cat "$folder/$path" >> "$records"
    done < "$work/segments"
    jq -es --slurpfile manifest "$manifest" 'def count(keys): reduce keys as $key ({}; .[$key] += 1);
        {records: length, uploadable: map(select(.held == [])) | length, system: count(.[].system),
         type: count(.[] | .system + "/" + .type), held: count(.[].held | map(split(":")[0]) | unique[])}
        == $manifest[0].totals' "$records" > "$work/equal"
    pass "$(wc -l < "$records")"
    step="$bundle: filters"
    filters=$(jq -c .filters "$manifest")
    pass "${filters/#null/none}"

    # A record is identified by its system, type, id, and the hash of its payload. The payload is followed by the key "source".
    jq -c '[.system, .type, .id]' "$records" > "$work/ids"
    sed -E 's/,"payload":/\n/; s/.*\n//; s/(.*),"source":\{"capture":.*/\1/' "$records" | while IFS= read -r payload; do
        printf %s "$payload" | sha256sum
    done | cut -c -64 | paste -d ' ' "$work/ids" - > "$folder.ids"
    sed "s/^/$digest /" "$folder.ids" >> "$work/deliveries"
    # The hold codes of each record, without their details.
    jq -c 'reduce (.held[] | split(":")[0]) as $code ([]; if index($code) then . else . + [$code] end)' "$records" \
        | paste -d ' ' "$folder.ids" - | sed "s/^/$digest /" >> "$work/holds"

    made=${bundle%.tar.zst}.json
    files "$bundle" | tee "$folder.json.files" >> "$work/chain.files"
    mapfile -t files < "$folder.json.files"
    jq -c '{digest, parents, totals, files: $ARGS.positional}' "$manifest" --args "${files[@]}" \
        | tee "$folder.json" >> "$work/chain"
    receipt "$made" "receipt/v1 bundle" "digest, files, totals" "$folder.json"
    step="$made: signer and inputs of the bundle"
    cmp "$work/$made.key" "$work/$bundle.key"
    jq -e --slurpfile manifest "$manifest" '.predicate.inputs == $manifest[0].inputs' "$made" > "$work/equal"
    result=$(jq -r '.predicate.bundles[].result' "$made")
    [[ $result == complete || $result == incomplete ]]
    pass "$result"
done

step="parents of all bundles"
jq -r .digest "$work/chain" | sort > "$work/digests"
jq -r '.parents // [] | .[]' "$work/chain" | sort -u > "$work/parents"
comm -23 "$work/parents" "$work/digests" | cmp - /dev/null
pass "$(wc -l < "$work/parents")"

step="records in only one bundle"
cat "$work"/*.ids | sort | uniq -d | cmp - /dev/null
pass "$(wc -l < "$work/deliveries")"

receipt verified.json "receipt/v1 verify" "digest, files, totals" "$work/chain"
stated_signers verified.json
step="verified.json: results"
jq -e 'all(.predicate.bundles[]; .result == "good")' verified.json > "$work/equal"
pass good

receipt delivered.json "delivery/v1 (send|receipt)" "digest, files" "$work/chain"
stated_signers delivered.json
step="delivered.json: records of the bundles"
jq '.predicate | .bundles as $bundles | .records[] | "\($bundles[.bundle].digest) \([.system, .type, .id]) \(.sha256)"' \
    delivered.json | sort > "$work/found"
jq -R . "$work/deliveries" | sort | cmp - "$work/found"
pass "$(wc -l < "$work/found")"
step="delivered.json: statuses and times"
# If other requests delivered all events of a list, no status is known. Only records of Sift and Leanplum are lists. The time zone is
# set because jq 1.6 does not parse times correctly in other zones.
TZ=UTC jq -e 'def is_time: sub("\\.[0-9]+Z$"; "Z") | . == (fromdate | todate);
    def is_accepted: (.status >= 200 and .status < 300) or (.status == null and IN(.system; "sift", "leanplum"));
    all(.predicate.records[]; IN(.outcome; "excluded", "held", "in-flight", "waiting")
        or ((.time | is_time) and (.outcome == "refused" or (.outcome == "delivered" and is_accepted))))' \
    delivered.json > "$work/equal"
pass
step="delivered.json: released records"
# A delivered record must have been released from all of its holds. The operator cannot release a record from the holds listed here.
jq '.predicate | .bundles as $bundles | .records[] | select(.outcome == "delivered" or .released != [])
    | "\($bundles[.bundle].digest) \([.system, .type, .id]) \(.sha256) \(.released)"' delivered.json | sort > "$work/found"
jq -R . "$work/holds" | sort | comm -13 - "$work/found" | cmp - /dev/null
jq -e '[.predicate.records[].released[]] | . - ["capability", "deletion-requested", "forgotten", "no-target", "pending-events",
    "pseudonymized", "unproven"] == .' delivered.json > "$work/equal"
pass "$(jq '[.predicate.records[] | select(.released != [])] | length' delivered.json)"
step="delivered.json: outcomes"
jq -e 'def key: [.outcome, .reason, .status];
    def stated: [.total, (.outcomes | map([key, .records]) | sort)];
    def counted: [length, (group_by(key) | map([(.[0] | key), length]))];
    .predicate | .records as $records | .skipped == [] and stated == ($records | counted)
    and [.bundles[] | stated] == [range(.bundles | length) as $index | $records | map(select(.bundle == $index)) | counted]' \
    delivered.json > "$work/equal"
pass "$(jq -r '[.predicate.outcomes[] | "\(.records) \(.outcome)"] | join(", ")' delivered.json)"

step="no other files"
for bundle in "${bundles[@]}"; do
    files "$bundle"
    printf '%s\n' "$bundle.sig" "${bundle%.tar.zst}.json"{,.sig}
    [[ ! -e $bundle.001 ]] || echo "$bundle.sha256"
done | cat - <(printf '%s\n' {verified,delivered}.json{,.sig}) | sort > "$work/expected"
ls -A | sort | cmp - "$work/expected"
pass "$(wc -l < "$work/expected")"

step="last bundle"
comm -13 "$work/parents" "$work/digests" > "$work/last"
while read -r digest; do pass "$digest"; done < "$work/last"
step="one last bundle"
[[ $(wc -l < "$work/last") == 1 ]]
