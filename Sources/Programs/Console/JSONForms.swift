extension JSONForm {
    /// The forms of all results, in the order of the article "JSON output".
    public static let all: [JSONForm] = [
        error, scan, convert, report, bundle, verify, receive, list, quarantine, gaps, job, plan, status, bundleStatus,
        edit, prune,
        ledger, logUpload, logMessage,
    ]

    /// The result of a command that failed before it had another result.
    public static let error = JSONForm(
        "error", "an error because of which a command has no other result",
        [.object("error", "the first error", failureMembers)])

    static let failureMembers: [JSONMember] = [
        .text(
            "code",
            "`usage`, `incomplete`, `bad-data`, `no-input`, `unavailable`, `cannot-create`, `input-output`, `try-later`, "
                + "`no-permission`, `bad-configuration`, or `failed`"),
        .optionalText("hint", "the remedy"), .text("message", "the message, as on standard error"),
        .optionalText("path", "the affected file"), .count("status", "the exit status"),
    ]
}

// MARK: - Captures

extension JSONForm {
    /// The members of all results about captures.
    private static func intake(_ members: [JSONMember]) -> [JSONMember] {
        [
            .flag("complete", "whether everything was read and nothing was quarantined"),
            .objects(
                "copies", "copies because of which other copies of a record are held",
                [
                    .text("capture", "the capture with the copy that decides"),
                    .text("held", "the reason, such as a withdrawal"), .count("records", "the number of held records"),
                ]),
            .count("duplicates", "the number of omitted duplicates"),
            .object(
                "filters", "what the filters did",
                [
                    .objects(
                        "unmatched", "conditions that no record meets",
                        [.text("filter", "the option"), .text("value", "its value")]),
                    .count("withoutTime", "records omitted because they have no time"),
                ]), .missingParents, .counts("problemCounts", "the number of problems for each code"),
            .objects("problems", "the first problems", problem),
            .counts("quarantineCounts", "the number of quarantined items for each code"),
            .objects("quarantined", "the first quarantined items", quarantineEntry),
            .object(
                "reread", "with `--reread-quarantine`: what was found in the quarantine of bundles",
                [.count("items", "the number of items that left it"), .count("records", "the number of records")]),
            .totals,
            .objects("withdrawals", "withdrawals by which no record of a client may be uploaded", withdrawal),
            .object(
                "pseudonymized", "with `--pseudonymize`: what was omitted",
                [
                    .count("dropped", "values dropped by a rule"), .text("key", "the id of the key"),
                    .count("malformed", "values that do not have the documented form"),
                    .text("times", "the unit to which times were rounded down").ifPresent,
                    .count("unnamed", "values that no rule covers"),
                ]
            ).ifPresent,
        ] + members
    }

    /// The result of `scan`.
    public static let scan = JSONForm(
        "scan", "the stores of captures, printed by `scan`",
        intake([
            .objects("apps", "the apps with stores", appMembers), .objects("backups", "the backups", backupMembers),
            .objects("stores", "the parts of stores, bundles and request logs", storeMembers),
            .count("inventoryOmittedRows", "with `--inventory`: the number of containers that are not listed")
                .ifPresent,
            .objects(
                "inventory", "with `--inventory`: the containers of apps",
                [
                    .text("capture", "the capture"), .text("container", "the path of the container"),
                    .optionalText("containerID", "the bundle id or group id of the container"),
                    .text("kind", "`app`, `group` or `plugin`"),
                    .objects(
                        "otherQueues", "queues of other SDKs",
                        [.count("entries", "the number of files"), .text("path", "the path"), .text("sdk", "the SDK")]),
                    .count("stores", "the number of stores that were read"), .texts("systems", "their systems"),
                ]
            ).ifPresent,
        ]))

    private static let appMembers: [JSONMember] = [
        .count("captures", "the number of captures with the app"), .count("containers", "the number of its containers"),
        .events,
        .objects(
            "facts", "the facts that the stores of the app have in common",
            [.count("stores", "the number of stores"), .text("text", "the fact")]), .held,
        .optionalText("id", "the id of the app"), .counts("kinds", "the number of stores for each kind"),
        .optionalText("name", "the name of the app"), .count("otherFacts", "the number of facts that are not listed"),
        .counts("pendingEvents", "pending events that no ping contains, by name"),
        .count("problemCount", "the number of problems"), .count("quarantineCount", "the number of quarantined items"),
        .objects(
            "queues", "the queues for each state",
            [
                .text("code", "the state"), .count("queues", "the number of queues"),
                .text("readiness", "`ready`, `waiting`, `empty` or `unknown`"), .text("text", "the state in words"),
            ]), .count("records", "the number of records"), .count("stores", "the number of stores"),
        .texts("systems", "the systems of the stores"), .types, .uploadable,
        .counts("usageData", "the number of stores for each state of the usage data setting"),
        .texts("versions", "the versions of the app"),
    ]

