import PropertyList
import Telemetry

/// The activity state of the SDK, which determines whether the device sends its packages.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
struct AdjustState {
    /// Whether the SDK is switched on.
    let isEnabled: Bool
    /// Whether the user asked Adjust to forget the device, or the server reported that the user opted out.
    var isForgotten: Bool
    /// The id of the installation, or `nil` if the state contains none.
    let client: String?
    /// The time of the last activity, or `nil` if it is unknown or out of range.
    let lastActivity: Timestamp?
    /// Whether a delayed start of the SDK is not over, so that packages still lack the parameters of the session.
    let isDelayed: Bool
    /// The facts for reports, without ids and tokens.
    let facts: [String]

    /// The keys of ids, tokens and campaign names.
    ///
    /// Their values are not part of any output.
    static let secretKeys = [
        "adgroup", "adid", "campaign", "click_label", "costAmount", "creative", "deviceToken", "jsonResponse",
        "network",
        "trackerName", "trackerToken", "transactionIds", "uuid",
    ]

    /// Creates a state without facts that describes an SDK that is switched on.
    init() {
        (isEnabled, isForgotten, isDelayed, facts) = (true, false, false, [])
        (client, lastActivity) = (nil, nil)
    }

    /// Reads the state in `archive`, or throws an error if the root of the archive is not an activity state.
    init(_ archive: inout AdjustArchive) throws(PropertyListError) {
        let state = try archive.root(named: [.oldActivityState, .activityState])
        isEnabled = archive.flag("enabled", of: state) ?? true
        isForgotten = archive.flag("isGdprForgotten", of: state) ?? false
        client = try archive.string("uuid", of: state)
        lastActivity = archive.number("lastActivity", of: state)
            .flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }.flatMap { Timestamp(milliseconds: $0) }
        isDelayed = archive.flag("updatePackages", of: state) ?? false
        var facts = ["the SDK is switched \(isEnabled ? "on" : "off")"]
        if isForgotten { facts.append("the user asked Adjust to forget the device") }
        if isDelayed { facts.append("the delayed start of the SDK is not over") }
        let counts = [("sessionCount", "session"), ("eventCount", "event")].compactMap { key, noun in
            archive.number(key, of: state).flatMap { Int(exactly: $0) }.map { "\($0) \(noun)\($0 == 1 ? "" : "s")" }
        }
        if !counts.isEmpty { facts.append(counts.joined(separator: " and ") + " so far") }
        if let lastActivity { facts.append("last activity \(lastActivity)") }
        self.facts = facts
    }
}
