/// The forms of the results of the program that uploads bundles.
extension JSONForm {
    /// The result of a job.
    public static let job = JSONForm(
        "job", "a job, printed by `pingferry-upload`",
        [
            .objects("bundles", "the state of each bundle", bundleMembers),
            .optionalText("failure", "the error because of which the job ended"),
            .counts("held", "the number of held records for each reason"),
            .counts("heldReleasable", "the number of held records that can be released, for each reason"),
            .missingCredentials, .texts("moved", "the new paths of finished bundles"), .pauses,
            .texts("problems", "problems during the job"), .reasons("reasons", "why records were not sent"),
            .counts("records", "the number of records for each outcome"),
            .objects("refusals", "refused records that are not resolved, by answer", answerGroup),
            .count("requests", "the number of requests"),
            .objects("setAside", "records that were set aside, by answer", answerGroup),
            .count("total", "the number of records"),
            .objects(
                "undelivered", "uploads that failed, by reason",
                [
                    .text("code", "the reason"), .text("system", "the system"), .text("text", "the reason in words"),
                    .count("uploads", "the number of uploads"),
                ]),
            .objects(
                "unusable", "bundles that cannot be used", [.text("message", "the error"), .text("path", "the bundle")]),
            .texts("wrongCredentials", "credentials that a server refused"),
        ])

    private static let answerGroup: [JSONMember] = [
        .text("reason", "the reason of the server"), .count("records", "the number of records"),
        .optionalCount("status", "the HTTP status"),
    ]

    /// The result of a job with `--dry-run`.
    public static let plan = JSONForm(
        "plan", "a plan, printed by `pingferry-upload --dry-run`",
        [
            .facts, .counts("held", "the number of held records for each reason"), .missingCredentials, .missingParents,
            .pauses, .reasons("reasons", "why records are not sent"), .count("records", "the number of records"),
            .count("send", "the number of records to be sent"),
            .objects(
                "sends", "the uploads in their order",
                recordMembers + [
                    .count("bytes", "the size of the payload"),
                    .count("events", "the number of events of a list").ifPresent,
                ]), .text("time", "the time of the plan"), .count("uploads", "the number of uploads"),
            .objects(
                "waits", "the records that are not sent",
                recordMembers + [
                    .optionalText("account", "the name of the account without a credential").ifPresent,
                    .text("code", "the reason"),
                    .flag("development", "whether the account is for development").ifPresent,
                    .object("fact", "the withdrawal or the copy that decides", factMembers).ifPresent,
                    .texts("held", "the reasons why it is held").ifPresent, .text("reason", "the reason in words"),
                ]),
        ])

    /// The result of `status`.
    public static let status = JSONForm(
        "status", "the state of a ledger, printed by `pingferry-upload status`", statusMembers)

    /// The result of the commands of `ledger`.
    public static let ledger = JSONForm(
        "ledger", "the state of a checked, copied or restored ledger, printed by `pingferry-upload ledger`",
        statusMembers + [.count("jobs", "the number of the last job"), .text("ledger", "the path of the ledger")])

    private static let statusMembers: [JSONMember] = [
        .objects(
            "bundles", "bundles with waiting records",
            [
                .text("digest", "the digest"), .optionalText("path", "the path"),
                .optionalText("seen", "the time at which a job last read it"), .reasons("waiting", "why records wait"),
            ]),
        .objects(
            "clients", "the clients",
            groupMembers + recordCounts + [.count("today", "the number of uploads today")]),
        .optionalText("lastEnd", "the end of the last job"),
        .optionalCount("lastExitStatus", "the exit status of the last job"),
        .optionalText("lastJob", "the start of the last job"),
        .optionalText("lastSuccess", "the last job with the exit status 0"),
        .optionalCount("nightsLeft", "the number of nights that the waiting records require"),
        .objects(
            "oldestWaiting", "the time of the oldest waiting record of each system",
            [.text("system", "the system"), .text("time", "the time")]), .pauses,
        .objects("refusals", "refused records", remarkMembers), .objects("remarks", "other answers", remarkMembers),
        .objects(
            "setAside", "records that were set aside",
            groupMembers + lastAnswer + [.text("id", "the record"), .count("jobs", "the number of jobs that sent it")]),
        .object("totals", "the number of records", recordCounts),
    ]

    private static let groupMembers: [JSONMember] = [
        .optionalText("client", "the client"), .text("system", "the system"), .text("type", "the type"),
    ]

    private static let recordCounts: [JSONMember] = [
        .count("delivered", "delivered records"), .count("givenUp", "records given up"),
        .count("inFlight", "records in flight"), .count("refused", "refused records"),
        .reasons("waiting", "why records wait"),
    ]

    private static let lastAnswer: [JSONMember] = [
        .optionalText("reason", "the reason of the server"), .optionalCount("status", "the HTTP status"),
        .optionalText("time", "the time of the answer"),
    ]

    private static let remarkMembers: [JSONMember] = groupMembers + lastAnswer + [.text("id", "the record")]

    /// The result of `status` with bundles.
    public static let bundleStatus = JSONForm(
        "bundle-status", "the state of bundles, printed by `pingferry-upload status BUNDLE`",
        [.objects("bundles", "the bundles", bundleMembers)])

    private static let bundleMembers: [JSONMember] = [
        .count("delivered", "delivered records").ifPresent, .text("digest", "the digest").ifPresent,
        .flag("done", "whether nothing is left to be sent"), .facts.ifPresent,
        .counts("held", "the number of held records for each reason").ifPresent,
        .objects(
            "ids", "with `--ids`: the undelivered records",
            recordMembers + [
                .text("code", "the reason"), .optionalText("detail", "the detail of the reason"),
                .object("fact", "the withdrawal or the copy that decides", factMembers).ifPresent,
                .object("lastAnswer", "the last answer", lastAnswer).ifPresent, .text("text", "the reason in words"),
            ]
        ).ifPresent, .count("inFlight", "records in flight").ifPresent,
        .count("over", "records that are never sent").ifPresent, .text("path", "the bundle"),
        .count("records", "the number of records").ifPresent, .count("refused", "refused records").ifPresent,
        .count("tooOld", "records that are too old").ifPresent,
        .flag("usable", "`false` if the bundle cannot be used").ifPresent,
        .reasons("waiting", "why records wait").ifPresent,
    ]

    /// The result of `retry`, `release` and `forget`.
    public static let edit = JSONForm(
        "edit", "changed entries, printed by `pingferry-upload retry`, `release` and `forget`",
        [
            .dryRun,
            .counts("entries", "the number of changed entries for each id or, without ids, for each selection"),
        ])

    /// The result of `prune`.
    public static let prune = JSONForm(
        "prune", "removed entries, printed by `pingferry-upload prune`",
        [.dryRun, .count("pruned", "the number of removed entries")])

    /// A line of `--log-json` about an upload.
    public static let logUpload = JSONForm(
        "log-upload", "an attempt to upload, a line of `pingferry-upload --log-json`", isNamed: false,
        groupMembers + [
            .text("id", "the record"), .text("outcome", "the outcome, such as `delivered`"),
            .optionalText("reason", "the reason of the outcome"), .optionalCount("status", "the HTTP status"),
            .text("time", "the time"),
        ])

    /// A line of `--log-json` with a message.
    public static let logMessage = JSONForm(
        "log-message", "a message, a line of `pingferry-upload --log-json`", isNamed: false,
        failureMembers.map { $0.key == "message" ? $0 : $0.ifPresent })
}