    private static let backupMembers: [JSONMember] = [
        .texts("absent", "apps whose pings are not included in the backup"),
        .text("format", "the format of the backup"), .flag("isEncrypted", "whether the backup is encrypted"),
        .optionalText("lastBackup", "the time of the last backup"), .text("path", "the path of the backup"),
        .optionalText("productType", "the model of the device"),
        .optionalText("productVersion", "the version of the operating system"),
        .optionalText("snapshotState", "the state of the snapshot"),
    ]

    private static let storeMembers: [JSONMember] = [
        .object(
            "app", "the app, as far as it is known",
            [
                .text("id", "its id").ifPresent, .text("name", "its name").ifPresent,
                .text("version", "its version").ifPresent,
            ]
        ).orNull, .optionalText("appContainer", "the path of the container of the app"),
        .text("capture", "the capture"), .optionalText("container", "the path of the container"),
        .optionalText("containerID", "the id of the container"), .events, .texts("facts", "facts about the store"),
        .held,
        .text("kind", "the kind of store"), .text("path", "the path of the store"),
        .counts("pendingEvents", "pending events that no ping contains, by name").ifPresent,
        .objects("problems", "the first problems of the store", problem),
        .count("quarantineCount", "the number of quarantined items"),
        .objects("quarantined", "the first quarantined items", quarantineEntry),
        .object("queue", "the state of a queue according to the rules of the SDK", queueMembers).ifPresent,
        .count("records", "the number of records"), .texts("systems", "the systems of the records"), .types,
        .uploadable, .optionalText("usageData", "the usage data setting of the app"),
        .optionalText("usageDataText", "the setting in words"),
    ]

    /// The members of queues, of which each kind of queue has its own.
    private static let queueMembers: [JSONMember] =
        [
            .optionalText(
                "acceptsEqualEvent", "queues of events: the time from which it accepts an event equal to the last one"),
            .optionalText("at", "queues of events: the time for which the state applies"),
            .text("identifier", "queues of events: the name"),
            .optionalText("lastAppend", "queues of events: the time of the last append"),
            .optionalText("lastEvent", "queues of events: the time of the last event"),
            .optionalText("lastUpload", "queues of events: the time of the last upload"),
            .count("pending", "queues of events: the number of pending events"),
            JSONMember("ready", .nullable(.boolean), "queues of events: whether the SDK would upload the events"),
            .text("reason", "queues of events and of packages: the state in words"),
            .count(
                "repetitions",
                "queues of events: the number of events that repeat the preceding one except for the time"),
            .count("bytes", "folders of pings: the size of the pings"),
            .count("deletionRequests", "folders of pings: the number of requests for deletion"),
            .flag("isOverFull", "folders of pings: whether it contains more than the SDK keeps"),
            .optionalCount("limitBytes", "folders of pings: the size that the SDK keeps"),
            .optionalCount("limitPings", "folders of pings: the number of pings that the SDK keeps"),
            .count("pings", "folders of pings: the number of pings"),
            .optionalText("sdk", "folders of pings: the version of the SDK"),
            .optionalCount("attempts", "queues of packages: the number of attempts to send the first package"),
            .optionalText("oldest", "queues of packages: the time of the oldest package"),
            .count("packages", "queues of packages: the number of packages"),
            .text("readiness", "queues of packages: `ready`, `waiting`, `empty` or `unknown`"),
            .count("sandbox", "queues of packages: the number of packages for the sandbox"),
        ].map(\.ifPresent)

    /// The result of `convert`.
    public static let convert = JSONForm(
        "convert", "a converted capture, printed by `convert`",
        intake([
            .counts("classes", "with `--to bigquery`: the number of records in each class").ifPresent,
            .objects(
                "noSchema", "with `--to bigquery`: the missing schemas",
                [.count("records", "the number of records"), .text("schema", "the schema")]
            ).ifPresent, .text("output", "the output"),
            .objects(
                "refused", "with `--to bigquery`: why records were left out",
                [.text("reason", "the reason"), .count("records", "the number of records")]
            ).ifPresent, .counts("rows", "the number of rows of each table").ifPresent,
            .text("segments", "the selected segments").ifPresent, .text("to", "the format of the output"),
            .count("truncatedCells", "with `--spreadsheet`: the number of truncated cells").ifPresent,
            .count("withoutTime", "rows omitted from a timeline because they have no time").ifPresent,
        ]))

