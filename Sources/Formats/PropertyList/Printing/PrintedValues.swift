import Bytes
import JSONText

/// How one value is written: as a whole if it is a scalar, its opening bracket otherwise.
extension PropertyListPrinter {
    /// Writes a value as stored.
    mutating func write(_ stored: PropertyListNode, of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        guard sources[source].archive != nil, document.kind(of: stored) == .uid else {
            return writePlain(stored, of: source, to: &output)
        }
        do throws(PropertyListError) {
            guard let object = try sources[source].archive?.object(stored) else { return output += "null".utf8 }
            guard mayWrite(object, of: source) else {
                return writeReference(Int(document.uid(of: stored)), to: &output)
            }
            try writeObject(object, of: source, to: &output)
        } catch {
            write(error, to: &output)
        }
    }

    /// Writes a value of the container.
    private mutating func writePlain(_ node: PropertyListNode, of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        guard mayWrite(node, of: source) else { return writeReference(Int(node.number), to: &output) }
        switch document.kind(of: node) {
        case .array:
            open(PrintedFrame(.elements(document.elements(of: node)), source: source, object: node), to: &output)
        case .dictionary:
            openMembers(of: node, source: source, className: nil, to: &output)
        case .null, .boolean, .integer, .real, .date, .data, .text, .uid:
            guard let foreign = output.append(jsonScalar: node, of: document) else { return }
            write(foreign, of: source, to: &output)
        }
    }

    /// Writes an element of `$objects`.
    private mutating func writeObject(
        _ object: PropertyListNode, of source: Int, to output: inout [UInt8]
    ) throws(PropertyListError) {
        switch try sources[source].archive?.value(ofObject: object) {
        case nil, .some(.none), .null: output += "null".utf8
        case .boolean(let value): output.append(json: value)
        case .integer(let value): output += "\(value)".utf8
        case .real(let value):
            if let foreign = output.append(jsonReal: value) { write(foreign, of: source, to: &output) }
        case .text(let node): output.append(jsonText: node, of: sources[source].document)
        case .data(let node): write(.data(node), of: source, to: &output)
        case .date(let seconds): write(.date(seconds), of: source, to: &output)
        case .array(let elements, _):
            open(PrintedFrame(.collection(elements), source: source, object: object), to: &output)
        case .dictionary(let pairs):
            openPairs(pairs, of: object, source: source, to: &output)
        case .instance(let node, let found):
            if let text = try sources[source].archive?.foundationText(of: node, found) {
                output += text
            } else {
                openMembers(of: node, source: source, className: found.name, to: &output)
            }
        case .unrepresentable(let node):
            writePlain(node, of: source, to: &output)
        }
    }

    // MARK: What JSON has no form for

    private mutating func write(_ foreign: ForeignValue, of source: Int, to output: inout [UInt8]) {
        switch foreign {
        case .date(let seconds): write(date: seconds, to: &output)
        case .data(let node): writeData(node, of: source, to: &output)
        case .uid(let uid): write("CF$UID", "\(uid)", to: &output)
        case .real(let value): write("$real", "\"\(value)\"", to: &output)
        }
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
        let nested = nestedSource(in: node, of: document)
        let holds = nested.map { $0.archive == nil ? "property list" : "keyed archive" }
        if let nested, mayOpen(nested, in: node, of: document) {
            sources.append(nested)
            return open(PrintedFrame(.nested, source: sources.count - 1, object: nil), to: &output)
        }
        output += "{\"$data\":\(space)\"".utf8
        output.append(base64: document.payload(of: node))
        output.append(UInt8(ascii: "\""))
        if let holds { output += ",\(space)\"$holds\":\(space)\"\(holds)\"".utf8 }
        output.append(UInt8(ascii: "}"))
    }

    /// Whether a property list in data is to be written, and takes as much from what may come of all such.
    private mutating func mayOpen(
        _ nested: PrintedSource, in node: PropertyListNode, of document: PropertyListDocument
    ) -> Bool {
        guard options.opensNested else { return false }
        guard sources.count <= Self.nestingLimit, frames.count < Self.depthLimit else {
            warn(.tooDeep, node, document, "property lists in too many levels of data")
            return false
        }
        guard nested.document.objectCount <= nestedAllowance else {
            warn(.budgetExceeded, node, document, "property lists in data expand to too much")
            return false
        }
        nestedAllowance -= nested.document.objectCount
        return true
    }

    /// The property list that data is, if it is one.
    private func nestedSource(in node: PropertyListNode, of document: PropertyListDocument) -> PrintedSource? {
        let payload = document.payload(of: node)
        guard payload.count >= 8, payload.begins(with: "bplist00", at: 0) || payload.begins(with: "<?xml", at: 0),
            let nested = try? PropertyListDocument(payload.copied(), limits: limits)
        else { return nil }
        return try? PrintedSource(nested, isRaw: options.isRaw)
    }

    private func write(_ key: String, _ value: String, to output: inout [UInt8]) {
        output += "{\"\(key)\":\(space)\(value)}".utf8
    }

    private func writeReference(_ number: Int, to output: inout [UInt8]) {
        write("$ref", "\(number)", to: &output)
    }

    /// Writes a fault in place of the value that has it.
    mutating func write(_ error: PropertyListError, to output: inout [UInt8]) {
        warn(error, isLoss: true)
        var text: [UInt8] = []
        text.append(jsonString: "\(error)")
        write("$error", String(decoding: text, as: UTF8.self), to: &output)
    }

    // MARK: What is shared

    /// Whether an object may be written here: it is not within itself, not too deep, and either new or of a size that
    /// can be written once more.
    private mutating func mayWrite(_ object: PropertyListNode, of source: Int) -> Bool {
        let state = sources[source].states[Int(object.number)]
        let document = sources[source].document
        if state == .open {
            warn(.graphCycle, object, document, "a value that contains itself; its place shows \"$ref\"")
            return false
        }
        let isContainer = document.kind(of: object) == .array || document.kind(of: object) == .dictionary
        if isContainer, frames.count >= Self.depthLimit {
            let words = "more than \(Self.depthLimit) levels; the rest is left out"
            warn(.tooDeep, object, document, words, isLoss: true)
            return false
        }
        guard state == .written else {
            sources[source].states[Int(object.number)] = .written
            return true
        }
        let cost = isContainer ? 1 + childCount(of: object, document) : document.payload(of: object).count / 32
        guard spend(cost, of: source) else {
            warn(.budgetExceeded, object, document, "shared too often; further places show \"$ref\"")
            return false
        }
        return true
    }

    /// Takes the cost of writing something again; false if there is not as much left.
    private mutating func spend(_ cost: Int, of source: Int) -> Bool {
        guard cost <= (source == 0 ? allowance : nestedAllowance) else { return false }
        if source == 0 { allowance -= cost } else { nestedAllowance -= cost }
        return true
    }

    /// How many references a container has, with those of the arrays that an instance has for members.
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
        warn(PropertyListError(code, at: document.offset(of: node), reason), isLoss: isLoss)
    }
}
