import Telemetry

/// Sentences that explain codes to people who have never seen them.
enum CodeMeanings {
    /// What a code of a hold means, as a sentence, and whether an operator may release what it holds.
    static func hold(_ code: String, _ known: [HoldCode]) -> (meaning: String, isFinal: Bool?) {
        guard let hold = known.first(where: { $0.code == code }) else {
            return ("This version of the program does not know the reason; a later one wrote it.", nil)
        }
        return (hold.meaning.prefix(1).uppercased() + hold.meaning.dropFirst() + ".", hold.isFinal)
    }

    /// What a code of a problem means; nil for one that its own words explain.
    static func problem(_ code: String) -> String? { problems[code] }

    private static let problems = [
        "changed": "A file changed while it was read: take the capture again.",
        "damaged": "An archive or a bundle is damaged: what stands before the damage was read.",
        "extension-events": "Events wait on the phone to be put into a ping; they are in no record.",
        "link": "A symbolic link stands where a store should be. It was not followed.",
        "nested": "An archive lies in an archive. Unpack the outer one to have it read.",
        "pending-counters": "The phone has counted something that is in no ping yet.",
        "quarantine-limit": "More could not be understood than the quarantine holds: it is listed alone.",
        "schema-objects": "A database has tables of its own app; they were not looked at.",
        "special": "Something that is no file stands where a store should be. It was not read.",
        "unreadable": "A file or a folder could not be read.",
    ]
}
