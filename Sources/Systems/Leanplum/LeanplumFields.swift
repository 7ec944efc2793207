import Bytes
import JSONText
import Telemetry

/// The fields of a stored request.
///
/// A request can have other members, because apps and newer SDKs add some.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B and D.
enum LeanplumFields {
    static let payload: PayloadFields = [
        .required(
            LeanplumKeys.data, .list(.object(request)), .list(.object(request.pseudonyms)),
            "the requests, in the order in which they were queued")
    ]

    static let request = common + start + track + settings + diagnostics + nestedJSON + credentials

    /// The keys of the members that requests with any action have.
    static let commonKeys = Set(common.sorted.map(\.key.utf8))

    /// The meanings of the members of requests, by key.
    static let meanings = Dictionary(
        request.sorted.map { (CapturedText($0.key.description), $0.meaning) }, uniquingKeysWith: { first, _ in first })

    /// The keys of the members whose strings contain JSON.
    static let nestedKeys = nestedJSON.sorted.map(\.key)

    /// The keys of members that are credentials of an app or a session.
    static let credentialKeys = credentials.sorted.map(\.key)

    private static let batchClass = PseudonymClass("batch")
    private static let requestClass = PseudonymClass("request")
    private static let stateClass = PseudonymClass("state")

    /// The members of all requests [B.1].
    private static let common: PayloadFields = [
        .required(
            LeanplumKeys.action, .string(), .keep(.oneOf(LeanplumVocabulary.actionNames), else: .pseudonym(.event)),
            "the API method that the request calls"),
        .required("client", .string(), .keep(.word), "the platform of the SDK, `ios`"),
        .flag("ct", "whether the app is migrating to CleverTap"),
        .required(
            LeanplumKeys.devMode, .boolean, .keep(.boolean), "whether the app uses the development access key"),
        .required(LeanplumKeys.deviceID, .string(), .pseudonym(.client), "the id of the device"),
        .string(LeanplumKeys.requestID, .pseudonym(requestClass), "the id of the request, a UUID"),
        .integer(LeanplumKeys.retryCount, "the number of failed attempts to send the request"),
        .required(
            LeanplumKeys.sdkVersion, .string(), .keep(.version), "the version of the SDK"),
        .required(
            LeanplumKeys.time, .string(.named("number of seconds", { $0.isPlainDecimal })), .time(.secondsText),
            "the time at which the request was queued, in seconds since 1970"),
        .string("token", .drop, "the session token"),
        .required(
            LeanplumKeys.userID, .string(), .pseudonym(.user),
            "the id of the user, or the id of the device if the user has none"),
        .string(LeanplumKeys.uuid, .pseudonym(batchClass), "the id of the batch, a UUID"),
    ]

    /// The members of `start` requests, and of requests that repeat some of these members [B.2].
    private static let start: PayloadFields = [
        .flag("background", "whether the app was started in the background"),
        place("city"),
        place("country"),
        .string(LeanplumKeys.deviceModel, .keep(.model), "the hardware model, such as `iPhone9,3`"),
        .string("deviceName", .drop, "the name that the user gave the device"),
        .flag("includeDefaults", "whether the response includes default values"),
        .flag("includeVariantDebugInfo", "whether the response describes experiments"),
        .string("installDate", .time(.secondsText), "the time at which the app was installed, in seconds since 1970"),
        .string("iosPushToken", .drop, "the push notification token"),
        .string(LeanplumKeys.locale, .keep(.locale), "the preferred language and the country, such as `en-US_US`"),
        place("location"),
        .optional("newsfeedMessages", .list(.string()), .drop, "the ids of the messages in the newsfeed"),
        place("region"),
        .flag("richPushEnabled", "whether rich push notifications are enabled"),
        .string(LeanplumKeys.systemName, .keep(.model), "the name of the operating system"),
        .string(LeanplumKeys.systemVersion, .keep(.version), "the version of the operating system"),
        .string("timezone", .keep(.zone), "the name of the time zone"),
        .integer("timezoneOffsetSeconds", "the offset of the local time from UTC in seconds, positive if it is ahead"),
        .string("updateDate", .time(.secondsText), "the time at which the app was updated, in seconds since 1970"),
        .string(LeanplumKeys.versionName, .keep(.version), "the version of the app, usually its build number"),
    ]

    /// The members of requests that report events or states [B.2].
    private static let track: PayloadFields = [
        .flag("allowOffline", "whether the event occurred while the app was inactive"),
        .string(LeanplumKeys.currency, .keep(.word), "the currency of a purchase"),
        .string(
            LeanplumKeys.event,
            .keep(
                .oneOf(Set(LeanplumVocabulary.events.keys).union(["enter_region", "exit_region"])),
                else: .pseudonym(.event)), "the name of the event"),
        .optional("iOSReceiptData", .orNull(.string()), .drop, "the receipt of a purchase, in Base64"),
        .flag("iOSSandbox", "whether a purchase was made in the sandbox environment"),
        .string("iOSTransactionIdentifier", .drop, "the transaction id of a purchase"),
        .string("info", .drop, "additional information that the app attached to an event or a state"),
        decimal(LeanplumKeys.messageID, "the id of a message"),
        .string(LeanplumKeys.state, .pseudonym(stateClass), "the name of the state"),
        decimal(LeanplumKeys.value, "the value of the event"),
    ]

