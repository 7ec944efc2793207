import Telemetry

/// Explanations of hold codes and problem codes for readers of a report.
enum CodeMeanings {
    /// Returns the meaning of a hold code, and whether the hold is final.
    ///
    /// The operator cannot release records with a final hold. The second value is `nil` if the code is unknown.
    static func holdMeaning(of code: String, in holdCodes: [HoldCode]) -> (meaning: String, isFinal: Bool?) {
        guard let hold = holdCodes.first(where: { $0.code == code }) else {
            return ("The reason is unknown to this version of the program.", nil)
        }
        return (hold.meaning.prefix(1).uppercased() + hold.meaning.dropFirst() + ".", hold.isFinal)
    }

    /// Returns the meaning of a problem code, or `nil` if the descriptions of the problems are sufficient.
    static func problemMeaning(of code: String) -> String? { problemMeanings[code] }

    private static let problemMeanings = [
        "changed": "A file changed while it was read. Make the capture again.",
        "damaged": "An archive or a bundle is damaged. The data before the damage was read.",
        "extension-events": "The phone has stored events that are not part of a ping yet. They are not in any record.",
        "link": "A symbolic link was found in place of a store. It was not followed.",
        "nested": "An archive contains another archive. Unpack the outer archive to read the inner one.",
        "pending-counters": "The phone has counted something that is not part of a ping yet.",
        "quarantine-limit":
            "The quarantine has reached its limit. Further input is listed, but its bytes are not stored.",
        "schema-objects": "A database contains additional tables. They were not read.",
        "special": "A special file was found in place of a store. It was not read.",
        "unreadable": "A file or a folder could not be read.",
    ]
}
