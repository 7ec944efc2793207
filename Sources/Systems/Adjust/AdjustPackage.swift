import Bytes
import JSONText
import PropertyList
import Telemetry

/// The parameters of a package as a JSON object that is being written.
///
/// If a name is repeated, the last member with this name applies.
struct AdjustParameterText {
    fileprivate(set) var text = TextBuffer([UInt8(ascii: "{")])
    /// The number of members of the object.
    fileprivate(set) var memberCount = 0
    /// Excerpts of the names of the first parameters that were omitted because they cannot be merged or represented as
    /// JSON, at most ``AdjustUpload/maximumNamedCount``.
    fileprivate var nonStringNames: [String] = []
    /// The names of the parameters that were merged.
    fileprivate var mergedNames: [String] = []
    /// The number of credentials that were omitted inside the values of parameters.
    fileprivate var nestedCredentialCount = 0
}

/// The methods that read a package, which the queue stores as an instance.
///
/// Its members include the path, the kind, the name of the SDK and the parameters.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 3 and 7.6.
extension AdjustQueueReader {
    /// The maximum size of the parameters in bytes.
    private static let parameterByteLimit = 16 << 20

    private static let members = [
        "path", "kind", "suffix", "clientSdk", "parameters", "userAgent", "callbackParameters", "partnerParameters",
        "errorCount", "firstErrorCode", "lastErrorCode", "waitBeforeSend", "$class",
    ]

    /// Reads the instance `stored` and its ``parameters``, or throws an error if it is not a package or if a member is
    /// damaged.
    ///
    /// The result does not contain the parameters.
    mutating func readPackage(_ stored: PropertyListNode) throws(PropertyListError) -> AdjustUpload {
        let node = try archive.package(stored)
        archive.hasReplacedSurrogate = false
        let path = try archive.string("path", of: node)
        let kind = try archive.string("kind", of: node)
        let type = path.flatMap { AdjustType.byPath[$0] }
        var upload = AdjustUpload(
            path: type == nil ? nil : path,
            type: type ?? kind.flatMap { AdjustType.isName($0) ? $0 : nil } ?? "unknown",
            sdk: try archive.string("clientSdk", of: node), agent: try archive.string("userAgent", of: node))
        if type == nil {
            // A query could contain credentials.
            let stored = path.map { ": \(Target.excerpt(of: Array($0.utf8.prefix { $0 != UInt8(ascii: "?") }).span))" }
            upload.findings.note("A6 the path is missing or not documented\(stored ?? "")")
        } else if let path, !AdjustType.isKind(kind, ofPath: path) {
            upload.findings.note("A13 the kind is not the one of the path")
        }
        guard case .dictionary(let pairs) = try archive.graph.object(archive.graph.key("parameters"), of: node) else {
            throw archive.document.error(.wrongClass, at: stored, "a package without parameters")
        }
        try write(pairs, ofPackage: node, mayBeDelayed: upload.mayBeDelayed)
        upload.nonStringNames = parameters.nonStringNames
        if parameters.nestedCredentialCount > 0 {
            upload.needsSignature = true
            upload.findings.note("A7 a credential inside another value omitted")
        }
        if archive.hasReplacedSurrogate { upload.findings.note("A28 a lone surrogate replaced by U+FFFD") }
        let merged = parameters.mergedNames.joined(separator: " and ")
        if !merged.isEmpty { upload.findings.note("A11 \(merged) merged, as at the end of a delayed start") }
        if case .integer(let count) = try archive.graph.object(archive.graph.key("errorCount"), of: node) {
            upload.attempts = Int(clamping: count.signed ?? 0)
        }
        try checkMembers(of: node, &upload.findings)
        return upload
    }

