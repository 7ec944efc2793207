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
        let path = try archive.string("path", of: node)
        let kind = try archive.string("kind", of: node)
        let type = path.flatMap { AdjustType.byPath[$0] }
        upload = AdjustUpload(
            path: type == nil ? nil : path,
            type: type ?? kind.flatMap { AdjustType.isName($0) ? $0 : nil } ?? AdjustType.unknown,
            sdk: try archive.string("clientSdk", of: node), agent: try archive.string("userAgent", of: node))
        if type == nil {
            upload.findings.note("A6 the path is missing or not documented")
        } else if let path, !AdjustType.isKind(kind, ofPath: path) {
            upload.findings.note("A13 the kind is not the one of the path")
        }
        guard case .dictionary(let pairs) = try archive.archive.object(archive.archive.key("parameters"), of: node)
        else {
            let offset = archive.archive.document.offset(of: stored)
            throw PropertyListError(.wrongClass, at: offset, "a package without parameters")
        }
        var writer = AdjustParameterWriter(context, byteLimit: Self.parameterByteLimit, budget: budget)
        defer { budget = writer.budget }
        try writer.write(pairs, ofPackage: node, in: &archive)
        parameters = writer.finish()
        parameterCount = writer.memberCount
        upload.nonStringNames = writer.nonStringNames
        if writer.hasNestedCredential {
            upload.needsSignature = true
            upload.findings.note("A7 a credential inside another value omitted")
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
