import Bytes
import JSONText
import PropertyList

/// A writer of the parameters of a stored package as a JSON object.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 4 and 7.6.
struct AdjustParameterWriter {
    /// Excerpts of the names of the first parameters that were omitted because they cannot be merged or represented as
    /// JSON, at most ``AdjustUpload/maximumNamedCount``.
    private(set) var nonStringNames: [String] = []
    /// The budget to which all written bytes are charged, including omitted parameters.
    private(set) var budget: WorkBudget
    /// The names of the parameters that were merged.
    private(set) var mergedNames: [String] = []
    /// The number of members that were written.
    private(set) var memberCount = 0
    /// Whether a credential inside the value of a parameter was omitted.
    private(set) var hasNestedCredential = false
    private let context: AdjustContext
    /// The maximum size of the object in bytes.
    private let byteLimit: Int
    private var text = TextBuffer()

    init(_ context: AdjustContext, byteLimit: Int, budget: WorkBudget) {
        self.context = context
        self.byteLimit = byteLimit
        self.budget = budget
        text.append(UInt8(ascii: "{"))
    }

    /// Closes the object, and returns it.
    mutating func finish() -> [UInt8] {
        text.append(UInt8(ascii: "}"))
        return text.bytes
    }

    /// Writes the parameters `pairs` of a package, and the parameters that the SDK adds at the end of a delayed start.
    ///
    /// The parameters are written in reverse order. The first of several parameters with the same name therefore
    /// becomes the last member, which applies when the object is read.
    mutating func write(
        _ pairs: KeyedPairs, ofPackage package: PropertyListNode, in archive: inout AdjustArchive
    ) throws(PropertyListError) {
        var (hasCallback, hasPartner) = (false, false)
        for position in (0..<pairs.count).reversed() {
            let start = text.count
            guard case .text(let name) = try archive.key(at: position, of: pairs) else {
                note(nonString: "a name")
                continue
            }
            let document = archive.archive.document
            hasCallback = hasCallback || document.text(name, equals: AdjustParameters.callbackParams.utf8)
            hasPartner = hasPartner || document.text(name, equals: AdjustParameters.partnerParams.utf8)
            writeSeparator()
            try append(string: name, of: document)
            text.append(UInt8(ascii: ":"))
            memberCount += 1
            guard try !writeIfRepresentable(archive.archive.element(at: position, of: pairs.values), in: &archive)
            else { continue }
            text.removeAll(from: start)
            if Self.isCredential(name, of: document) {
                // The value is not needed, because records do not contain credentials.
                writeSeparator()
                try append(string: name, of: document)
                text.append(":null")
            } else {
                memberCount -= 1
                note(nonString: document.excerpt(of: name, scalarCount: AdjustUpload.excerptLength))
            }
        }
        if !hasCallback {
            try merge("callbackParameters", of: package, context.callbackParameters, AdjustParameters.callbackParams)
        }
        if !hasPartner {
            try merge("partnerParameters", of: package, context.partnerParameters, AdjustParameters.partnerParams)
        }

        /// Writes the entries of `session`, overridden by the entries of the member `name`, as the parameter `key`.
        func merge(
            _ name: String, of package: PropertyListNode, _ session: [CapturedText: String?], _ key: JSONKey
        ) throws(PropertyListError) {
            var own: [CapturedText: String?] = [:]
            if case .dictionary(let pairs) = try archive.archive.object(archive.archive.key(name), of: package) {
                own = try archive.strings(of: pairs, charging: &budget)
            }
            guard !own.isEmpty || context.state?.isDelayed == true else { return }
            // All packages can share these parameters, so their number is checked before they are merged.
            guard budget.reserve(nodes: session.count + own.count) else {
                throw Self.budgetError(at: package, of: archive.archive.document)
            }
            let merged = session.merging(own) { _, own in own }
            guard !merged.isEmpty else { return }
            guard merged.values.allSatisfy({ $0 != nil }) else { return note(nonString: key.description) }
            let size = merged.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) }
            guard budget.reserve(bytes: size) else { throw Self.budgetError(at: package, of: archive.archive.document) }
            var object = CanonicalObject()
            // The names are sorted first, because appending members is faster than inserting them.
            for (name, value) in merged.sorted(by: { $0.key < $1.key }) {
                object.set(JSONKey(name.string), string: value)
            }
            writeSeparator()
            text.append(jsonString: key.utf8.span)
            text.append(UInt8(ascii: ":"))
            text.append(jsonString: object.bytes.span)
            memberCount += 1
            mergedNames.append(key.description)
        }
    }

    private static func isCredential(_ name: PropertyListNode, of document: PropertyListDocument) -> Bool {
        AdjustParameters.credentials.contains { document.text(name, equals: $0.utf8) }
    }

    private mutating func note(nonString name: String) {
        if nonStringNames.count < AdjustUpload.maximumNamedCount { nonStringNames.append(name) }
    }

    /// Appends a string, or throws an error if the object would become too large or the budget is exhausted.
    ///
    /// The size is checked first, because many values can share a large string.
    private mutating func append(
        string node: PropertyListNode, of document: PropertyListDocument
    ) throws(PropertyListError) {
        let size = document.payload(of: node).count
        guard text.count + size <= byteLimit else {
            throw PropertyListError(
                .budgetExceeded, at: document.offset(of: node), "parameters of more than \(byteLimit) bytes")
        }
        guard budget.reserve(bytes: size) else { throw Self.budgetError(at: node, of: document) }
        text.append(jsonText: node, of: document)
    }

    private static func budgetError(
        at node: PropertyListNode, of document: PropertyListDocument
    ) -> PropertyListError {
        PropertyListError(
            .budgetExceeded, at: document.offset(of: node), "larger parameters than a queue of this size has")
    }

    private mutating func writeSeparator() {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
    }

    /// Writes the value of a parameter, or returns `false` if JSON cannot represent it.
    ///
    /// The archive remembers such values.
    private mutating func writeIfRepresentable(
        _ stored: PropertyListNode, in archive: inout AdjustArchive
    ) throws(PropertyListError) -> Bool {
        let uid = archive.archive.document.uid(of: stored)
        if let hasCredential = archive.unrepresentableValues[uid] {
            hasNestedCredential = hasNestedCredential || hasCredential
            return false
        }
        let earlier = hasNestedCredential
        hasNestedCredential = false
        defer { hasNestedCredential = hasNestedCredential || earlier }
        if try write(archive.archive.value(of: stored), in: &archive) { return true }
        archive.unrepresentableValues[uid] = hasNestedCredential
        return false
    }

    /// Writes a value, or returns `false` if JSON cannot represent it.
    ///
    /// The depth is limited, because the expansion of the package was checked.
    private mutating func write(_ value: KeyedValue, in archive: inout AdjustArchive) throws(PropertyListError) -> Bool
    {
        switch value {
        case .text(let node): try append(string: node, of: archive.archive.document)
        case .none, .null: text.append("null")
        case .boolean(let value): text.append(value ? "true" : "false")
        case .integer(let value): text.append(copying: value.description.utf8.span)
        case .real(let value):
            guard value.isFinite else { return false }
            var number: [UInt8] = []
            number.append(jsonNumber: value)
            text.append(copying: number.span)
        case .array(let elements, .array):
            text.append(UInt8(ascii: "["))
            for position in 0..<elements.count {
                if position > 0 { text.append(UInt8(ascii: ",")) }
                let element = try archive.archive.value(of: archive.archive.element(at: position, of: elements))
                guard try write(element, in: &archive) else { return false }
            }
            text.append(UInt8(ascii: "]"))
        case .dictionary(let pairs):
            text.append(UInt8(ascii: "{"))
            let start = text.count
            for position in 0..<pairs.count {
                guard case .text(let key) = try archive.key(at: position, of: pairs) else { return false }
                guard !Self.isCredential(key, of: archive.archive.document) else {
                    hasNestedCredential = true
                    continue
                }
                if text.count > start { text.append(UInt8(ascii: ",")) }
                try append(string: key, of: archive.archive.document)
                text.append(UInt8(ascii: ":"))
                guard try write(archive.value(at: position, of: pairs), in: &archive) else { return false }
            }
            text.append(UInt8(ascii: "}"))
        case .array, .data, .date, .instance, .unrepresentable: return false
        }
        return true
    }
}