    /// Adds a note about unknown members, or throws an error if a known member is not stored as a reference.
    private func checkMembers(of node: PropertyListNode, _ findings: inout Findings) throws(PropertyListError) {
        let document = archive.document
        let members = document.members(of: node)
        var unknown: [PropertyListNode] = []
        for position in 0..<members.count {
            let (key, value) = (document.key(at: position, of: members), document.value(at: position, of: members))
            if !Self.members.contains(where: { document.text(key, equals: $0.utf8.span) }) {
                unknown.append(key)
            } else if document.kind(of: value) != .uid {
                throw document.error(.badValue, at: value, "a member that is not a reference")
            }
        }
        guard let first = unknown.first else { return }
        let name = document.excerpt(of: first, scalarCount: AdjustUpload.excerptLength)
        findings.note("A18 \(unknown.count) unknown members such as \(name) ignored")
    }
}

// MARK: - Parameters

/// The methods that write ``AdjustQueueReader/parameters``.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 4 and 7.6.
extension AdjustQueueReader {
    /// The files with the parameters of the session, the members with the package's own parameters, and the names of the
    /// parameters that the SDK merges of both at the end of a delayed start.
    private static let mergedParameters: [(file: AdjustFile, member: String, key: JSONKey)] = [
        (.callbackParameters, "callbackParameters", AdjustParameters.callbackParams),
        (.partnerParameters, "partnerParameters", AdjustParameters.partnerParams),
    ]

    /// Writes the parameters `pairs` of a package, and the parameters that the SDK adds at the end of a delayed start.
    ///
    /// The parameters are written in reverse order. The first of several parameters with the same name therefore
    /// becomes the last member, which applies when the object is read. All bytes are charged to the budget, including
    /// omitted parameters.
    private mutating func write(
        _ pairs: KeyedPairs, ofPackage package: PropertyListNode, mayBeDelayed: Bool
    ) throws(PropertyListError) {
        parameters = AdjustParameterText()
        let document = archive.document
        var merged = mayBeDelayed ? Self.mergedParameters : []
        for position in (0..<pairs.count).reversed() {
            let start = parameters.text.count
            guard case .text(let name) = try archive.graph.value(at: position, of: pairs.keys) else {
                note(nonString: "a name")
                continue
            }
            merged.removeAll { document.text(name, equals: $0.key.utf8) }
            try append(name: name, after: 1)
            if try !writeIfRepresentable(archive.graph.element(at: position, of: pairs.values)) {
                parameters.text.removeAll(from: start)
                guard isCredential(name) else {
                    note(nonString: document.excerpt(of: name, scalarCount: AdjustUpload.excerptLength))
                    continue
                }
                // The value is not needed, because records do not contain credentials.
                try append(name: name, after: 1)
                parameters.text.append("null")
            }
            parameters.memberCount += 1
        }
        for (file, member, key) in merged { try merge(file, member, of: package, as: key) }
        parameters.text.append(UInt8(ascii: "}"))
    }

