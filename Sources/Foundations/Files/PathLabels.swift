import Bytes

/// Labels that identify the inputs of a command, for example in records and receipts.
///
/// A label consists of as many trailing components of a path as are needed to distinguish the inputs.
///
/// ```swift
/// let labels = PathLabels.labels(ofPaths: ["a/AppData", "b/AppData", "phone/"])
/// ```
public enum PathLabels {
    static let standardInput = "stdin"

    /// Returns unique labels for the inputs at `paths`, in the same order.
    ///
    /// `resolve` returns the real path of a path that does not end with a name, such as `.` or `..`.
    public static func labels(
        ofPaths paths: [String], resolve: (String) -> String? = { RealPath.of($0) }
    ) -> [String] {
        let names = paths.map { path in
            (path == "-" ? [standardInput] : parts(of: path, resolve: resolve)).map { CapturedText($0) }
        }
        // Equal paths cannot be distinguished by further components.
        let different = Array(Set(names))
        let labels = Dictionary(uniqueKeysWithValues: zip(different, shortestDistinctLabels(different)))
        return numbered(names.compactMap { labels[$0] }).map(\.string)
    }

    /// Returns the name of the file or folder at `path`, even if `path` ends with `.` or `..`.
    public static func name(ofPath path: String) -> String {
        parts(of: path, resolve: { RealPath.of($0) }).last ?? path
    }

    /// Returns the components of `path` without empty components and single dots.
    ///
    /// If `path` does not end with a name, the components of its real path are returned. The first component of an
    /// absolute path is `/`.
    private static func parts(of path: String, resolve: (String) -> String?) -> [String] {
        var named = split(path)
        if named.last ?? ".." == ".." || named == ["/"], let real = resolve(path) { named = split(real) }
        return named.isEmpty ? [path] : named
    }

    private static func split(_ path: String) -> [String] {
        (path.utf8.first == UInt8(ascii: "/") ? ["/"] : []) + Path.parts(of: path).filter { $0 != "." }
    }

    /// Returns the shortest suffix of each path that distinguishes it from the other paths.
    private static func shortestDistinctLabels(_ names: [[CapturedText]]) -> [CapturedText] {
        var counts = names.map { _ in 1 }
        while true {
            let labels = zip(names, counts).map { Self.join($0.suffix($1)) }
            let same = Dictionary(grouping: labels.indices) { labels[$0] }.values.filter { $0.count > 1 }
            let extended = same.joined().filter { counts[$0] < names[$0].count }
            guard !extended.isEmpty else { return labels }
            for index in extended { counts[index] += 1 }
        }
    }

    private static func join(_ parts: ArraySlice<CapturedText>) -> CapturedText {
        guard parts.first == "/", parts.count > 1 else {
            return CapturedText(parts.map(\.string).joined(separator: "/"))
        }
        return CapturedText("/" + parts.dropFirst().map(\.string).joined(separator: "/"))
    }

    private static func numbered(_ labels: [CapturedText]) -> [CapturedText] {
        var taken = Set(labels)
        var seen: Set<CapturedText> = []
        return labels.map { label in
            if seen.insert(label).inserted { return label }
            var number = 2
            while !taken.insert("\(label)#\(number)").inserted { number += 1 }
            return "\(label)#\(number)"
        }
    }
}
