import Files

/// What the records of one command name its inputs: by the last part of each path, or by as much of it as tells the inputs
/// apart.
///
/// ```swift
/// let labels = CaptureLabels.labels(ofPaths: ["a/AppData", "b/AppData", "phone/"])
/// ```
public enum CaptureLabels {
    static let standardInput = "stdin"

    /// Returns the labels of paths, in their order.
    /// - Parameter resolve: Returns the real path of a path that does not end with a name, such as `.` or `..`.
    public static func labels(
        ofPaths paths: [String], resolve: (String) -> String? = { RealPath.of($0) }
    ) -> [String] {
        let names = paths.map { path in
            path == "-" ? [standardInput] : parts(of: path, resolve: resolve)
        }
        // Of a path that is given twice, no part tells one from the other.
        let different = Array(Set(names))
        let labels = Dictionary(uniqueKeysWithValues: zip(different, apart(different)))
        return numbered(names.compactMap { labels[$0] })
    }

    /// The name of what lies at a path, also of one that ends with dots.
    static func name(ofPath path: String) -> String {
        parts(of: path, resolve: { RealPath.of($0) }).last ?? path
    }

    /// The parts of a path without empty ones and dots. That of the root of all files has one part, the slash, as has every
    /// path that begins there.
    private static func parts(of path: String, resolve: (String) -> String?) -> [String] {
        var named = split(path)
        if named.last ?? ".." == ".." || named == ["/"], let real = resolve(path) { named = split(real) }
        return named.isEmpty ? [path] : named
    }

    private static func split(_ path: String) -> [String] {
        (path.utf8.first == UInt8(ascii: "/") ? ["/"] : []) + Path.parts(of: path).filter { $0 != "." }
    }

    /// Takes as many parts of each path, from its end, as make it another one than the others; all of them where that is not
    /// enough.
    private static func apart(_ names: [[String]]) -> [String] {
        var counts = names.map { _ in 1 }
        while true {
            let labels = zip(names, counts).map { Self.join($0.suffix($1)) }
            let same = Dictionary(grouping: labels.indices) { labels[$0] }.values.filter { $0.count > 1 }
            let extended = same.joined().filter { counts[$0] < names[$0].count }
            guard !extended.isEmpty else { return labels }
            for index in extended { counts[index] += 1 }
        }
    }

    private static func join(_ parts: ArraySlice<String>) -> String {
        guard parts.first == "/", parts.count > 1 else { return parts.joined(separator: "/") }
        return "/" + parts.dropFirst().joined(separator: "/")
    }

    /// Numbers what is still the same, from the second one on: somebody gave a path twice.
    private static func numbered(_ labels: [String]) -> [String] {
        var taken = Set(labels)
        var seen: Set<String> = []
        return labels.map { label in
            if seen.insert(label).inserted { return label }
            var number = 2
            while !taken.insert("\(label)#\(number)").inserted { number += 1 }
            return "\(label)#\(number)"
        }
    }
}
