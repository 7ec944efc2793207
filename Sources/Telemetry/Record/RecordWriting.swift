import Bytes
import JSONText

extension Record {
    /// Appends the record to `output` as a line of canonical JSON.
    ///
    /// Returns the positions of the notes and the payload in `output`.
    @discardableResult
    public func write(to output: inout TextBuffer) -> RecordLineLayout {
        var payloadStart = 0
        var notesStart = 0
        // For speed, memory is reserved once and no JSON encoder is used.
        output.append(atMost: maximumFrameSize + payload.count) { output in
            writeUpToNotes(to: &output)
            notesStart = output.count
            writeNotes(to: &output)
            payloadStart = output.count
            output.append(copying: payload.span)
            writeAfterPayload(to: &output)
        }
        return RecordLineLayout(notes: notesStart, payload: payloadStart..<payloadStart + payload.count)
    }

    /// Appends the record as a line of canonical JSON, like `write(to:)`.
    @discardableResult
    public func write(to output: inout [UInt8]) -> RecordLineLayout {
        var line = TextBuffer()
        let written = write(to: &line)
        let start = output.count
        output += line[0..<line.count]
        return written.moved(by: start)
    }

    /// An upper bound for the size, in bytes, of the line without the payload.
    ///
    /// Each byte of a string counts as six bytes, because JSON can escape it as `\u0000`.
    private var maximumFrameSize: Int {
        var bytes = id.utf8.count + type.utf8.count + source.capture.utf8.count + source.path.utf8.count
        bytes += (client?.utf8.count ?? 0) + (target?.path.utf8.count ?? 0) + (target?.method?.utf8.count ?? 0)
        if let app {
            bytes += (app.build?.utf8.count ?? 0) + (app.channel?.utf8.count ?? 0) + (app.id?.utf8.count ?? 0)
            bytes += (app.name?.utf8.count ?? 0) + (app.version?.utf8.count ?? 0)
        }
        for (name, value) in target?.headers ?? [:] { bytes += name.utf8.count + value.utf8.count + 6 }
        for note in notes { bytes += note.utf8.count + 1 }
        for hold in held { bytes += hold.code.utf8.count + (hold.detail?.utf8.count ?? 0) + 3 }
        return 6 * bytes + 512
    }

    private func writeUpToNotes(to output: inout TextWriter) {
        output.append(Pieces.app)
        write(app, to: &output)
        output.append(Pieces.client)
        output.append(string: client)
        output.append(Pieces.held)
        output.append(strings: held.map(\.text))
        output.append(Pieces.id)
        output.append(string: id)
        output.append(Pieces.notes)
    }

    private func writeNotes(to output: inout TextWriter) {
        output.append(strings: notes)
        output.append(Pieces.payload)
    }

    private func writeAfterPayload(to output: inout TextWriter) {
        output.append(Pieces.capture)
        output.append(string: source.capture)
        output.append(Pieces.index)
        output.append(String(source.index))
        output.append(Pieces.sourcePath)
        output.append(string: source.path)
        output.append(Pieces.store)
        output.append(source.store.description)
        output.append(Pieces.system)
        output.append(system.description)
        output.append(Pieces.target)
        write(target, to: &output)
        output.append(Pieces.time)
        if let time {
            output.append(UInt8(ascii: "\""))
            time.write(to: &output)
            output.append(UInt8(ascii: "\""))
        } else {
            output.append(Pieces.null)
        }
        output.append(Pieces.type)
        output.append(string: type)
        output.append(Pieces.end)
    }

