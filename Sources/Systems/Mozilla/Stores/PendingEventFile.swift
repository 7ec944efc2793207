import Bytes
import JSONText
import Telemetry

/// A reader of a file of events that are not yet included in a ping.
///
/// The events are JSON arrays, which are separated by a comma and a line feed. Each line is read separately, because
/// files are often damaged and an invalid event must not affect the others.
///
/// Rejects and notes contain the case ids F1 to F13 of the source.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 4.1 to 4.4.
struct PendingEventFile {
    private let bytes: [UInt8]
    private let hasByteOrderMark: Bool
    private var document = JSONDocument()
    private var pendingEvents = PendingEvents()
    private var isBracketed = false
    private var hasMissingSeparator = false

    init(_ bytes: [UInt8]) {
        hasByteOrderMark = bytes.starts(with: ByteOrderMark.utf8)
        self.bytes = bytes.blankingByteOrderMark
    }

    /// Reads all events that can be recovered.
    mutating func read() -> PendingEvents {
        pendingEvents = PendingEvents()
        if let message = ByteOrderMark.message(forJSON: bytes) {
            pendingEvents.rejects = [Reject("F13 \(message)")]
            return pendingEvents
        }
        if hasByteOrderMark { pendingEvents.note("F13 byte order mark left out") }
        if let bracket = openingBracketOffset() {
            isBracketed = true
            pendingEvents.note("F11 brackets around the whole file")
            if readWholeArray() { return pendingEvents }
            readSegments(from: bracket + 1)
        } else {
            readSegments(from: 0)
        }
        if hasMissingSeparator { pendingEvents.note("F7 records without separator") }
        return pendingEvents
    }

    /// Returns the offset of the bracket that a tool added in front of all events, or `nil` if there is none.
    ///
    /// The file must start with two brackets. A single bracket is the start of an event, because the first element of
    /// an event is a number.
    private func openingBracketOffset() -> Int? {
        guard let first = bytes.firstIndex(where: { !$0.isBlank }), bytes[first] == UInt8(ascii: "["),
            let second = bytes[(first + 1)...].firstIndex(where: { !$0.isBlank }),
            bytes[second] == UInt8(ascii: "[")
        else { return nil }
        return first
    }

    /// Reads the events if the whole file is a valid JSON array of events, or returns `false` if it is not.
    private mutating func readWholeArray() -> Bool {
        guard (try? document.read(bytes)) != nil else { return false }
        let elements = document.elements(of: document.root)
        guard elements.allSatisfy({ EventTuples.isTuple($0, in: document) }) else { return false }
        for element in elements { _ = pendingEvents.append(element, of: &document) }
        return true
    }

    /// Reads each line from the offset `start` to the end.
    private mutating func readSegments(from start: Int) {
        var lines = LineCursor(from: start)
        while let line = lines.next(in: bytes.span) { readSegment(line.range, isLast: !line.isTerminated) }
    }

    private mutating func readSegment(_ segment: Range<Int>, isLast: Bool) {
        var rest = trimmed(segment)
        var previousEnd: Int?
        while !rest.isEmpty {
            do throws(JSONError) {
                let end = try document.readValue(in: bytes, range: rest)
                let value = rest.lowerBound..<end
                if pendingEvents.append(document.root, of: &document) {
                    if let previousEnd, !bytes[previousEnd..<rest.lowerBound].contains(UInt8(ascii: ",")) {
                        hasMissingSeparator = true
                    }
                } else {
                    reject(value, "F12 not a tuple")
                }
                previousEnd = end
                rest = trimmed(end..<rest.upperBound)
            } catch {
                return reject(rest, reason(for: error, in: rest, isLast: isLast))
            }
        }
    }

    /// Returns the range `segment` without the white space and the commas at its ends.
    ///
    /// The result is empty if only the bracket that closes the whole file remains.
    private func trimmed(_ segment: Range<Int>) -> Range<Int> {
        var start = segment.lowerBound
        var end = segment.upperBound
        while start < end, bytes[start].isBlank || bytes[start] == UInt8(ascii: ",") { start += 1 }
        while start < end, bytes[end - 1].isBlank || bytes[end - 1] == UInt8(ascii: ",") { end -= 1 }
        let isClosingBracket = isBracketed && end - start == 1 && bytes[start] == UInt8(ascii: "]")
        return isClosingBracket ? end..<end : start..<end
    }

    private mutating func reject(_ span: Range<Int>, _ reason: String) {
        let span = trimmed(span)
        pendingEvents.rejects.append(Reject(reason, offset: span.lowerBound, length: span.count))
    }

    private func reason(for error: JSONError, in span: Range<Int>, isLast: Bool) -> String {
        if bytes[span].contains(0) { return "F10 NUL bytes" }
        guard isLast else { return "F5 broken event: \(error)" }
        if error.code == .invalidUTF8, bytes[error.offset..<span.upperBound].isTruncatedCharacter {
            return "F8 event cut inside a character"
        }
        return error.code == .unexpectedEnd ? "F4 event cut short" : "F4 broken event: \(error)"
    }
}

/// The contents of a pending event file.
struct PendingEvents: Sendable {
    /// The events, in the order of the file.
    var events = EventList()
    /// The findings about the events and the file, of which only the notes are used.
    private var findings = Findings()
    /// The notes about the events and the file.
    var notes: [String] { findings.notes }
    /// The parts of the file that are not events.
    var rejects: [Reject] = []

    mutating func note(_ text: String) { findings.note(text) }

    /// Normalizes and appends `value`, or returns `false` if it is not an event.
    mutating func append(_ value: JSONNode, of document: inout JSONDocument) -> Bool {
        guard EventTuples.isTuple(value, in: document) else { return false }
        var eventFindings = Findings()
        EventTuples.normalize(event: value, index: events.count, in: &document, findings: &eventFindings)
        for text in eventFindings.notes { note(text) }
        for fault in eventFindings.faults { note("schema \(fault)") }
        events.append(value, of: document)
        return true
    }
}

/// A list of events as canonical JSON, in one buffer.
struct EventList: Sendable {
    private var bytes = TextBuffer()
    private var eventEnds: [Int] = []

    var count: Int { eventEnds.count }

    mutating func append(_ event: JSONNode, of document: JSONDocument) {
        document.write(event, to: &bytes)
        eventEnds.append(bytes.count)
    }

    /// Returns the events in `range` as a canonical JSON array.
    func jsonArray(of range: Range<Int>) -> [UInt8] {
        var array = [UInt8(ascii: "[")]
        for index in range {
            if index > range.lowerBound { array.append(UInt8(ascii: ",")) }
            array += bytes[(index == 0 ? 0 : eventEnds[index - 1])..<eventEnds[index]]
        }
        array.append(UInt8(ascii: "]"))
        return array
    }
}
