import JSONText

extension Record {
    /// Appends the record as canonical JSON, every key present, and a line feed.
    ///
    /// The keys are written in their canonical order by hand: this is the hot path of every conversion.
    /// - Returns: where in the output the payload stands.
    @discardableResult
    public func write(to output: inout [UInt8]) -> Range<Int> {
        output.append("{\"app\":")
        write(app, to: &output)
        output.append(",\"client\":")
        output.append(string: client)
        output.append(",\"held\":")
        output.append(strings: held.map(\.text))
        output.append(",\"id\":")
        output.append(jsonString: id)
        output.append(",\"notes\":")
        output.append(strings: notes)
        output.append(",\"payload\":")
        let payloadStart = output.count
        output.append(contentsOf: payload)
        output.append(",\"source\":{\"capture\":")
        output.append(jsonString: source.capture)
        output.append(",\"index\":")
        output.append(String(source.index))
        output.append(",\"path\":")
        output.append(jsonString: source.path)
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
        output.append(jsonString: type)
        output.append("}\n")
        return payloadStart..<payloadStart + payload.count
    }

    private func write(_ app: App?, to output: inout [UInt8]) {
        guard let app else { return output.append("null") }
        var separator = "{"
        func member(_ key: String, _ value: String?) {
            guard let value else { return }
            output.append(separator)
            output.append(key)
            output.append(jsonString: value)
            separator = ","
        }
        member("\"build\":", app.build)
        member("\"channel\":", app.channel)
        member("\"id\":", app.id)
        member("\"name\":", app.name)
        member("\"version\":", app.version)
        output.append("}")
    }

    private func write(_ target: Target?, to output: inout [UInt8]) {
        guard let target else { return output.append("null") }
        output.append("{")
        if let method = target.method {
            output.append("\"method\":")
            output.append(jsonString: method)
            output.append(",")
        }
        output.append("\"path\":")
        output.append(jsonString: target.path)
        output.append("}")
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(string text: String?) {
        if let text { append(jsonString: text) } else { append("null") }
    }

    fileprivate mutating func append(strings texts: [String]) {
        append("[")
        for (position, text) in texts.enumerated() {
            if position > 0 { append(",") }
            append(jsonString: text)
        }
        append("]")
    }
}