    /// The result of `report`.
    public static let report = JSONForm(
        "report", "a written report, printed by `report`",
        intake([
            .count("clients", "the number of clients"), .count("days", "the number of days with records"),
            .count("events", "the number of events"), .count("nights", "the nights that the documented limits require"),
            .text("output", "the output"), .count("payloadBytes", "the size of all payloads"),
            .count("size", "the size of the report"),
        ]))

    /// The result of `gaps`.
    public static let gaps = JSONForm(
        "gaps", "the sequence numbers of records, printed by `gaps`",
        intake([
            .object(
                "gaps", "the totals",
                [
                    .count("clients", "the number of clients"), .count("gaps", "the number of gaps"),
                    .count("missing", "the number of missing numbers"),
                    .count("numbersAtEnd", "the number of numbers after the last record"),
                    .count("records", "the number of records"), .count("repeated", "the number of repetitions"),
                    .count("restarts", "the number of restarts"), .count("sequences", "the number of sequences"),
                ]),
            .object(
                "list", "with `--expected`: the comparison with the list",
                [
                    .count("both", "numbers in the input and in the list"),
                    .count("inputOnly", "numbers only in the input"),
                    .count("listOnly", "numbers only in the list"), .count("neither", "numbers in neither"),
                    .text("path", "the list"), .count("rejectedRows", "rows that the filters rejected"),
                    .count("repeatedRows", "repeated rows"), .count("rows", "all rows"),
                ]
            ).orNull,
            .object(
                "omitted", "the number of records in no sequence",
                [
                    .count("invalid", "with an invalid number"), .count("missing", "without a number"),
                    .count("sharedClient", "with a client id that many devices share"),
                    .count("unnumbered", "of types that are not numbered"),
                    .count("withoutClient", "without a client"),
                ]), .objects("sequences", "the sequences", sequenceMembers),
        ]))

    private static let sequenceMembers: [JSONMember] = [
        .text("client", "the client"), .optionalCount("counter", "the counter in the store"),
        .object(
            "list", "with `--expected`: the ranges of numbers in only one of the two, or in neither",
            [
                .ranges("inputOnly", "only in the input"), .ranges("listOnly", "only in the list"),
                .ranges("neither", "in neither"),
            ]
        ).orNull, JSONMember("numbersAtEnd", .nullable(.array(.integer)), "the range of numbers after the last record"),
        .objects(
            "runs", "the parts of the sequence between restarts",
            [
                .optionalText("first", "the first time"), .optionalText("last", "the last time"),
                .objects(
                    "missing", "the gaps",
                    [
                        .count("count", "the number of numbers"), .range("numbers", "the first and the last number"),
                        .optionalText("timeAfter", "the time of the record after the gap"),
                        .optionalText("timeBefore", "the time of the record before the gap"),
                    ]), .ranges("present", "the ranges of present numbers"), .count("records", "the number of records"),
                .objects(
                    "repeated", "the repeated numbers",
                    [
                        .count("count", "the number of repetitions"), .optionalText("first", "the first time"),
                        .optionalText("last", "the last time"), .range("numbers", "the first and the last number"),
                    ]),
            ]), .text("system", "the system"), .text("type", "the type"),
    ]
}

// MARK: - Bundles

extension JSONForm {
    /// The result of `bundle`.
    public static let bundle = JSONForm(
        "bundle", "a written bundle, printed by `bundle`",
        intake([
            .count("bytes", "the size of the bundle"), .text("digest", "the digest of the bundle"), .dryRun,
            .optionalText("index", "the written index"), .omittedContents, .text("output", "the output"), .parents,
            .objects("volumes", "the volumes", fileMembers).ifPresent,
        ]))

