import JSONText

/// Methods that open, write and close arrays and objects.
extension PropertyListPrinter {
    /// Opens an array or object, which ``writeNext(inFrame:to:)`` closes after its contents.
    mutating func open(_ frame: PrintedFrame, to output: inout [UInt8]) {
        if let object = frame.object { sources[frame.source][state: object] = .open }
        if case .entries = frame.contents { output += "{\"$entries\":\(space)".utf8 }
        output.append(frame.isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
        frames.append(frame)
        if !maskedKeys.isEmpty { frames[frames.count - 1].checksKeys = true }
        guard let name = frame.className else { return }
        frames[frames.count - 1].hasContents = true
        writeLine(to: &output)
        output += "\"$class\":\(space)".utf8
        write(text: name, of: frame.source, to: &output)
    }

    /// Writes the next element or member of the innermost container, or closes the container if there are no more.
    mutating func writeNext(inFrame index: Int, to output: inout [UInt8]) {
        guard frames[index].position < frames[index].count else { return close(to: &output) }
        guard !budget.isExhausted else { return cutOff(index, to: &output) }
        let frame = frames[index]
        let position = frame.order?[frame.position] ?? frame.position
        frames[index].position += 1
        let document = sources[frame.source].document
        switch frame.contents {
        case .elements(let elements):
            begin(index, to: &output)
            write(document.element(at: position, of: elements), of: frame.source, to: &output)
        case .members(let members):
            let key = document.key(at: position, of: members)
            if frame.className != nil, document.text(key, equals: "$class".utf8.span) { return }
            guard begin(index, key: key, to: &output) else { return }
            if frame.checksKeys, isMasked(key, of: document) { return writeMask(to: &output) }
            write(document.value(at: position, of: members), of: frame.source, to: &output)
        case .collection(let elements):
            begin(index, to: &output)
            writeElement(position, of: elements, in: frame.source, to: &output)
        case .pairs(let pairs):
            guard case .text(let key)? = try? keyValue(position, of: pairs, in: frame.source) else { return }
            guard begin(index, key: key, to: &output) else { return }
            if frame.checksKeys, isMasked(key, of: document) { return writeMask(to: &output) }
            writeElement(position, of: pairs.values, in: frame.source, to: &output)
        case .entries(let pairs):
            begin(index, to: &output)
            if frame.checksKeys, let key = maskedKey(position, of: pairs, in: frame.source) {
                return open(PrintedFrame(.maskedEntry(key: key), source: frame.source, object: nil), to: &output)
            }
            writeEntry(position, of: pairs, in: frame.source, to: &output)
        case .entry(let key, let value):
            begin(index, to: &output)
            write(position == 0 ? key : value, of: frame.source, to: &output)
        case .maskedEntry(let key):
            begin(index, to: &output)
            if position > 0 { return writeMask(to: &output) }
            write(key, of: frame.source, to: &output)
        case .nested:
            begin(index, to: &output)
            output += "\"$value\":\(space)".utf8
            writeRoot(of: frame.source, to: &output)
        }
    }

    private mutating func writeElement(
        _ position: Int, of elements: KeyedElements, in source: Int, to output: inout [UInt8]
    ) {
        do throws(PropertyListError) {
            guard let element = try sources[source].archive?.element(at: position, of: elements) else { return }
            write(element, of: source, to: &output)
        } catch {
            write(error, to: &output)
        }
    }

    private mutating func writeEntry(
        _ position: Int, of pairs: KeyedPairs, in source: Int, to output: inout [UInt8]
    ) {
        do throws(PropertyListError) {
            guard let key = try sources[source].archive?.element(at: position, of: pairs.keys),
                let value = try sources[source].archive?.element(at: position, of: pairs.values)
            else { return }
            open(PrintedFrame(.entry(key: key, value: value), source: source, object: nil), to: &output)
        } catch {
            write(error, to: &output)
        }
    }

    /// Returns the key at a position as a ``KeyedValue``.
    private mutating func keyValue(
        _ position: Int, of pairs: KeyedPairs, in source: Int
    ) throws(PropertyListError) -> KeyedValue? {
        guard let key = try sources[source].archive?.element(at: position, of: pairs.keys) else { return nil }
        return try sources[source].archive?.value(of: key)
    }

    // MARK: Masked values

    /// Returns the stored key at a position, or `nil` if its value is not masked.
    private mutating func maskedKey(_ position: Int, of pairs: KeyedPairs, in source: Int) -> PropertyListNode? {
        guard let key = try? sources[source].archive?.element(at: position, of: pairs.keys),
            case .text(let text)? = try? sources[source].archive?.value(of: key),
            isMasked(text, of: sources[source].document)
        else { return nil }
        return key
    }

    private func isMasked(_ key: PropertyListNode, of document: PropertyListDocument) -> Bool {
        maskedKeys.contains { document.text(key, equals: $0) }
    }

    private mutating func writeMask(to output: inout [UInt8]) {
        maskedCount += 1
        write("$masked", "true", to: &output)
    }

    private mutating func close(to output: inout [UInt8]) {
        guard let frame = frames.popLast() else { return }
        if frame.hasContents { writeLine(to: &output) }
        output.append(frame.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        if case .entries = frame.contents { output.append(UInt8(ascii: "}")) }
        if case .nested = frame.contents { sources.removeLast() }
        if let object = frame.object { sources[frame.source][state: object] = .written }
    }

    // MARK: Budget

    /// Returns whether a string or data of a document can be written without exceeding the budget.
    ///
    /// If not, the budget is exhausted.
    mutating func canWrite(text node: PropertyListNode, of document: PropertyListDocument) -> Bool {
        let size = document.payload(of: node).count
        if size <= budget.remainingByteCount { return true }
        budget.charge(bytes: size)
        return false
    }

    /// Writes a string of a property list, or an error if that would exceed the budget.
    mutating func write(text node: PropertyListNode, of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        guard canWrite(text: node, of: document) else { return writeCutOff(to: &output) }
        output.append(jsonText: node, of: document)
    }

    /// Writes the error that reports that the rest of the output is omitted.
    mutating func writeCutOff(to output: inout [UInt8]) {
        isCutOff = true
        write(cutOffError, to: &output)
    }

    private var cutOffError: PropertyListError {
        PropertyListError(
            .budgetExceeded, at: 0, "the output ends after \(budget.byteLimit >> 20) MiB, because it repeats too much")
    }

    /// Closes the innermost container without its remaining contents.
    ///
    /// The first such container contains an error. The containers around it are closed likewise.
    private mutating func cutOff(_ index: Int, to output: inout [UInt8]) {
        if !isCutOff {
            begin(index, to: &output)
            if frames[index].isObject { output += "\"$omitted\":\(space)".utf8 }
            writeCutOff(to: &output)
        }
        close(to: &output)
    }

    // MARK: Between values

    /// The white space to write after a colon or a comma.
    var space: String { options.isCompact ? "" : " " }

    private mutating func begin(_ index: Int, to output: inout [UInt8]) {
        if frames[index].hasContents { output.append(UInt8(ascii: ",")) }
        frames[index].hasContents = true
        writeLine(to: &output)
    }

    /// Begins a member, or returns `false` if writing its key would exceed the budget.
    private mutating func begin(_ index: Int, key: PropertyListNode, to output: inout [UInt8]) -> Bool {
        let document = sources[frames[index].source].document
        // Many dictionaries can share a large key.
        guard canWrite(text: key, of: document) else { return false }
        begin(index, to: &output)
        output.append(jsonText: key, of: document)
        output.append(UInt8(ascii: ":"))
        if !options.isCompact { output.append(UInt8(ascii: " ")) }
        return true
    }

    private func writeLine(to output: inout [UInt8]) {
        guard !options.isCompact else { return }
        output.append(UInt8(ascii: "\n"))
        for _ in 0..<2 * frames.count { output.append(UInt8(ascii: " ")) }
    }
}

/// Methods that select and order the members of objects.
extension PropertyListPrinter {
    mutating func openMembers(
        of node: PropertyListNode, source: Int, className: PropertyListNode?, to output: inout [UInt8]
    ) {
        let document = sources[source].document
        let members = document.members(of: node)
        var frame = PrintedFrame(.members(members), source: source, object: node)
        frame.className = className
        if options.sortsKeys {
            let keys = (0..<members.count).map { (position: $0, key: document.key(at: $0, of: members)) }
            frame.order = document.sortedByUTF8(keys).map(\.position)
        }
        open(frame, to: &output)
    }

    /// Opens a dictionary of an archive.
    ///
    /// If all keys are strings, the dictionary is written as an object without repeated keys. If not, it is written as
    /// a list of entries.
    mutating func openPairs(
        _ pairs: KeyedPairs, of object: PropertyListNode, source: Int, to output: inout [UInt8]
    ) {
        var keys: [(position: Int, key: PropertyListNode)] = []
        keys.reserveCapacity(pairs.count)
        for position in 0..<pairs.count {
            guard case .text(let key)? = try? keyValue(position, of: pairs, in: source) else {
                return open(PrintedFrame(.entries(pairs), source: source, object: object), to: &output)
            }
            keys.append((position, key))
        }
        let document = sources[source].document
        let repeated = repeatedKeys(keys, document)
        var frame = PrintedFrame(.pairs(pairs), source: source, object: object)
        if !repeated.isEmpty {
            keys.removeAll { repeated.contains($0.position) }
            frame.order = keys.map(\.position)
            let repeats = RepeatedKeys(count: repeated.count, offset: document.offset(of: object))
            warn(PropertyListError(repeats), isLoss: true)
        }
        if options.sortsKeys { frame.order = document.sortedByUTF8(keys).map(\.position) }
        open(frame, to: &output)
    }

    /// Returns the positions of the keys that equal an earlier key.
    private func repeatedKeys(
        _ keys: [(position: Int, key: PropertyListNode)], _ document: PropertyListDocument
    ) -> Set<Int> {
        var marked = keys.map { (fingerprint: document.fingerprint(of: $0.key), position: $0.position, key: $0.key) }
        marked.sort { ($0.fingerprint, $0.position) < ($1.fingerprint, $1.position) }
        var repeated: Set<Int> = []
        for later in marked.indices.dropFirst() {
            // Different keys rarely have the same fingerprint, so comparing a few predecessors is enough.
            for earlier in max(0, later - Self.maxComparedKeys)..<later
            where marked[earlier].fingerprint == marked[later].fingerprint
                && document.text(marked[earlier].key, equals: marked[later].key)
            {
                repeated.insert(marked[later].position)
            }
        }
        return repeated
    }

    private static let maxComparedKeys = 8
}
