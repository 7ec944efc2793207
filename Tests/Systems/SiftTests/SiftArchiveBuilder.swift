/// A value to be archived in the format of the SDK.
indirect enum Archived: Sendable {
    case null
    case text(String)
    /// An `NSMutableString`, which is stored as an instance.
    case mutable(String)
    case integer(Int64)
    case unsigned(UInt64)
    case real(String)
    case boolean(Bool)
    case date
    case data
    case list([Archived])
    case dictionary([(Archived, Archived)])
    /// An instance of the named class, with references and inline scalars.
    case instance(String, [(String, Member)])
    /// A value that is archived once for each name, so that all uses of the name refer to the same object.
    case shared(String, Archived)
    /// `nil`, which is stored as UID 0.
    case none

    /// A member of an instance.
    enum Member: Sendable {
        case reference(Archived)
        /// A scalar as XML text.
        case inline(String)
    }

    /// Returns a dictionary whose keys are strings.
    static func object(_ members: KeyValuePairs<String, Archived>) -> Archived {
        .dictionary(members.map { (.text($0.key), $0.value) })
    }

    /// Returns an event.
    ///
    /// Members that are not listed are `nil`.
    static func event(
        _ time: Int64, class name: String = "SiftEvent", _ members: KeyValuePairs<String, Archived> = [:]
    ) -> Archived {
        let keys = [
            "type", "path", "userId", "installationId", "fields", "deviceProperties", "iosAppState",
            "iosDeviceProperties", "metrics",
        ]
        let stored = keys.map { key in
            (key, Member.reference(members.first { $0.key == key }?.value ?? .none))
        }
        return .instance(name, [("time", .inline("<integer>\(time)</integer>"))] + stored)
    }
}

/// Writes keyed archives for tests, as XML property lists.
struct SiftArchiveBuilder {
    private var objects = ["<string>$null</string>"]
    private var classes: [String: Int] = [:]
    private var shared: [String: Int] = [:]

    /// Returns an archive with the root `root`.
    static func archive(_ root: Archived) -> [UInt8] {
        var builder = SiftArchiveBuilder()
        let top = builder.reference(root)
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(uid(top))</dict>
            <key>$objects</key><array>\(builder.objects.joined(separator: "\n"))</array></dict></plist>
            """.utf8)
    }

    /// Returns a queue file with the given events and further entries of the root.
    static func queue(
        _ events: [Archived], _ otherEntries: KeyValuePairs<String, Archived> = ["lastUploadTimestamp": .integer(0)]
    )
        -> [UInt8]
    {
        archive(.dictionary([(.text("queue"), .list(events))] + otherEntries.map { (.text($0.key), $0.value) }))
    }

    /// Returns an uploader file.
    static func uploader(_ batches: [[Archived]], rejects: Archived = .integer(0)) -> [UInt8] {
        archive(.object(["batches": .list(batches.map { .list($0) }), "numRejects": rejects]))
    }

    private static func uid(_ number: Int) -> String {
        "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
    }

    private mutating func reference(_ value: Archived) -> Int {
        switch value {
        case .none: return 0
        case .shared(let name, let value):
            if let known = shared[name] { return known }
            // The number is stored before the members are written, so that a value can contain itself.
            shared[name] = objects.count
            return reference(value)
        default: break
        }
        let number = objects.count
        objects.append("")
        objects[number] = object(value)
        return number
    }

    private mutating func object(_ value: Archived) -> String {
        switch value {
        case .text(let text): return Self.string(text)
        case .integer(let number): return "<integer>\(number)</integer>"
        case .unsigned(let number): return "<integer>\(number)</integer>"
        case .real(let number): return "<real>\(number)</real>"
        case .boolean(let value): return value ? "<true/>" : "<false/>"
        case .data: return "<data>AAE=</data>"
        case .null: return record("NSNull", [])
        case .mutable(let text): return record("NSMutableString", [("NS.string", Self.string(text))])
        case .date: return record("NSDate", [("NS.time", "<real>780000000.25</real>")])
        case .list(let elements): return record("NSMutableArray", [("NS.objects", references(elements))])
        case .dictionary(let pairs):
            return record(
                "NSMutableDictionary",
                [("NS.keys", references(pairs.map(\.0))), ("NS.objects", references(pairs.map(\.1)))])
        case .instance(let name, let members):
            return record(
                name,
                members.map { key, member in
                    switch member {
                    case .reference(let value): (key, Self.uid(reference(value)))
                    case .inline(let text): (key, text)
                    }
                })
        case .shared, .none: return ""
        }
    }

    private mutating func references(_ values: [Archived]) -> String {
        "<array>\(values.map { Self.uid(reference($0)) }.joined())</array>"
    }

    private mutating func record(_ name: String, _ members: [(String, String)]) -> String {
        if classes[name] == nil {
            classes[name] = objects.count
            objects.append(
                "<dict><key>$classname</key><string>\(name)</string><key>$classes</key><array><string>\(name)</string>"
                    + "<string>NSObject</string></array></dict>")
        }
        let body = members.map { "<key>\($0.0)</key>\($0.1)" }.joined()
        return "<dict>\(body)<key>$class</key>\(Self.uid(classes[name] ?? 0))</dict>"
    }

    private static func string(_ text: String) -> String {
        let escaped = text.map { $0 == "&" ? "&amp;" : $0 == "<" ? "&lt;" : String($0) }.joined()
        return "<string>\(escaped)</string>"
    }
}
