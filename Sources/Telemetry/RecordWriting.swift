import JSONText

extension Record {
    /// Appends the record as canonical JSON, every key present, and a line feed.
    ///
    /// The keys are written in their canonical order by hand, into memory that is made room for once: this is the hot path
    /// of every conversion.
    /// - Returns: where in the output the payload stands.
    @discardableResult
    public func write(to output: inout [UInt8]) -> Range<Int> {
        let room = room
        output.append(addingCapacity: room) { writeUpToPayload(to: &$0) }
        let payloadStart = output.count
        output.append(contentsOf: payload)
        output.append(addingCapacity: room) { writeAfterPayload(to: &$0) }
        return payloadStart..<payloadStart + payload.count
    }

    /// More bytes than everything but the payload takes: a byte of a text can become six.
    private var room: Int {
        var bytes = id.utf8.count + type.utf8.count + source.capture.utf8.count + source.path.utf8.count
        bytes += (client?.utf8.count ?? 0) + (target?.path.utf8.count ?? 0) + (target?.method?.utf8.count ?? 0)
        if let app {
            bytes += (app.build?.utf8.count ?? 0) + (app.channel?.utf8.count ?? 0) + (app.id?.utf8.count ?? 0)
            bytes += (app.name?.utf8.count ?? 0) + (app.version?.utf8.count ?? 0)
        }
        for note in notes { bytes += note.utf8.count + 1 }
        for hold in held { bytes += hold.code.utf8.count + (hold.detail?.utf8.count ?? 0) + 3 }
        return 6 * bytes + 512
    }

    private func writeUpToPayload(to output: inout OutputSpan<UInt8>) {
        output.append("{\"app\":")
        write(app, to: &output)
        output.append(",\"client\":")
        output.append(string: client)
        output.append(",\"held\":")
        output.append(strings: held.map(\.text))
        output.append(",\"id\":")
        output.append(string: id)
        output.append(",\"notes\":")
        output.append(strings: notes)
        output.append(",\"payload\":")
    }

    private func writeAfterPayload(to output: inout OutputSpan<UInt8>) {
        output.append(",\"source\":{\"capture\":")
        output.append(string: source.capture)
        output.append(",\"index\":")
        output.append(String(source.index))
        output.append(",\"path\":")
        output.append(string: source.path)
        output.append(",\"store\":\"")
        output.append(source.store.rawValue)
        output.append("\"},\"system\":\"")
        output.append(system.rawValue)
        output.append("\",\"target\":")
        write(target, to: &output)
        output.append(",\"time\":")
        if let time {
            output.append("\"")
            time.write(to: &output)
            output.append("\"")
        } else {
            output.append("null")
        }
        output.append(",\"type\":")
        output.append(string: type)
        output.append("}\n")
    }

    private func write(_ app: App?, to output: inout OutputSpan<UInt8>) {
        guard let app else { return output.append("null") }
        output.append("{")
        var isFirst = true
        write("\"build\":", app.build, &isFirst, to: &output)
        write("\"channel\":", app.channel, &isFirst, to: &output)
        write("\"id\":", app.id, &isFirst, to: &output)
        write("\"name\":", app.name, &isFirst, to: &output)
        write("\"version\":", app.version, &isFirst, to: &output)
        output.append("}")
    }

    private func write(_ key: String, _ value: String?, _ isFirst: inout Bool, to output: inout OutputSpan<UInt8>) {
        guard let value else { return }
        if !isFirst { output.append(",") }
        isFirst = false
        output.append(key)
        output.append(string: value)
    }

    private func write(_ target: Target?, to output: inout OutputSpan<UInt8>) {
        guard let target else { return output.append("null") }
        output.append("{")
        if let method = target.method {
            output.append("\"method\":")
            output.append(string: method)
            output.append(",")
        }
        output.append("\"path\":")
        output.append(string: target.path)
        output.append("}")
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(_ text: String) {
        append(copying: text.utf8.span)
    }

    fileprivate mutating func append(string text: String?) {
        if let text { append(jsonString: text.utf8.span) } else { append("null") }
    }

    fileprivate mutating func append(strings texts: [String]) {
        append("[")
        for (position, text) in texts.enumerated() {
            if position > 0 { append(",") }
            append(string: text)
        }
        append("]")
    }
}