    private func write(_ app: App?, to output: inout TextWriter) {
        guard let app else { return output.append(Pieces.null) }
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        write(Pieces.build, app.build, &isFirst, to: &output)
        write(Pieces.channel, app.channel, &isFirst, to: &output)
        write(Pieces.appID, app.id, &isFirst, to: &output)
        write(Pieces.name, app.name, &isFirst, to: &output)
        write(Pieces.version, app.version, &isFirst, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    private func write(_ key: ConstantText, _ value: String?, _ isFirst: inout Bool, to output: inout TextWriter) {
        guard let value else { return }
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        output.append(key)
        output.append(string: value)
    }

    private func write(_ target: Target?, to output: inout TextWriter) {
        guard let target else { return output.append(Pieces.null) }
        output.append(UInt8(ascii: "{"))
        if !target.headers.isEmpty { write(target.headerFields, to: &output) }
        if let method = target.method {
            output.append(Pieces.method)
            output.append(string: method)
            output.append(UInt8(ascii: ","))
        }
        output.append(Pieces.targetPath)
        output.append(string: target.path)
        output.append(UInt8(ascii: "}"))
    }

    private func write(_ headers: [HeaderField], to output: inout TextWriter) {
        output.append(Pieces.headers)
        for (position, field) in headers.enumerated() {
            output.append(UInt8(ascii: position == 0 ? "{" : ","))
            output.append(string: field.name)
            output.append(UInt8(ascii: ":"))
            output.append(string: field.value)
        }
        output.append(Pieces.headersEnd)
    }
}

/// The positions of the notes and the payload in the line of a record.
public struct RecordLineLayout: Sendable, Equatable {
    /// The offset of the opening bracket of the list of notes.
    public let notes: Int
    /// The range of the payload.
    public let payload: Range<Int>

    /// Returns the positions, increased by `distance` bytes.
    func moved(by distance: Int) -> RecordLineLayout {
        RecordLineLayout(
            notes: notes + distance, payload: payload.lowerBound + distance..<payload.upperBound + distance)
    }

    /// Returns whether a note in `line` begins with `code`.
    ///
    /// `code` must not contain characters that JSON escapes.
    public func hasNote(withCode code: String, in line: ArraySlice<UInt8>) -> Bool {
        // A quotation mark after a bracket or a comma begins a note, because a quotation mark in a note is escaped.
        let beginnings = ["[", ","].map { Array("\($0)\"\(code)".utf8) }
        return (notes..<payload.lowerBound).contains { place in
            beginnings.contains { line[place...].starts(with: $0) }
        }
    }

    /// Returns `line` with `note` inserted before its other notes, and the new range of the payload.
    public func line(_ line: ArraySlice<UInt8>, noting note: String) -> (line: [UInt8], payload: Range<Int>) {
        let place = notes + 1
        var noted = Array(line[..<place])
        noted.append(jsonString: note)
        if line[place] != UInt8(ascii: "]") { noted.append(UInt8(ascii: ",")) }
        let shift = noted.count - (place - line.startIndex)
        noted += line[place...]
        let start = payload.lowerBound - line.startIndex + shift
        return (noted, start..<start + payload.count)
    }
}

/// The constant parts of a line, which surround the values of the record.
private enum Pieces {
    static let app: ConstantText = "{\"app\":"
    static let client: ConstantText = ",\"client\":"
    static let held: ConstantText = ",\"held\":"
    static let id: ConstantText = ",\"id\":"
    static let notes: ConstantText = ",\"notes\":"
    static let payload: ConstantText = ",\"payload\":"
    static let capture: ConstantText = ",\"source\":{\"capture\":"
    static let index: ConstantText = ",\"index\":"
    static let sourcePath: ConstantText = ",\"path\":"
    static let store: ConstantText = ",\"store\":\""
    static let system: ConstantText = "\"},\"system\":\""
    static let target: ConstantText = "\",\"target\":"
    static let time: ConstantText = ",\"time\":"
    static let type: ConstantText = ",\"type\":"
    static let end: ConstantText = "}\n"
    static let headers: ConstantText = "\"headers\":"
    static let headersEnd: ConstantText = "},"
    static let method: ConstantText = "\"method\":"
    static let targetPath: ConstantText = "\"path\":"
    static let build: ConstantText = "\"build\":"
    static let channel: ConstantText = "\"channel\":"
    static let name: ConstantText = "\"name\":"
    static let version: ConstantText = "\"version\":"
    static let appID: ConstantText = "\"id\":"
    static let null: ConstantText = "null"
}

extension TextWriter {
    fileprivate mutating func append(string text: String?) {
        if let text { append(jsonString: text.utf8.span) } else { append(Pieces.null) }
    }

    fileprivate mutating func append(strings texts: [String]) {
        append(UInt8(ascii: "["))
        for (position, text) in texts.enumerated() {
            if position > 0 { append(UInt8(ascii: ",")) }
            append(string: text)
        }
        append(UInt8(ascii: "]"))
    }
}

extension CanonicalObject {
    /// Creates an object that identifies a record by its system, type, id, client and time.
    public init(naming record: borrowing Record) {
        self = [
            "client": record.client, "id": record.id, "system": record.system.description,
            "time": record.time?.description, "type": record.type,
        ]
    }
}

/// The properties of a record that are kept for statistics after the record is written.
public struct RecordSummary: Sendable, Equatable {
    /// The system of the record.
    public let system: SystemName
    /// The type of the upload in the terms of the system.
    public let type: String
    /// The client id, as stored, or `nil` if it is unknown.
    public let client: String?
    /// The time at which the device queued the upload, or `nil` if it is unknown.
    public let time: Timestamp?
    /// The bundle id or application id of the app, or `nil` if it is unknown.
    public let appID: String?
    /// The name of the app in upload paths, or `nil` if it is unknown.
    public let appName: String?
    /// The version of the app, or `nil` if it is unknown.
    public let appVersion: String?
    /// The codes of the record's holds, without duplicates, in alphabetical order.
    public let holds: [String]
    /// The id of the pseudonym key, or `nil` if the record has no pseudonyms.
    @OptionalCapturedText public private(set) var pseudonymKeyID: String?

    /// Creates the summary of a record.
    public init(_ record: borrowing Record) {
        system = record.system
        type = record.type
        client = record.client
        time = record.time
        appID = record.app?.id
        appName = record.app?.name
        appVersion = record.app?.version
        holds = record.held.isEmpty ? [] : Set(record.held.map { CapturedText($0.code) }).sortedStrings
        pseudonymKeyID = record.held.contains(.pseudonymized) ? record.pseudonymKeyID : nil
    }

    /// Whether the record can be uploaded as it is.
    public var isUploadable: Bool { holds.isEmpty }
}

/// The app of several records, with its properties in the record that takes precedence.
///
/// A record that states the version of the app takes precedence over records that do not. If all or none of the records
/// state the version, the record with the latest time takes precedence. Records without a time are the earliest. Of
/// records with equal times, the record that was added last takes precedence.
public struct LatestApp: Sendable, Equatable {
    /// The app with its latest properties.
    ///
    /// An id, name or version that the record with precedence does not contain is from another record.
    public private(set) var app: App
    /// The time of the record that takes precedence, or `nil` if that record has no time.
    public private(set) var time: Timestamp?

    /// Creates the app of a record with the given time.
    public init(_ app: App, at time: Timestamp?) {
        self.app = app
        self.time = time
    }

    /// Adds the app of other records.
    public mutating func add(_ other: LatestApp) {
        let hasVersion = app.version != nil
        let isLatest = (other.app.version != nil) == hasVersion ? !other.isEarlier(than: self) : !hasVersion
        if isLatest {
            app = other.app.filled(from: app)
            time = other.time
        } else {
            app = app.filled(from: other.app)
        }
    }

    /// Returns whether ``time`` is earlier than the time of `other`.
    ///
    /// A missing time is earlier than any time.
    public func isEarlier(than other: LatestApp) -> Bool {
        guard let otherTime = other.time else { return false }
        return time.map { $0 < otherTime } ?? true
    }
}
