import Bytes
import JSONText

/// Methods that write scalars and open arrays and objects.
extension PropertyListPrinter {
    /// Writes a stored value, which may be a UID.
    mutating func write(_ stored: PropertyListNode, of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        guard sources[source].archive != nil, document.kind(of: stored) == .uid else {
            return writeUnarchived(stored, of: source, to: &output)
        }
        do throws(PropertyListError) {
            guard let object = try sources[source].archive?.object(stored) else { return output += "null".utf8 }
            guard canWrite(object, of: source) else {
                return writeReference(Int(document.uid(of: stored)), to: &output)
            }
            try writeObject(object, of: source, to: &output)
        } catch {
            write(error, to: &output)
        }
    }

    /// Writes a value without following the references of a keyed archive.
    private mutating func writeUnarchived(_ node: PropertyListNode, of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        if let error = document.fault(of: node) { return write(error, to: &output) }
        guard canWrite(node, of: source) else { return writeReference(Int(node.number), to: &output) }
        switch document.kind(of: node) {
        case .array:
            open(PrintedFrame(.elements(document.elements(of: node)), source: source, object: node), to: &output)
        case .dictionary:
            openMembers(of: node, source: source, className: nil, to: &output)
        case .real:
            write(document.real(of: node), to: &output)
        case .text: write(text: node, of: source, to: &output)
        case .null, .boolean, .integer, .date, .data, .uid:
            guard let nonJSONValue = output.append(jsonScalar: node, of: document) else { return }
            write(nonJSONValue, of: source, to: &output)
        }
    }

    private mutating func writeObject(
        _ object: PropertyListNode, of source: Int, to output: inout [UInt8]
    ) throws(PropertyListError) {
        if let error = sources[source].document.fault(of: object) { throw error }
        switch try sources[source].archive?.value(ofObject: object) {
        case nil, .some(.none), .null: output += "null".utf8
        case .boolean(let value): output.append(json: value)
        case .integer(let value): output += "\(value)".utf8
        case .real(let value): write(value, to: &output)
        case .text(let node): write(text: node, of: source, to: &output)
        case .data(let node): write(.data(node), of: source, to: &output)
        case .date(let seconds): write(.date(seconds), of: source, to: &output)
        case .array(let elements, _):
            open(PrintedFrame(.collection(elements), source: source, object: object), to: &output)
        case .dictionary(let pairs):
            openPairs(pairs, of: object, source: source, to: &output)
        case .instance(let node, let found):
            let convertedCount = sources[source].archive?.work.byteCount ?? 0
            let text = try sources[source].archive?.foundationJSON(of: node, found)
            budget.charge(bytes: (sources[source].archive?.work.byteCount ?? 0) - convertedCount)
            if let text {
                output += text
            } else {
                openMembers(of: node, source: source, className: found.name, to: &output)
            }
        case .unrepresentable(let node):
            writeUnarchived(node, of: source, to: &output)
        }
    }

    // MARK: Values that JSON cannot represent

    private mutating func write(_ nonJSONValue: NonJSONValue, of source: Int, to output: inout [UInt8]) {
        switch nonJSONValue {
        case .date(let seconds): write(date: seconds, to: &output)
        case .data(let node): writeData(node, of: source, to: &output)
        case .uid(let uid): write("CF$UID", "\(uid)", to: &output)
        case .real(let value): write(value, to: &output)
        }
    }

    private func write(_ real: Double, to output: inout [UInt8]) {
        if real.isFinite { output.append(printedReal: real) } else { write("$real", "\"\(real)\"", to: &output) }
    }

    private func write(date seconds: Double, to output: inout [UInt8]) {
        if let text = PropertyListDate.text(secondsSince2001: seconds) {
            output.append(jsonString: text)
        } else {
            write("$secondsSince2001", seconds.isFinite ? "\(seconds)" : "\"\(seconds)\"", to: &output)
        }
    }

    private mutating func writeData(_ node: PropertyListNode, of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        guard canWrite(text: node, of: document) else { return writeCutOff(to: &output) }
        let nested = nestedSource(in: node, of: document)
        let nestedFormat = nested.map { $0.archive == nil ? "property list" : "keyed archive" }
        if let nested, reserveNested(nested, in: node, of: document) {
            sources.append(nested)
            return open(PrintedFrame(.nested, source: sources.count - 1, object: nil), to: &output)
        }
        output += "{\"$data\":\(space)\"".utf8
        output.append(base64: document.payload(of: node))
        output.append(UInt8(ascii: "\""))
        if let nestedFormat { output += ",\(space)\"$holds\":\(space)\"\(nestedFormat)\"".utf8 }
        output.append(UInt8(ascii: "}"))
    }

