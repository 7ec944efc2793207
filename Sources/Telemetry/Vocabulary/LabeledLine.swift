import JSONText

extension EventLabeler {
    /// Returns the line of a record with an additional member `labels`.
    ///
    /// The member is an array with the meaning of each event, or `null` for an unknown event.
    public mutating func labeled(
        line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, system: SystemName, type: String
    ) -> [UInt8] {
        let labels = labels(of: Array(payload), system: system, type: type)
        let line = Array(line)
        // In canonical order, `labels` directly precedes `notes`.
        guard let document = try? JSONDocument(line, policy: JSONReadingPolicy(depthLimit: 513, valueLimit: .fixed)),
            let notes = document.value(of: RecordKeys.notes, in: document.root),
            let start = document.sourceRange(of: notes)?.lowerBound
        else { return line }
        let place = start - "\"notes\":".utf8.count
        var labeled = Array(line[..<place])
        labeled += "\"labels\":[".utf8
        for (index, label) in labels.enumerated() {
            if index > 0 { labeled.append(UInt8(ascii: ",")) }
            if let label { labeled.append(jsonString: label) } else { labeled += "null".utf8 }
        }
        labeled += "],".utf8
        labeled += line[place...]
        return labeled
    }
}
