import Bytes
import JSONText
import Telemetry

/// The functions that normalize the measurements of a ping according to its type.
enum PingNormalizer {
    /// Normalizes the measurements of a ping, and returns the reasons for holding its record.
    ///
    /// Measurements of an undocumented ping type are not changed.
    static func normalize(
        _ measurements: JSONNode, type: String, in document: inout JSONDocument, findings: inout Findings
    ) -> [Hold] {
        var holds: [Hold] = []
        switch type {
        case "core":
            let fields = CorePing.fields(of: measurements, in: document)
            FieldNormalizer(fields.sorted.span).normalize(measurements, in: &document, findings: &findings)
            CorePingAnomalies.note(measurements, in: document, findings: &findings)
        case "focus-event", "mobile-event":
            let fields = type == "focus-event" ? EventPing.focusFields : EventPing.mobileFields
            FieldNormalizer(fields.sorted.span).normalize(measurements, in: &document, findings: &findings)
            if let hold = eventCountHold(measurements, in: document) { holds.append(hold) }
        default: return []
        }
        noteScalarAnomalies(measurements, in: document, findings: &findings)
        if let schema = findings.hold { holds.insert(schema, at: 0) }
        return holds
    }

    private static func eventCountHold(_ measurements: JSONNode, in document: JSONDocument) -> Hold? {
        guard let events = document.array(MeasurementKeys.events, in: measurements) else { return nil }
        let count = document.count(of: events)
        if count < EventPing.minimumEventCount { return .tooFewEvents }
        return count > EventPing.maximumEventCount ? .tooManyEvents : nil
    }

    /// Adds notes about unusual values in fields that all ping types have (cases C13 and C22).
    private static func noteScalarAnomalies(
        _ measurements: JSONNode, in document: JSONDocument, findings: inout Findings
    ) {
        if let client = document.value(of: MeasurementKeys.clientID, in: measurements),
            document.bytes(of: client).equals(MeasurementKeys.placeholderClient)
        {
            findings.note("C13 clientId: placeholder of other clients, the server treats it as an error")
        }
        if let zone = document.value(of: MeasurementKeys.timeZone, .number, in: measurements),
            JSONNumberText.isPlainInteger(document.bytes(of: zone)),
            !(-720...840).contains(Int64(decimal: document.bytes(of: zone)) ?? .max)
        {
            findings.note("C22 tz: \(document.string(of: zone)) minutes is no zone's offset")
        }
    }
}

/// The functions that add notes about unusual values in a core ping, without changing the values.
private enum CorePingAnomalies {
    static func note(_ measurements: JSONNode, in document: JSONDocument, findings: inout Findings) {
        noteCalendar(measurements, in: document, findings: &findings)
        noteReversedSearches(measurements, in: document, findings: &findings)
    }

    /// Adds a note if the creation date is not in the Gregorian calendar or not in ASCII digits (case C9).
    ///
    /// SDK versions before 1.0.9 can write such dates.
    private static func noteCalendar(
        _ measurements: JSONNode, in document: JSONDocument, findings: inout Findings
    ) {
        guard let created = document.value(of: MeasurementKeys.created, .string, in: measurements) else { return }
        let text = document.bytes(of: created)
        if text.isDate, text[0] == UInt8(ascii: "2"), text[1] == UInt8(ascii: "0") { return }
        findings.note("C9 created: another calendar or digits, kept as stored; the time is the envelope's")
    }

    /// Adds notes about search keys of the form `<engine>.<location>`, which Firefox before 10.0 wrote (case C24).
    private static func noteReversedSearches(
        _ measurements: JSONNode, in document: JSONDocument, findings: inout Findings
    ) {
        guard let searches = document.value(of: MeasurementKeys.searches, in: measurements) else { return }
        for search in document.members(of: searches) {
            let key = document.bytes(of: search.key)
            guard let first = key.firstIndex(of: UInt8(ascii: "."), from: 0),
                let last = key.indices.last(where: { key[$0] == UInt8(ascii: ".") }),
                !isLocation(key.extracting(..<first)), isLocation(key.extracting((last + 1)...))
            else { continue }
            findings.note("C24 searches.\(String(readingUTF8: key)): engine and location reversed, kept as stored")
        }
    }

    private static func isLocation(_ text: Span<UInt8>) -> Bool {
        CorePing.searchLocations.contains { text.equals($0.string) }
    }
}
