import JSONText

/// The keys of requests, stored or sent, that more is done with than carrying them along.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B and C.
enum LeanplumKeys {
    static let action: JSONKey = "action"
    /// The list of requests, the only member of a payload.
    static let data: JSONKey = "data"
    static let deviceID: JSONKey = "deviceId"
    static let devMode: JSONKey = "devMode"
    static let event: JSONKey = "event"
    static let messageID: JSONKey = "messageId"
    static let params: JSONKey = "params"
    static let requestID: JSONKey = "reqId"
    /// Counts the failed attempts of the device, and so changes while the request waits.
    static let retryCount: JSONKey = "retryCount"
    static let sdkVersion: JSONKey = "sdkVersion"
    static let time: JSONKey = "time"
    static let userAttributes: JSONKey = "userAttributes"
    static let uuid: JSONKey = "uuid"
    static let value: JSONKey = "value"
    static let versionName: JSONKey = "versionName"
    /// Members that are secrets of the app or of a session.
    static let credentials: [JSONKey] = ["Authorization", "Cookie", "authorization", "clientKey", "cookie"]
    /// Members whose texts are JSON themselves, by their names.
    static let nested: [JSONKey] = [
        "actionDefinitions", "fileAttributes", "iosPushCategories", "kinds", params, userAttributes, "vars",
    ]
}
