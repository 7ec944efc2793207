/// A URI reference split into its components, so that it can be resolved against a base reference.
///
/// Source: RFC 3986, sections 5.2 and 5.3, appendix B.
struct URLReference {
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