    /// The result of `verify`.
    public static let verify = JSONForm(
        "verify", "checked bundles, printed by `verify`",
        [
            .objects(
                "bundles", "the bundles in the order of the arguments",
                [.text("path", "the bundle")] + checkedMembers + [
                    .text("against", "the receipt that the bundle matches").ifPresent, .parents.ifPresent,
                    .optionalText("pseudonymized", "the id of the pseudonym key").ifPresent,
                    .objects(
                        "volumes", "the volumes, or the faults of volumes",
                        [
                            .count("bytes", "the size").ifPresent, .text("path", "the path").ifPresent,
                            .optionalText("sha256", "the SHA-256 in the list of volumes").ifPresent,
                            .text("code", "the fault").ifPresent, .text("name", "the name of the volume").ifPresent,
                            .text("text", "the fault in words").ifPresent,
                        ]
                    ).ifPresent,
                ]),
            .object(
                "chain", "with `--chain`: the chain",
                [
                    .count("bundles", "the number of bundles"), .count("chains", "the number of chains"),
                    .optionalText("digest", "the digest of the last bundle"),
                    .texts("ends", "the digests at the ends of the chains"),
                    .objects(
                        "faults", "the faults",
                        [
                            .text("bundle", "the bundle"), .text("code", "the fault"),
                            .text("digest", "the affected digest"),
                        ]), .flag("good", "whether the chain is complete"),
                    .count("records", "the number of different records"),
                ]
            ).ifPresent,
            .object(
                "index", "with `--index`: the index",
                [
                    .text("digest", "the digest of the last bundle of the index"),
                    .flag("good", "whether it belongs to the bundles"), .text("path", "the index"),
                    .count("records", "the number of its records"),
                ]
            ).ifPresent,
        ])

    /// The result of `receive`.
    public static let receive = JSONForm(
        "receive", "received bundles, printed by `receive`",
        [
            .objects(
                "bundles", "the bundles",
                [.text("name", "the name of the bundle")] + checkedMembers + [
                    .texts("files", "the names of its files").ifPresent,
                    .texts("missingParents", "the digests of bundles that it continues and that are missing").ifPresent,
                    .flag("present", "whether it had been received before").ifPresent,
                    .count("repairedBlocks", "the number of repaired blocks").ifPresent,
                ]), .texts("others", "files on the medium that are not part of a bundle"),
        ])

    /// The members of a checked bundle, which a rejected bundle has instead of its contents.
    private static let checkedMembers: [JSONMember] = [
        .text("digest", "the digest").ifPresent, .filters.ifPresent, .flag("good", "whether the bundle is valid"),
        .object(
            "signer", "the signer, if a signature was verified",
            [.text("key", "the key"), .text("principal", "the name in the list of signers")]
        ).ifPresent, .count("status", "the exit status for a rejected bundle").ifPresent,
        .text("text", "the reason why the bundle is rejected").ifPresent, .totals.ifPresent,
    ]

    /// The result of `list`.
    public static let list = JSONForm(
        "list", "the contents of a bundle, printed by `list`",
        [
            .count("bundleVersion", "the version of the format of bundles"),
            .objects("clients", "the clients", clientMembers), .text("digest", "the digest"),
            .count("duplicates", "the number of omitted duplicates"), .filters, .inputs,
            .count("inputsOmitted", "the number of inputs that are not listed"),
            .objects(
                "members", "the members of the archive",
                [.count("bytes", "the size"), .count("compressed", "the compressed size"), .text("path", "the path")]),
            .omittedContents, .parents, .text("path", "the bundle"),
            .objects("problems", "the problems", problem),
            .optionalText("pseudonymized", "the id of the pseudonym key"),
            .objects("quarantined", "the quarantined items", quarantineEntry),
            .objects(
                "records", "with `--ids`: the records",
                recordMembers + [
                    .objects(
                        "held", "the reasons why it is held",
                        [.text("code", "the reason"), .optionalText("text", "the reason in words")]),
                    .text("source", "the capture and the path"),
                ]
            ).ifPresent,
            .objects(
                "segments", "the segments of records",
                [.count("bytes", "the size"), .text("path", "the path"), .count("records", "the number of records")]),
            .text("tool", "the version of the program that made the bundle"), .totals,
            .objects("withdrawals", "withdrawals by which no record of a client may be uploaded", withdrawal),
        ])

    /// The result of `quarantine`.
    public static let quarantine = JSONForm(
        "quarantine", "extracted items, printed by `quarantine`",
        [
            .count("files", "the number of written files"), .count("items", "the number of items"),
            .text("output", "the folder"), .count("withoutBytes", "items whose bytes no bundle contains"),
        ])

    private static let clientMembers: [JSONMember] = [
        .texts("apps", "the names of apps"), .optionalText("client", "the client"),
        .optionalText("first", "the first time"), .optionalText("last", "the last time"),
        .count("records", "the number of records"), .text("system", "the system"),
        .counts("type", "the number of records for each type"), .uploadable,
    ]
}

// MARK: - Shared parts

extension JSONForm {
    static let problem: [JSONMember] = [
        .text("capture", "the capture"), .text("code", "the code"),
        .flag("loss", "whether data was lost, if the code does not imply it").ifPresent,
        .count("offset", "the offset in bytes").ifPresent, .text("path", "the path"), .text("text", "the problem"),
    ]

