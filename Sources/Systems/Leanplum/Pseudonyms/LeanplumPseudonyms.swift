import JSONText
import Telemetry

/// What becomes of Leanplum's requests when their records get pseudonyms.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B and D.
enum LeanplumPseudonyms {
    static let format = PseudonymFormat(tables: [(["multi"], call)], path: nil)

    private static let call: PseudonymTable = [
        "data": .list(.object(common + start + track + settings + diagnostics + secrets))
    ]

    private static let batch = PseudonymClass("batch")
    private static let request = PseudonymClass("request")
    private static let state = PseudonymClass("state")

    /// Members of every request [B.1].
    private static let common: PseudonymTable = [
        "action": .keep(
            .oneOf(Set(LeanplumVocabulary.actions.keys).union([LeanplumVocabulary.trackAction])),
            else: .pseudonym(.event)),
        "client": .keep(.word),
        "ct": .keep(.boolean),
        "devMode": .keep(.boolean),
        "deviceId": .pseudonym(.client),
        "reqId": .pseudonym(request),
        "retryCount": .keep(.number),
        "sdkVersion": .keep(.version),
        "time": .keep(.decimal),
        "token": .drop,
        "userId": .pseudonym(.user),
        "uuid": .pseudonym(batch),
    ]

    /// Members of `start`, and of requests that repeat some of them [B.2]. Places stay where the server is to find them out.
    private static let start: PseudonymTable =
        PseudonymTable(["city", "country", "location", "region"], .keep(.oneOf(["(detect)"])))
        + [
            "background": .keep(.boolean),
            "deviceModel": .keep(.name),
            "deviceName": .drop,
            "includeDefaults": .keep(.boolean),
            "includeVariantDebugInfo": .keep(.boolean),
            "installDate": .keep(.decimal),
            "iosPushToken": .drop,
            "locale": .keep(.locale),
            "newsfeedMessages": .drop,
            "richPushEnabled": .keep(.boolean),
            "systemName": .keep(.name),
            "systemVersion": .keep(.version),
            "timezone": .keep(.zone),
            "timezoneOffsetSeconds": .keep(.number),
            "updateDate": .keep(.decimal),
            "userAttributes": .json(.object(attributes)),
            "versionName": .keep(.version),
        ]

    /// Members of events and states [B.2]. The names that an app gives are told from others, and not shown.
    private static let track: PseudonymTable = [
        "allowOffline": .keep(.boolean),
        "currencyCode": .keep(.word),
        "event": .keep(
            .oneOf(Set(LeanplumVocabulary.events.keys).union(["enter_region", "exit_region"])), else: .pseudonym(.event)
        ),
        "iOSReceiptData": .drop,
        "iOSSandbox": .keep(.boolean),
        "iOSTransactionIdentifier": .drop,
        "info": .drop,
        "messageId": .keep(.decimal),
        "params": .json(.object(params)),
        "state": .pseudonym(state),
        "value": .keep(.decimal),
    ]

    /// Members of requests that set or ask for something [B.2].
    private static let settings: PseudonymTable = [
        "actionDefinitions": .drop,
        "data": .drop,
        "email": .drop,
        "fileAttributes": .drop,
        "filename": .drop,
        "includeMessageId": .keep(.decimal),
        "iosPushCategories": .drop,
        "iosPushTypes": .keep(.number),
        "kinds": .drop,
        "locationAccuracyType": .keep(.oneOf(["cell", "gps", "ip"])),
        "newUserId": .pseudonym(.user),
        "newsfeedMessageId": .drop,
        "trafficSource": .drop,
        "vars": .drop,
    ]

    /// Members of `log` [B.2].
    private static let diagnostics: PseudonymTable = [
        "count": .keep(.number),
        "message": .drop,
        "name": .drop,
        "stackTrace": .drop,
        "startLatency": .keep(.decimal),
        "type": .keep(.oneOf(["sdkCount", "sdkError", "sdkLog", "sdkStartLatency"])),
    ]

    /// Credentials, which are left out whenever requests are read.
    private static let secrets = PseudonymTable(LeanplumKeys.credentials.map(\.description), .drop)

    /// The user attributes of Firefox [D.2]: switches and counts, and experiments by their names.
    private static let attributes: PseudonymTable =
        [
            "Experiment id": .keep(.decimal),
            "Experiment name": .keep(.name),
            "Experiment variant": .keep(.name),
            "Number of devices in FxA account": .keep(.number),
        ] + PseudonymTable(LeanplumVocabulary.attributes.keys.sorted(), .keep(.boolean))

    /// The parameters of Firefox's events [D.1], and of purchases.
    private static let params: PseudonymTable = [
        "Source": .keep(
            .oneOf([
                "Activity Stream", "Activity Stream Long Press Context Menu",
                "Add tab button in the URL Bar on iPad", "External App or Extension", "Long Press Context Menu", "Menu",
                "Tab Tray",
            ])),
        "StoryType": .keep(.oneOf(["Article"])),
        "Strength option": .keep(.oneOf(["basic", "strict"])),
        "Total time": .keep(.version),
        "dismissedOnSlide": .keep(.decimal),
        "item": .drop,
        "quantity": .keep(.number),
    ]
}