    /// Returns whether a property list that is stored in data may be written.
    ///
    /// If so, charges its values to `nestedBudget`.
    private mutating func reserveNested(
        _ nested: PrintedSource, in node: PropertyListNode, of document: PropertyListDocument
    ) -> Bool {
        guard options.opensNestedLists else { return false }
        guard sources.count <= Self.nestingDepthLimit, frames.count < Self.depthLimit else {
            warn(.tooDeep, node, document, "property lists that are stored in data are nested too deep")
            return false
        }
        guard nestedBudget.reserve(nodes: nested.document.objectCount) else {
            warn(.budgetExceeded, node, document, "the property lists that are stored in data contain too many values")
            return false
        }
        return true
    }

    /// Returns the property list that is stored in data, or `nil` if the data is not a property list.
    private func nestedSource(in node: PropertyListNode, of document: PropertyListDocument) -> PrintedSource? {
        let payload = document.payload(of: node)
        guard payload.count >= 8, payload.begins(with: "bplist00", at: 0) || payload.begins(with: "<?xml", at: 0),
            let nested = try? PropertyListDocument(payload.copied(), limits: limits)
        else { return nil }
        return try? PrintedSource(nested, isRaw: options.isRaw)
    }

    func write(_ key: String, _ value: String, to output: inout [UInt8]) {
        output += "{\"\(key)\":\(space)\(value)}".utf8
    }

    private func writeReference(_ number: Int, to output: inout [UInt8]) {
        write("$ref", "\(number)", to: &output)
    }

    /// Writes an error in place of the value that caused it, and reports the error as a warning.
    mutating func write(_ error: PropertyListError, to output: inout [UInt8]) {
        warn(error, isLoss: true)
        var text: [UInt8] = []
        text.append(jsonString: "\(error)")
        write("$error", String(decoding: text, as: UTF8.self), to: &output)
    }

    // MARK: Shared values

    /// Returns whether an object may be written at the current position, and marks it as written if so.
    ///
    /// An object must not be written inside itself or nested too deep. An object that was written before may be written
    /// again as long as the budget accepts its cost. An object that the budget refused is not examined again.
    private mutating func canWrite(_ object: PropertyListNode, of source: Int) -> Bool {
        let state = sources[source][state: object]
        let document = sources[source].document
        if state == .open {
            warn(.graphCycle, object, document, "a value that contains itself is shown as \"$ref\"")
            return false
        }
        let isContainer = document.kind(of: object) == .array || document.kind(of: object) == .dictionary
        if isContainer, frames.count >= Self.depthLimit {
            let words = "more than \(Self.depthLimit) levels; deeper values are omitted"
            warn(.tooDeep, object, document, words, isLoss: true)
            return false
        }
        if state == .refused { return false }
        guard state == .written else {
            sources[source][state: object] = .written
            return true
        }
        let cost = isContainer ? 1 + childCount(of: object, document) : document.payload(of: object).count / 32
        guard source == 0 ? budget.reserve(nodes: cost) : nestedBudget.reserve(nodes: cost) else {
            sources[source][state: object] = .refused
            warn(.budgetExceeded, object, document, "shared too often; later occurrences are shown as \"$ref\"")
            return false
        }
        return true
    }

    /// Returns the number of references in a container, including the references in the inline arrays of an instance.
    private func childCount(of node: PropertyListNode, _ document: PropertyListDocument) -> Int {
        let members = document.members(of: node)
        var count = document.elements(of: node).count + members.count
        for position in 0..<members.count {
            count += document.elements(of: document.value(at: position, of: members)).count
        }
        return count
    }

    private mutating func warn(
        _ code: PropertyListError.Code, _ node: PropertyListNode, _ document: PropertyListDocument, _ reason: String,
        isLoss: Bool = false
    ) {
        warn(document.error(code, at: node, reason), isLoss: isLoss)
    }
}

extension [UInt8] {
    /// Appends a finite real with a decimal point or an exponent, so that it differs from an integer.
    mutating func append(printedReal real: Double) {
        if real == 0, real.sign == .minus { append(UInt8(ascii: "-")) }
        let start = count
        append(jsonNumber: real)
        let isReal = self[start...].contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") }
        if !isReal { self += ".0".utf8 }
    }
}
