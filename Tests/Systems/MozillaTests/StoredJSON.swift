import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Creates stored pings as JSON, without the code under test.
///
/// Keys are sorted, and there is no white space. Therefore the JSON is canonical if its values are.
enum StoredJSON {
    /// JSON values by key.
    ///
    /// `nil` removes a key.
    typealias Changes = [String: String?]

    static let documentID = "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11"
    static let client = "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083"

    static let coreFields = [
        "arch": #""arm64""#, "clientId": #""4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083""#, "created": #""2018-05-24""#,
        "defaultSearch": #""Google""#, "device": #""iPhone10,6""#, "durations": "34", "locale": #""en-US""#,
        "os": #""iOS""#, "osversion": #""11.3.1""#, "profileDate": "17626",
        "searches": #"{"actionbar.Google":2}"#, "seq": "12", "sessions": "1", "tz": "-240", "v": "7",
    ]

    static let eventFields = [
        "arch": #""arm64""#, "clientId": #""4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083""#, "created": "1527163208377",
        "device": #""iPhone10,6""#,
        "events": """
        [[3,"action","foreground","app"],[2147,"action","type_query","search_bar"],\
        [12892,"action","click","erase_button"]]
        """,
        "locale": #""en-US""#, "os": #""iOS""#, "osversion": #""11.3.1""#, "processStartTimestamp": "1527163171020",
        "seq": "5", "settings": #"{"BlockAds":"true"}"#, "tz": "-240", "v": "1",
    ]

    /// Returns the measurements of a ping, with changes.
    static func measurements(_ type: String, _ changes: Changes...) -> String {
        object(type == "core" ? coreFields : eventFields, changes)
    }

    static func uploadPath(_ type: String, documentID: String = documentID) -> String {
        "/submit/telemetry/\(documentID)/\(type)/Focus/5.0/release/2?v=4"
    }

    /// Returns the envelope of measurements, with changes.
    static func envelope(_ type: String, _ measurements: String, _ changes: Changes = [:]) -> String {
        let fields = [
            "documentId": "\"\(documentID)\"", "measurements": measurements, "pingType": "\"\(type)\"",
            "timestamp": "1527163208.4180789", "uploadPath": "\"\(uploadPath(type))\"",
        ]
        return object(fields, [changes])
    }

    /// Returns a value for `events` that consists of two fixed events and the given events.
    static func events(endingIn last: String...) -> String {
        let front = [#"[3,"action","foreground","app"]"#, #"[9310,"action","click","erase_button"]"#]
        return "[" + (front + last).joined(separator: ",") + "]"
    }

    static func object(_ fields: [String: String], _ changes: [Changes] = []) -> String {
        var fields = fields
        for (key, value) in changes.joined() { fields[key] = value }
        let sorted = fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return "{" + sorted.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}