    /// The members of requests that set or request values [B.2].
    private static let settings: PayloadFields = [
        .string("data", .drop, "the descriptions of files"),
        .string("email", .drop, "the email address of a developer"),
        .string("filename", .drop, "the name of a file"),
        decimal("includeMessageId", "the id of a requested message"),
        .integer("iosPushTypes", "the allowed types of push notifications, as a bit mask"),
        .string("locationAccuracyType", .keep(.oneOf(["cell", "gps", "ip"])), "the source of the location"),
        .string("newUserId", .pseudonym(.user), "the new id of the user"),
        .string("newsfeedMessageId", .drop, "the id of a message in the newsfeed"),
        .optional(
            "trafficSource", .map(.any), .drop, "the source from which the app was installed, such as a campaign"),
    ]

    /// The members of `log` requests [B.2].
    private static let diagnostics: PayloadFields = [
        .integer("count", "the number of calls of a function"),
        .string("message", .drop, "the text of the message"),
        .string("name", .drop, "the name of the counter"),
        .string("stackTrace", .drop, "the stack trace"),
        decimal("startLatency", "how long the SDK took to start"),
        .string(
            "type", .keep(.oneOf(["sdkCount", "sdkError", "sdkLog", "sdkStartLatency"])), "the type of the message"),
    ]

    /// The members whose strings contain JSON [B.2].
    private static let nestedJSON: PayloadFields = [
        .string("actionDefinitions", .drop, "the actions that the app defines"),
        .string("fileAttributes", .drop, "the attributes of files"),
        .string("iosPushCategories", .drop, "the categories of push notifications"),
        .string("kinds", .drop, "the types of the variables"),
        .string(LeanplumKeys.params, .json(.object(params.pseudonyms)), "the parameters of an event or a state"),
        .string(LeanplumKeys.userAttributes, .json(.object(attributes.pseudonyms)), "the attributes of the user"),
        .string("vars", .drop, "the variables of the app"),
    ]

    /// The members that are credentials.
    ///
    /// No SDK stores them, but they are removed from every request in case one does.
    private static let credentials = PayloadFields(
        ["Authorization", "Cookie", "authorization", "clientKey", "cookie"].map {
            .added($0, .any, .drop, "a secret of the app or of a session")
        })

    /// The parameters of Firefox's events [D.1], and of purchases.
    private static let params: PayloadFields = [
        .string(
            "Source",
            .keep(
                .oneOf([
                    "Activity Stream", "Activity Stream Long Press Context Menu",
                    "Add tab button in the URL Bar on iPad", "External App or Extension", "Long Press Context Menu",
                    "Menu", "Tab Tray",
                ])), "the part of the app from which something was opened"),
        .string("StoryType", .keep(.oneOf(["Article"])), "the type of the story"),
        .string("Strength option", .keep(.oneOf(["basic", "strict"])), "the strength of tracking protection"),
        .string("Total time", .keep(.version), "the time until the user swiped the introduction, such as `900 ms`"),
        decimal("dismissedOnSlide", "the number of the page on which the introduction was dismissed"),
        .string("item", .drop, "the product of a purchase"),
        .integer("quantity", "the number of products of a purchase"),
    ]

    /// The user attributes of Firefox [D.2].
    ///
    /// Their meanings are also used to label requests that set them.
    static let attributes: PayloadFields = [
        .flag("Alternate Mail Client Installed", "another mail app is installed"),
        .flag("Build channel is Release", "release build"),
        decimal("Experiment id", "id of an experiment"),
        .string("Experiment name", .keep(.name), "name of an experiment"),
        .string("Experiment variant", .keep(.name), "variant of an experiment"),
        .flag("Focus Installed", "Focus is installed"),
        .flag("FxA account is verified", "Firefox account is verified"),
        .flag("Klar Installed", "Klar is installed"),
        .flag("Mailto Is Default", "mail links open the default mail app"),
        .integer("Number of devices in FxA account", "number of devices in the Firefox account"),
        .flag("Pocket Installed", "Pocket is installed"),
        .flag("Signed In Sync", "signed in to Sync"),
        .flag("Telemetry Opt In", "usage data is sent"),
    ]
}

// MARK: - Common forms

extension LeanplumFields {
    /// Returns an optional field whose value is a string with a decimal number.
    private static func decimal(_ key: JSONKey, _ meaning: String) -> PayloadField {
        .string(key, .keep(.decimal), meaning)
    }

    private static func place(_ key: JSONKey) -> PayloadField {
        // In records with pseudonyms, only `(detect)` is kept, which asks the server to detect the location.
        .string(key, .keep(.oneOf(["(detect)"])), "the \(key) of the device, or `(detect)`")
    }
}

// MARK: - Keys

/// The keys that are read from stored and captured requests.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B and C.
enum LeanplumKeys {
    static let action: JSONKey = "action"
    static let currency: JSONKey = "currencyCode"
    /// The list of requests, which is the only member of a payload.
    static let data: JSONKey = "data"
    static let deviceID: JSONKey = "deviceId"
    static let deviceModel: JSONKey = "deviceModel"
    static let devMode: JSONKey = "devMode"
    static let event: JSONKey = "event"
    static let locale: JSONKey = "locale"
    static let messageID: JSONKey = "messageId"
    static let params: JSONKey = "params"
    static let requestID: JSONKey = "reqId"
    /// The number of failed attempts, which changes while the request is queued.
    static let retryCount: JSONKey = "retryCount"
    static let sdkVersion: JSONKey = "sdkVersion"
    static let state: JSONKey = "state"
    static let systemName: JSONKey = "systemName"
    static let systemVersion: JSONKey = "systemVersion"
    static let time: JSONKey = "time"
    static let userAttributes: JSONKey = "userAttributes"
    static let userID: JSONKey = "userId"
    static let uuid: JSONKey = "uuid"
    static let value: JSONKey = "value"
    static let versionName: JSONKey = "versionName"
}
