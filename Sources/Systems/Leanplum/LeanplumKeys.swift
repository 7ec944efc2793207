import JSONText

/// The keys that are read from stored and captured requests.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B and C.
enum LeanplumKeys {
    static let action: JSONKey = "action"
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
