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

# Prints a bundle: contents BUNDLE
contents() {
    files "$1" | xargs -d '\n' cat
}

# Prints the SHA-256 of the files whose names are on standard input, in the format of sha256sum.
hashes() {
    xargs -d '\n' sha256sum
}

# Checks that the signature NAME.sig is valid for the standard input: signature NAME NAMESPACE
signature() {
    step="$1: signature"
    # ssh-keygen accepts text after a signature, and version 0. Therefore the form of the file is checked, too.
    sed '1d;$d' "$1.sig" | base64 -d | base64 -w 70 \
        | cat <(echo "-----BEGIN SSH SIGNATURE-----") - <(echo "-----END SSH SIGNATURE-----") | cmp - "$1.sig"
    sed -n 2p "$1.sig" | grep -q ^U1NIU0lHAAAAAQ
    ssh-keygen -Y find-principals -f "$signers" -s "$1.sig" > "$work/principals"
    head -n 1 "$work/principals" > "$work/$1.signer"
    ssh-keygen -q -Y verify -n "$2" -f "$signers" -I "$(cat "$work/$1.signer")" -s "$1.sig"
    pass "$(cat "$work/$1.signer")"
}

# Checks the kind of a receipt, its subjects, and the FIELDS of its bundles. LIST contains an object for each expected bundle,
# and LIST.files the names of all their files: receipt RECEIPT KIND FIELDS LIST
receipt() {
    step="$1: files and digests of the bundles"
    jq -r "\"\(.predicateType) \(.predicate.command)\", (.subject[] | .digest.sha256 + \"  \" + .name),
        (.predicate.bundles[] | .signer |= .principal | {digest, files, $3} | tojson)" "$1" > "$work/stated"
    head -n 1 "$work/stated" | grep -qxE "https://pingferry\.example/$2"
    tail -n +2 "$work/stated" | sort > "$work/found"
    hashes < "$4.files" > "$work/expected"
    jq -c "{digest, files, $3}" "$4" >> "$work/expected"
    sort "$work/expected" | cmp - "$work/found"
    pass "$(wc -l < "$4")"
}

printf '%s\n' *.tar.zst *.tar.zst.001 | sed 's/\.001$//' | sort -u > "$work/bundles"
mapfile -t bundles < "$work/bundles"

# Nothing is unpacked before all signatures are checked.
for bundle in "${bundles[@]}"; do
    if [[ -e $bundle.001 ]]; then
        step="$bundle: list of the volumes"
        files "$bundle" | hashes | cmp - "$bundle.sha256"
        pass "$(wc -l < "$bundle.sha256")"
    fi
    signature "$bundle" pingferry-bundle < <(contents "$bundle")
done
for receipt in "${bundles[@]/%.tar.zst/.json}" verified.json delivered.json; do
    signature "$receipt" pingferry-receipt < "$receipt"
done

for bundle in "${bundles[@]}"; do
    step="$bundle: members"
    folder=$work/$bundle
    manifest=$folder/manifest.json
    records=$folder.records
    mkdir "$folder"
    contents "$bundle" | tar --zstd -xC "$folder"
    contents "$bundle" | tar --zstd -t | grep -vx manifest.json > "$work/members"
    (cd "$folder" && hashes < "$work/members") > "$folder.hashes"
    jq -r '(.segments + .members)[] | .sha256 + "  " + .path' "$manifest" | sort > "$work/found"
    sort "$folder.hashes" | cmp - "$work/found"
    pass "$(wc -l < "$work/found")"

    # The digest is the hash of the list of hashes, which ends with a line for each parent.
    step="$bundle: digest"
    jq -r '.digest, (.parents // [] | .[] + "  parent")' "$manifest" > "$work/stated"
    digest=$(tail -n +2 "$work/stated" | cat "$folder.hashes" - | sha256sum | cut -c -64)
    head -n 1 "$work/stated" | grep -qx "$digest"
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

    # A record is identified by its system, type, id, and the hash of its payload. The payload is followed by the key "source".
    jq -c '[.system, .type, .id]' "$records" > "$work/ids"
    sed -E 's/,"payload":/\n/; s/.*\n//; s/(.*),"source":\{"capture":.*/\1/' "$records" | while IFS= read -r payload; do
        printf %s "$payload" | sha256sum
    done | cut -c -64 | paste -d ' ' "$work/ids" - > "$folder.ids"
    sed "s/^/$digest /" "$folder.ids" >> "$work/deliveries"

    made=${bundle%.tar.zst}.json
    files "$bundle" | tee "$folder.json.files" >> "$work/chain.files"
    mapfile -t files < "$folder.json.files"
    jq -c --arg signer "$(cat "$work/$bundle.signer")" '{digest, parents, totals, $signer, files: $ARGS.positional}' \
        "$manifest" --args "${files[@]}" | tee "$folder.json" >> "$work/chain"
    receipt "$made" "receipt/v1 bundle" totals "$folder.json"
    step="$made: signer and inputs of the bundle"
    cmp "$work/$made.signer" "$work/$bundle.signer"
    jq -e --slurpfile manifest "$manifest" '.predicate.inputs == $manifest[0].inputs' "$made" > "$work/equal"
    pass
done

step="parents of all bundles"
jq -r .digest "$work/chain" | sort > "$work/digests"
jq -r '.parents // [] | .[]' "$work/chain" | sort -u > "$work/parents"
comm -23 "$work/parents" "$work/digests" | cmp - /dev/null
pass "$(wc -l < "$work/parents")"

step="records in only one bundle"
cat "$work"/*.ids | sort | uniq -d | cmp - /dev/null
pass "$(wc -l < "$work/deliveries")"

receipt verified.json "receipt/v1 verify" "totals, signer" "$work/chain"
step="verified.json: results"
jq -e 'all(.predicate.bundles[]; .result == "good")' verified.json > "$work/equal"
pass good

receipt delivered.json "delivery/v1 (send|receipt)" signer "$work/chain"
step="delivered.json: records of the bundles"
jq -r '.predicate | .bundles as $bundles | .records[] | "\($bundles[.bundle].digest) \([.system, .type, .id]) \(.sha256)"' \
    delivered.json | sort > "$work/found"
sort "$work/deliveries" | cmp - "$work/found"
pass "$(wc -l < "$work/found")"
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