    /// Writes the entries of `file`, overridden by the entries of `member` of `package`, as the parameter `key`.
    private mutating func merge(
        _ file: AdjustFile, _ member: String, of package: PropertyListNode, as key: JSONKey
    ) throws(PropertyListError) {
        var own: [CapturedText: String?] = [:]
        if case .dictionary(let pairs) = try archive.graph.object(archive.graph.key(member), of: package) {
            own = try archive.strings(of: pairs)
        }
        guard !own.isEmpty || context.state?.isDelayed == true else { return }
        let session = context.sessionParameters[file] ?? [:]
        // All packages can share these parameters, so their number is checked before they are merged.
        try charge(nodes: session.count + own.count, at: package)
        let merged = session.merging(own) { _, own in own }
        guard !merged.isEmpty else { return }
        guard merged.values.allSatisfy({ $0 != nil }) else { return note(nonString: key.description) }
        try charge(bytes: merged.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) }, at: package)
        var object = CanonicalObject()
        // The names are sorted first, because appending members is faster than inserting them.
        for (name, value) in merged.sorted(by: { $0.key < $1.key }) { object.set(JSONKey(name.string), value) }
        writeSeparator(after: 1)
        parameters.text.append(jsonString: key.utf8.span)
        parameters.text.append(UInt8(ascii: ":"))
        parameters.text.append(jsonString: object.bytes.span)
        parameters.memberCount += 1
        parameters.mergedNames.append(key.description)
    }

    private mutating func note(nonString name: String) {
        if parameters.nonStringNames.count < AdjustUpload.maximumNamedCount { parameters.nonStringNames.append(name) }
    }

    private func isCredential(_ name: PropertyListNode) -> Bool {
        AdjustParameters.credentials.contains { archive.document.text(name, equals: $0.utf8) }
    }

    /// Appends the name of a member of the object whose members begin at `start`.
    private mutating func append(name: PropertyListNode, after start: Int) throws(PropertyListError) {
        writeSeparator(after: start)
        try append(string: name)
        parameters.text.append(UInt8(ascii: ":"))
    }

    private mutating func writeSeparator(after start: Int) {
        if parameters.text.count > start { parameters.text.append(UInt8(ascii: ",")) }
    }

    /// Appends a string, or throws an error if the object would become too large or the budget is exhausted.
    ///
    /// The size is checked first, because many values can share a large string.
    private mutating func append(string node: PropertyListNode) throws(PropertyListError) {
        let size = archive.document.payload(of: node).count
        guard parameters.text.count + size <= Self.parameterByteLimit else {
            let reason = "parameters of more than \(Self.parameterByteLimit) bytes"
            throw archive.document.error(.budgetExceeded, at: node, reason)
        }
        try charge(bytes: size, at: node)
        parameters.text.append(jsonText: node, of: archive.document)
        archive.noteSurrogates(in: node)
    }

    /// Writes the value of a parameter, or returns `false` if JSON cannot represent it.
    private mutating func writeIfRepresentable(_ stored: PropertyListNode) throws(PropertyListError) -> Bool {
        let uid = archive.document.uid(of: stored)
        if let hasCredential = unrepresentableValues[uid] {
            if hasCredential { parameters.nestedCredentialCount += 1 }
            return false
        }
        let earlier = parameters.nestedCredentialCount
        if try write(archive.graph.value(of: stored)) { return true }
        unrepresentableValues[uid] = parameters.nestedCredentialCount > earlier
        return false
    }

    /// Writes a value, or returns `false` if JSON cannot represent it.
    ///
    /// The depth is limited, because the expansion of the package was checked.
    private mutating func write(_ value: KeyedValue) throws(PropertyListError) -> Bool {
        switch value {
        case .text(let node): try append(string: node)
        case .none, .null: parameters.text.append("null")
        case .boolean(let value): parameters.text.append(value ? "true" : "false")
        case .integer(let value): parameters.text.append(copying: value.description.utf8.span)
        case .real(let value):
            guard value.isFinite else { return false }
            parameters.text.append(jsonNumber: value)
        case .array(let elements, .array):
            parameters.text.append(UInt8(ascii: "["))
            let start = parameters.text.count
            for position in 0..<elements.count {
                writeSeparator(after: start)
                guard try write(archive.graph.value(at: position, of: elements)) else { return false }
            }
            parameters.text.append(UInt8(ascii: "]"))
        case .dictionary(let pairs):
            parameters.text.append(UInt8(ascii: "{"))
            let start = parameters.text.count
            for position in 0..<pairs.count {
                guard case .text(let key) = try archive.graph.value(at: position, of: pairs.keys) else { return false }
                guard !isCredential(key) else {
                    parameters.nestedCredentialCount += 1
                    continue
                }
                try append(name: key, after: start)
                guard try write(archive.graph.value(at: position, of: pairs.values)) else { return false }
            }
            parameters.text.append(UInt8(ascii: "}"))
        case .array, .data, .date, .instance, .unrepresentable: return false
        }
        return true
    }
}
