import Bytes
import JSONText
import PropertyList
import Telemetry

/// A package that was read from a queue.
///
/// The queue stores a package as an instance. Its members include the path, the kind, the name of the SDK and the
/// parameters.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 3 and 7.6.
struct AdjustPackage {
    /// The number of failed attempts to send the package, or 0 if the SDK does not store the number.
    private(set) var attempts = 0
    var upload: AdjustUpload
    /// The parameters as a JSON object.
    ///
    /// If a name is repeated, the last member with this name applies.
    let parameters: [UInt8]
    /// The number of members in ``parameters``.
    let parameterCount: Int

    /// The maximum size of the parameters in bytes.
    private static let parameterByteLimit = 16 << 20

    private static let members = [
        "path", "kind", "suffix", "clientSdk", "parameters", "userAgent", "callbackParameters", "partnerParameters",
        "errorCount", "firstErrorCode", "lastErrorCode", "waitBeforeSend", "$class",
    ]

    /// Reads the instance `stored`, or throws an error if it is not a package or if a member is damaged.
    ///
    /// Charges the bytes that are written to `budget`, even if an error is thrown.
    init(
        _ stored: PropertyListNode, in archive: inout AdjustArchive, _ context: AdjustContext,
        budget: inout WorkBudget
    ) throws(PropertyListError) {
        let node = try archive.package(stored)
        archive.hasReplacedSurrogate = false
        let path = try archive.string("path", of: node)
        let kind = try archive.string("kind", of: node)
        let type = path.flatMap { AdjustType.byPath[$0] }
        upload = AdjustUpload(
            path: type == nil ? nil : path,
            type: type ?? kind.flatMap { AdjustType.isName($0) ? $0 : nil } ?? AdjustType.unknown,
            sdk: try archive.string("clientSdk", of: node), agent: try archive.string("userAgent", of: node))
        if type == nil {
            // A query could contain credentials.
            let stored = path.map { ": \(Target.excerpt(of: Array($0.utf8.prefix { $0 != UInt8(ascii: "?") }).span))" }
            upload.findings.note("A6 the path is missing or not documented\(stored ?? "")")
        } else if let path, !AdjustType.isKind(kind, ofPath: path) {
            upload.findings.note("A13 the kind is not the one of the path")
        }
        guard case .dictionary(let pairs) = try archive.archive.object(archive.archive.key("parameters"), of: node)
        else {
            let offset = archive.archive.document.offset(of: stored)
            throw PropertyListError(.wrongClass, at: offset, "a package without parameters")
        }
        var writer = AdjustParameterWriter(
            context, mayBeDelayed: upload.mayBeDelayed, byteLimit: Self.parameterByteLimit, budget: budget)
        defer { budget = writer.budget }
        try writer.write(pairs, ofPackage: node, in: &archive)
        parameters = writer.finish()
        parameterCount = writer.memberCount
        upload.nonStringNames = writer.nonStringNames
        if writer.hasNestedCredential {
            upload.needsSignature = true
            upload.findings.note("A7 a credential inside another value omitted")
        }
        if archive.hasReplacedSurrogate {
            upload.findings.note("A28 a lone surrogate replaced by U+FFFD")
        }
        if !writer.mergedNames.isEmpty {
            let names = writer.mergedNames.joined(separator: " and ")
            upload.findings.note("A11 \(names) merged, as at the end of a delayed start")
        }
        if case .integer(let count) = try archive.archive.object(archive.archive.key("errorCount"), of: node) {
            attempts = Int(clamping: count.signed ?? 0)
        }
        try checkMembers(of: node, in: archive)
    }

    /// Adds a note about unknown members, or throws an error if a known member is not stored as a reference.
    private mutating func checkMembers(of node: PropertyListNode, in archive: AdjustArchive) throws(PropertyListError) {
        let document = archive.archive.document
        let members = document.members(of: node)
        var (firstUnknown, unknownCount) = (PropertyListNode?.none, 0)
        for position in 0..<members.count {
            let (key, value) = (document.key(at: position, of: members), document.value(at: position, of: members))
            if !Self.members.contains(where: { document.text(key, equals: $0.utf8.span) }) {
                firstUnknown = firstUnknown ?? key
                unknownCount += 1
            } else if document.kind(of: value) != .uid {
                throw PropertyListError(.badValue, at: document.offset(of: value), "a member that is not a reference")
            }
        }
        guard let firstUnknown else { return }
        let name = document.excerpt(of: firstUnknown, scalarCount: AdjustUpload.excerptLength)
        upload.findings.note("A18 \(unknownCount) unknown members such as \(name) ignored")
    }
}

/// A writer of the parameters of a stored package as a JSON object.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 4 and 7.6.
private struct AdjustParameterWriter {
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
    /// Whether the package may have been queued during a delayed start, so that parameters are merged.
    private let mayBeDelayed: Bool
    /// The maximum size of the object in bytes.
    private let byteLimit: Int
    private var text = TextBuffer()

    init(_ context: AdjustContext, mayBeDelayed: Bool, byteLimit: Int, budget: WorkBudget) {
        self.context = context
        self.mayBeDelayed = mayBeDelayed
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
            try append(string: name, of: &archive)
            text.append(UInt8(ascii: ":"))
            memberCount += 1
            guard try !writeIfRepresentable(archive.archive.element(at: position, of: pairs.values), in: &archive)
            else { continue }
            text.removeAll(from: start)
            if Self.isCredential(name, of: document) {
                // The value is not needed, because records do not contain credentials.
                writeSeparator()
                try append(string: name, of: &archive)
                text.append(":null")
            } else {
                memberCount -= 1
                note(nonString: document.excerpt(of: name, scalarCount: AdjustUpload.excerptLength))
            }
        }
        guard mayBeDelayed else { return }
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
                object.set(JSONKey(name.string), value)
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
        string node: PropertyListNode, of archive: inout AdjustArchive
    ) throws(PropertyListError) {
        let document = archive.archive.document
        let size = document.payload(of: node).count
        guard text.count + size <= byteLimit else {
            throw PropertyListError(
                .budgetExceeded, at: document.offset(of: node), "parameters of more than \(byteLimit) bytes")
        }
        guard budget.reserve(bytes: size) else { throw Self.budgetError(at: node, of: document) }
        text.append(jsonText: node, of: document)
        archive.noteSurrogates(in: node)
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
        case .text(let node): try append(string: node, of: &archive)
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
                try append(string: key, of: &archive)
                text.append(UInt8(ascii: ":"))
                guard try write(archive.value(at: position, of: pairs), in: &archive) else { return false }
            }
            text.append(UInt8(ascii: "}"))
        case .array, .data, .date, .instance, .unrepresentable: return false
        }
        return true
    }
}
