import JSONText

/// Converts instances of Foundation classes that have a compact form in JSON.
///
/// Source: <doc:KeyedArchives>, C.1.
extension KeyedArchive {
    /// Returns the JSON of a UUID, a URL, a decimal number or a known kind of `NSValue`, or `nil` for other instances.
    mutating func foundationJSON(
        of instance: PropertyListNode, _ found: KeyedClass
    ) throws(PropertyListError) -> [UInt8]? {
        switch found.foundation {
        case .uuid: return Self.quoted(try uuid(of: instance))
        case .url: return try resolvedURL(of: instance).map(Self.quoted)
        case .decimal: return try decimal(of: instance)
        case .value: return try geometry(of: instance)
        default: return nil
        }
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var json: [UInt8] = []
        json.append(jsonString: text)
        return json
    }

    /// Resolves a URL against its chain of base URLs, or returns `nil` if the chain is cyclic or too long.
    private mutating func resolvedURL(of instance: PropertyListNode) throws(PropertyListError) -> String? {
        var parts: [String] = []
        var next: PropertyListNode? = instance
        while let current = next {
            guard parts.count < 16 else { return nil }
            let url = try url(of: current)
            parts.append(url.relative)
            next = url.base
        }
        var resolved = parts.removeLast()
        for part in parts.reversed() { resolved = URLReference(part).resolved(against: URLReference(resolved)).text }
        return resolved
    }

    /// Returns the JSON of an `NSDecimalNumber`, which has the value (−1)^negative × mantissa × 10^exponent.
    private mutating func decimal(of instance: PropertyListNode) throws(PropertyListError) -> [UInt8]? {
        guard let length = try number("NS.length", of: instance), (0...8).contains(length),
            let exponent = try number("NS.exponent", of: instance), (-128...127).contains(exponent),
            let negative = try number("NS.negative", of: instance)
        else { return nil }
        if length == 0 { return negative == 0 ? Array("0".utf8) : Array("{\"$real\":\"nan\"}".utf8) }
        let isLittleEndian = try number("NS.mantissa.bo", of: instance) != 2
        guard let stored = member(key("NS.mantissa"), of: instance) else { return nil }
        guard case .data(let node) = try value(of: stored), document.payload(of: node).count == 16 else { return nil }
        let bytes = document.payload(of: node)
        var mantissa: UInt128 = 0
        for word in (0..<length).reversed() {
            let (first, second) = (UInt128(bytes[2 * word]), UInt128(bytes[2 * word + 1]))
            mantissa = mantissa << 16 | (isLittleEndian ? second << 8 | first : first << 8 | second)
        }
        let digits = Self.decimalNotation("\(mantissa)", exponent: exponent)
        return Array((negative == 0 ? digits : "-" + digits).utf8)
    }

    /// Returns `digits` × 10^`exponent` in decimal notation.
    private static func decimalNotation(_ digits: String, exponent: Int) -> String {
        if digits == "0" { return "0" }
        if exponent >= 0 { return digits + String(repeating: "0", count: exponent) }
        let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.utf8.count)) + digits
        return "\(padded.dropLast(-exponent)).\(padded.suffix(-exponent))"
    }

    private mutating func geometry(of instance: PropertyListNode) throws(PropertyListError) -> [UInt8]? {
        switch try number("NS.special", of: instance) {
        case 1: return try textMember("NS.pointval", of: instance)
        case 2: return try textMember("NS.sizeval", of: instance)
        case 3: return try textMember("NS.rectval", of: instance)
        case 4:
            guard let location = try numberText("NS.rangeval.location", of: instance),
                let length = try numberText("NS.rangeval.length", of: instance)
            else { return nil }
            return Array("{\"location\":\(location),\"length\":\(length)}".utf8)
        case 12:
            var sides: [String] = []
            for side in ["top", "left", "bottom", "right"] {
                guard let value = try numberText("NS.edgeval.\(side)", of: instance) else { return nil }
                sides.append("\"\(side)\":\(value)")
            }
            return Array("{\(sides.joined(separator: ","))}".utf8)
        default: return nil
        }
    }

    private mutating func textMember(
        _ name: String, of instance: PropertyListNode
    ) throws(PropertyListError) -> [UInt8]? {
        guard case .text(let node) = try object(key(name), of: instance) else { return nil }
        var json: [UInt8] = []
        json.append(jsonText: node, of: document)
        return json
    }

    private mutating func number(_ name: String, of instance: PropertyListNode) throws(PropertyListError) -> Int? {
        guard let stored = member(key(name), of: instance) else { return nil }
        return switch try value(of: stored) {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): value.signed.flatMap(Int.init(exactly:))
        default: nil
        }
    }

    private mutating func numberText(
        _ name: String, of instance: PropertyListNode
    ) throws(PropertyListError) -> String? {
        guard let stored = member(key(name), of: instance) else { return nil }
        switch try value(of: stored) {
        case .integer(let value): return "\(value)"
        case .real(let value) where value.isFinite:
            var text: [UInt8] = []
            text.append(printedReal: value)
            return String(decoding: text, as: UTF8.self)
        default: return nil
        }
    }
}

/// A URI reference split into its components, so that it can be resolved against a base reference.
///
/// Source: RFC 3986, sections 5.2 and 5.3, appendix B.
private struct URLReference {
    private var scheme: Substring?
    private var authority: Substring?
    private var path: Substring
    private var query: Substring?
    private let fragment: Substring?

    init(_ text: String) {
        var rest = Substring(text)
        if let end = rest.firstIndex(where: { ":/?#".contains($0) }), rest[end] == ":", end > rest.startIndex {
            scheme = rest[..<end]
            rest = rest[rest.index(after: end)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        if let mark = rest.firstIndex(of: "#") {
            fragment = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        } else {
            fragment = nil
        }
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        path = rest
    }

    /// Returns the reference, completed with the components that it inherits from `base`.
    func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme == nil { target.scheme = base.scheme }
        if scheme == nil, authority == nil {
            target.authority = base.authority
            if path.isEmpty {
                target.path = base.path
                target.query = query ?? base.query
                return target
            }
            if !path.hasPrefix("/") { target.path = base.merged(path) }
        }
        target.path = Self.removingDotSegments(target.path)
        return target
    }

    private func merged(_ path: Substring) -> Substring {
        if authority != nil, self.path.isEmpty { return "/" + path }
        guard let slash = self.path.lastIndex(of: "/") else { return path }
        return self.path[...slash] + path
    }

    private static func removingDotSegments(_ path: Substring) -> Substring {
        var segments: [Substring] = []
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for (position, part) in parts.enumerated() {
            let isLast = position == parts.count - 1
            switch part {
            case ".":
                if isLast { segments.append("") }
            case "..":
                if segments.count > 1 || segments.first.map({ !$0.isEmpty }) ?? false { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return Substring(segments.joined(separator: "/"))
    }

    var text: String {
        let front = (scheme.map { "\($0):" } ?? "") + (authority.map { "//\($0)" } ?? "")
        return front + path + (query.map { "?\($0)" } ?? "") + (fragment.map { "#\($0)" } ?? "")
    }
}