    static let quarantineEntry: [JSONMember] = [
        .text("capture", "the capture"), .text("code", "the code"), .optionalCount("length", "the length in bytes"),
        .optionalCount("offset", "the offset in bytes"), .text("path", "the path"),
        .text("reason", "the code and the text"), .optionalText("sha256", "the SHA-256 of the bytes"),
        .count("size", "the size"), .text("store", "the kind of store"),
        .flag("stored", "whether the bytes are stored"), .text("text", "the reason in words"),
    ]

    static let withdrawal: [JSONMember] = [
        .text("capture", "the capture"), .text("code", "the reason"), .text("id", "the affected id"),
        .text("kind", "the kind of the id"), .text("path", "the path"), .text("system", "the system"),
    ]

    static let fileMembers: [JSONMember] = [
        .count("bytes", "the size"), .text("path", "the path"), .text("sha256", "the SHA-256"),
    ]

    static let recordMembers: [JSONMember] = [
        .optionalText("client", "the client"), .text("id", "the id"), .text("system", "the system"),
        .optionalText("time", "the time"), .text("type", "the type"),
    ]

    static let factMembers: [JSONMember] = [
        .text("capture", "the capture"), .text("code", "the reason"),
        .flag("copy", "whether it is a copy of the record"), .optionalText("path", "the path"),
        .text("text", "the reason in words"),
    ]
}

extension JSONMember {
    static let events = object(
        "events", "the number of events with a documented meaning, and of others",
        [.counts("known", "for each meaning"), .count("unknown", "without a documented meaning")])
    static let dryRun = flag("dryRun", "whether nothing was changed because of `--dry-run`")
    static let held = counts("held", "the number of held records for each reason")
    static let types = counts("types", "the number of records for each type")
    static let uploadable = count("uploadable", "the number of records that can be uploaded")
    static let parents = texts("parents", "the digests of the bundles that this one continues")
    static let omittedContents = object(
        "omitted", "what is omitted because earlier bundles contain it",
        [
            .count("problems", "the number of problems"), .count("quarantine", "the number of quarantined items"),
            .count("records", "the number of records"),
        ])
    static let totals = object(
        "totals", "the number of records",
        [
            .counts("held", "for each reason why records are held"), .count("records", "of all"),
            .counts("system", "for each system"), .counts("type", "for each type"),
            .count("uploadable", "that can be uploaded"),
        ])
    static let filters = object(
        "filters", "the filters with which the bundle was made",
        [
            .texts("client", "the values of `--client`").ifPresent, .text("since", "the value of `--since`").ifPresent,
            .texts("system", "the values of `--system`").ifPresent, .texts("type", "the values of `--type`").ifPresent,
            .text("until", "the value of `--until`").ifPresent, .flag("uploadable", "`true`").ifPresent,
        ]
    ).orNull
    static let missingParents = objects(
        "missingParents", "bundles that are continued and were not given",
        [.text("bundle", "the bundle that continues it"), .text("digest", "its digest")])
    static let inputs = objects(
        "inputs", "the inputs of the bundle, nested for bundles",
        [
            .text("digest", "the digest of a bundle").ifPresent, filters.ifPresent,
            JSONMember("inputs", .array(.object([])), "the inputs of a bundle", isRequired: false),
            .count("inputsOmitted", "the number of its inputs that are not listed").ifPresent,
            .text("kind", "the kind"), .text("label", "the label").ifPresent,
            .text("sha256", "the SHA-256 of a file").ifPresent,
        ])
    static let pauses = objects(
        "pauses", "pauses that servers requested",
        [.text("endpoint", "the server"), .text("until", "the end of the pause")])
    static let missingCredentials = objects(
        "missingCredentials", "accounts without a credential",
        [
            .optionalText("account", "the name of the account"),
            .flag("development", "whether the account is for development"), .count("records", "the number of records"),
            .text("system", "the system"),
        ])
    static let facts = objects(
        "facts", "withdrawals and copies because of which records are not sent",
        JSONForm.factMembers + [.count("records", "the number of records")])

    static func reasons(_ key: String, _ meaning: String) -> Self {
        objects(
            key, meaning,
            [
                .text("code", "the reason"), .optionalText("detail", "the detail of the reason"),
                .count("records", "the number of records"), .text("text", "the reason in words"),
            ])
    }

    static func range(_ key: String, _ meaning: String) -> Self { Self(key, .array(.integer), meaning) }

    static func ranges(_ key: String, _ meaning: String) -> Self {
        Self(key, .array(.array(.integer)), meaning)
    }
}
