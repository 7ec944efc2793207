import JSONText
import PropertyList
import Telemetry

/// Reads a stored package: an instance whose members are the path, the kind, the name of the SDK and the parameters.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 3 and 7.6.
struct AdjustPackage {
    /// The number of failed attempts to send the package, if the SDK stores it.
    private(set) var attempts = 0
    var upload: AdjustUpload
    /// The parameters as a JSON object, in the order of the archive.
    let parameters: [UInt8]

    private static let members = [
        "path", "kind", "suffix", "clientSdk", "parameters", "userAgent", "callbackParameters", "partnerParameters",
        "errorCount", "firstErrorCode", "lastErrorCode", "waitBeforeSend", "$class",
    ]

    /// Reads an instance, or throws an error if it is no package or a member is damaged.
    init(_ stored: PropertyListNode, in archive: inout AdjustArchive, _ context: AdjustContext)
        throws(PropertyListError)
    {
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
        var writer = AdjustParameterWriter(context)
        try writer.write(pairs, ofPackage: node, in: &archive)
        parameters = writer.finish()
        upload.addOddValues(writer.oddNames)
        if !writer.mergedNames.isEmpty {
            let names = writer.mergedNames.joined(separator: " and ")
            upload.findings.note("A11 \(names) merged, as at the end of a delayed start")
        }
        if case .integer(let count) = try archive.archive.object(archive.archive.key("errorCount"), of: node) {
            attempts = Int(clamping: count.signed ?? 0)
        }
        noteUnknownMembers(of: node, in: archive)
    }

    private mutating func noteUnknownMembers(of node: PropertyListNode, in archive: AdjustArchive) {
        let document = archive.archive.document
        let members = document.members(of: node)
        let unknown = (0..<members.count).map { document.key(at: $0, of: members) }.filter { key in
            !Self.members.contains { document.text(key, equals: $0.utf8.span) }
        }
        guard let first = unknown.first else { return }
        let name = document.string(of: first).prefix(40)
        upload.findings.note(
            "A18 \(unknown.count == 1 ? "member" : "\(unknown.count) members such as") \(name) ignored")
    }
}
