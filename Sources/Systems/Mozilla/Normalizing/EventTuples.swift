import JSONText
import Telemetry

/// The events of an event ping: `[timestamp, category, method, object, value?, extras?]`.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 6.4 to 6.6.
enum EventTuples {
    private static let fewestElements = 4
    private static let mostElements = 6

    /// Brings each event of an array into its documented form; notes where another run of the app begins.
    static func normalize(_ events: JSONNode, in document: inout JSONDocument, findings: inout Findings) {
        let plainKinds = plainKinds
        var index = 0
        var previousOffset: Int64?
        var event = document.firstElement(of: events)
        while let current = event {
            var offset = offset(of: current, in: document)
            if offset == nil || !plainKinds.contains(document.kinds(of: current)) {
                normalize(event: current, index: index, in: &document, findings: &findings)
                offset = self.offset(of: current, in: document)
            }
            if let offset, let previousOffset, startsRun(offset, after: previousOffset) {
                findings.note(
                    "E13 events[\(index)]: offset \(offset) follows \(previousOffset); earlier events belong to a "
                        + "previous process run")
            }
            previousOffset = offset ?? previousOffset
            event = document.element(after: current, of: events)
            index += 1
        }
    }

    /// The index of the first event of the last run of the app in a ping: those before it count from the start of an earlier
    /// process [E13].
    static func startOfLastRun(in events: JSONNode, of document: JSONDocument) -> Int {
        var start = 0
        var index = 0
        var previousOffset: Int64?
        var event = document.firstElement(of: events)
        while let current = event {
            let offset = offset(of: current, in: document)
            if let offset, let previousOffset, startsRun(offset, after: previousOffset) { start = index }
            previousOffset = offset ?? previousOffset
            event = document.element(after: current, of: events)
            index += 1
        }
        return start
    }

    /// The kinds of the elements of events that have the documented form if their first element is an integer, and nothing in
    /// them that could have another one: of most events.
    private static let plainKinds: [KindPattern] = [
        KindPattern([.number, .string, .string, .string]),
        KindPattern([.number, .string, .string, .string, .string]),
        KindPattern([.number, .string, .string, .string, .null]),
    ]

    /// Whether a value looks like an event at all: a number and three strings at its front.
    static func isTuple(_ value: JSONNode, in document: JSONDocument) -> Bool {
        guard document.count(of: value) >= fewestElements else { return false }
        var element = document.firstElement(of: value)
        for position in 0..<fewestElements {
            guard let current = element, document.kind(of: current) == (position == 0 ? .number : .string) else {
                return false
            }
            element = document.element(after: current, of: value)
        }
        return true
    }

    static func normalize(
        event: JSONNode, index: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard document.kind(of: event) == .array else {
            return findings.fault("events[\(index)] is no array")
        }
        dropRepeatedValue(of: event, index: index, in: &document, findings: &findings)
        let count = document.count(of: event)
        guard (fewestElements...mostElements).contains(count) else {
            return findings.fault("events[\(index)] has \(count) elements")
        }
        var position = 0
        var element = document.firstElement(of: event)
        while let current = element {
            check(current, at: position, index: index, in: &document, findings: &findings)
            position += 1
            element = document.element(after: current, of: event)
        }
    }

    private static func check(
        _ element: JSONNode, at position: Int, index: Int, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        let kind = document.kind(of: element)
        switch position {
        case 0:
            guard kind == .number else { return findings.fault("events[\(index)][0] is no integer") }
            if JSONNumberText.isPlainInteger(document.bytes(of: element)) { return }
            _ = findings.take(IntegerForm.normalize(element, in: &document), name: { "events[\(index)][0]" })
        case 1, 2, 3:
            if kind != .string { findings.fault("events[\(index)][\(position)] is no string") }
        case 4:
            if kind != .string, kind != .null { findings.fault("events[\(index)][4] is no string") }
        default:
            guard kind == .object else {
                if kind != .null { findings.fault("events[\(index)][5] is no object") }
                return
            }
            TextValues.normalize(
                element, in: &document, findings: &findings, isNullable: true, code: { _ in "E8" },
                name: { "events[\(index)][5]" })
        }
    }

    /// SDK v1.0.1 to v1.0.4 wrote the value twice when there were extras [E7].
    private static func dropRepeatedValue(
        of event: JSONNode, index: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard document.count(of: event) == mostElements + 1 else { return }
        let elements = document.elements(of: event)
        guard document.kind(of: elements[4]) == .string, document.kind(of: elements[5]) == .string,
            document.bytes(of: elements[4]).equals(document.bytes(of: elements[5])),
            document.kind(of: elements[6]) == .object
        else { return }
        document.removeElement(elements[5], from: event)
        findings.note("E7 events[\(index)]: 7 elements; duplicate value element removed")
    }

    private static func offset(of event: JSONNode, in document: JSONDocument) -> Int64? {
        guard let first = document.firstElement(of: event), document.kind(of: first) == .number else { return nil }
        return Int64(decimal: document.bytes(of: first))
    }

    /// Small steps back come from events that were appended late [E12]; a drop to near 0 is another run [E13].
    private static func startsRun(_ offset: Int64, after previous: Int64) -> Bool {
        offset >= 0 && offset < previous / 2 && previous - offset > 100
    }
}
