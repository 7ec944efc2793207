import Foundation

/// A model of a file system in which only synchronized changes survive a power failure.
///
/// The model replays the system calls of a program, as `strace` reports them. A folder on the disk has the entries that
/// it had when it was last synchronized. A file on the disk is intact unless it was written after it was last
/// synchronized.
///
/// ```swift
/// var files = try DurableFiles(of: folder.path)
/// for call in try DurableFiles.calls(in: log) {
///     files.replay(call)
///     let survivors = files.survivors
/// }
/// ```
public struct DurableFiles {
    /// A system call that succeeded.
    public struct Call: Sendable {
        let name: String
        let arguments: String
        /// The path of the file that the call opened, or an empty string.
        let openedPath: String
    }

    /// The options of `strace` that record the calls.
    public static let traceOptions = [
        "-f", "-qq", "-y", "-s", "512", "-e",
        "trace=openat,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,link,linkat,fsync,fdatasync,write,"
            + "pwrite64,ftruncate",
    ]

    /// Whether `strace` can trace a program here.
    public static let canTrace = (try? RunningProgram(["strace", "-o", "/dev/null", "true"]).finish().status) == 0

    private struct Node {
        /// The entries of a folder, or `nil` if the node is a file.
        var entries: [String: Int]?
        /// The entries that survive, or an empty dictionary if the folder was never synchronized.
        var durableEntries: [String: Int] = [:]
        /// The path of a file before the first call, which identifies its contents.
        var origin: String?
        var isDirty = false

        var liveEntries: [String: Int] { entries ?? [:] }
    }

    private let root: String
    private var nodes: [Node] = []

    /// Creates a model of the folder at `root`, all of whose contents are synchronized.
    public init(of root: String) throws {
        self.root = root
        nodes = [Node()]
        try read("", into: 0)
    }

    private mutating func read(_ path: String, into node: Int) throws {
        var entries: [String: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: root + path) {
            let below = "\(path)/\(name)"
            let number = nodes.count
            nodes.append(Node(origin: below))
            entries[name] = number
            let attributes = try FileManager.default.attributesOfItem(atPath: root + below)
            if attributes[.type] as? FileAttributeType == .typeDirectory { try read(below, into: number) }
        }
        nodes[node].entries = entries
        nodes[node].durableEntries = entries
        nodes[node].origin = nil
    }

    // MARK: Results

    /// The contents of a file that survives a power failure.
    public enum Contents: Hashable, Sendable {
        /// The contents that the file at this path had before the first call.
        case old(String)
        /// The contents of the file with this number, which the program wrote and synchronized.
        case new(Int)
        /// The contents of a file that was not synchronized.
        case damaged
    }

    /// The files that survive a power failure, by path.
    public var survivors: [String: Contents] { files(keyPath: \.durableEntries) }

    /// The files that a program sees, by path.
    public var files: [String: Contents] { files(keyPath: \.liveEntries) }

    private func files(keyPath: KeyPath<Node, [String: Int]>) -> [String: Contents] {
        var found: [String: Contents] = [:]
        var unread = [(path: "", node: 0)]
        while let (path, node) = unread.popLast() {
            for (name, number) in nodes[node][keyPath: keyPath] {
                let below = "\(path)/\(name)"
                if nodes[number].entries != nil {
                    unread.append((below, number))
                } else if nodes[number].isDirty {
                    found[below] = .damaged
                } else {
                    found[below] = nodes[number].origin.map { .old($0) } ?? .new(number)
                }
            }
        }
        return found
    }

    // MARK: System calls

    /// Returns the successful calls in a log of `strace`, in the order in which they ended.
    public static func calls(in log: String) -> [Call] {
        var unfinished: [Substring: String] = [:]
        var calls: [Call] = []
        for line in log.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let process = line[..<space]
            var text = String(line[space...].drop { $0 == " " })
            if let end = text.range(of: " <unfinished ...>") {
                unfinished[process] = String(text[..<end.lowerBound])
                continue
            }
            if text.hasPrefix("<... "), let end = text.range(of: " resumed>") {
                text = (unfinished.removeValue(forKey: process) ?? "") + text[end.upperBound...]
            }
            guard let match = text.firstMatch(of: /^(\w+)\((.*)\) += (\d+)(?:<(.*)>)?/) else { continue }
            calls.append(
                Call(
                    name: String(match.1), arguments: String(match.2), openedPath: match.4.map(String.init) ?? ""))
        }
        return calls
    }

    /// Applies a call to the model.
    public mutating func replay(_ call: Call) {
        let words = Self.words(of: call.arguments)
        switch call.name {
        case "openat":
            guard call.arguments.contains("O_CREAT"), let (folder, name) = entry(words, at: 0) else { return }
            if nodes[folder].entries?[name] == nil {
                add(Node(isDirty: true), name, to: folder)
            }
        case "write", "pwrite64", "ftruncate":
            guard let node = node(at: words.first?.path) else { return }
            nodes[node].isDirty = true
            nodes[node].origin = nil
        case "fsync", "fdatasync":
            guard let node = node(at: words.first?.path) else { return }
            nodes[node].isDirty = false
            let entries = nodes[node].liveEntries
            nodes[node].durableEntries = entries
        case "mkdirat":
            guard let (folder, name) = entry(words, at: 0) else { return }
            add(Node(entries: [:]), name, to: folder)
        case "unlinkat":
            guard let (folder, name) = entry(words, at: 0) else { return }
            nodes[folder].entries?[name] = nil
        case "unlink", "rmdir":
            guard let (folder, name) = location(of: words.first?.text) else { return }
            nodes[folder].entries?[name] = nil
        case "linkat":
            guard let (from, name) = entry(words, at: 0), let (to, newName) = entry(words, at: 2) else { return }
            let linked = nodes[from].entries?[name]
            nodes[to].entries?[newName] = linked
        case "rename":
            guard let (from, name) = location(of: words.first?.text),
                let (to, newName) = location(of: words.dropFirst().first?.text)
            else { return }
            move(name, from, newName, to)
        case "renameat", "renameat2":
            guard let (from, name) = entry(words, at: 0), let (to, newName) = entry(words, at: 2) else { return }
            if call.arguments.contains("RENAME_EXCHANGE") {
                let (moved, replaced) = (nodes[from].entries?[name], nodes[to].entries?[newName])
                nodes[from].entries?[name] = replaced
                nodes[to].entries?[newName] = moved
            } else {
                move(name, from, newName, to)
            }
        default: break
        }
    }

    private mutating func move(_ name: String, _ from: Int, _ newName: String, _ to: Int) {
        let moved = nodes[from].entries?.removeValue(forKey: name)
        nodes[to].entries?[newName] = moved
    }

    private mutating func add(_ node: Node, _ name: String, to folder: Int) {
        let number = nodes.count
        nodes.append(node)
        nodes[folder].entries?[name] = number
    }

    /// An argument of a call: the path of a descriptor, or a string.
    private struct Word {
        var path: String?
        var text: String?
    }

    /// Returns the arguments that are descriptors or strings.
    private static func words(of arguments: String) -> [Word] {
        arguments.matches(of: /(?:\d+|AT_FDCWD)<([^>]*)>|"([^"]*)"/).map {
            Word(path: $0.1.map(String.init), text: $0.2.map(String.init))
        }
    }

    /// Returns the folder and the name that a descriptor and the following string specify.
    private func entry(_ words: [Word], at index: Int) -> (folder: Int, name: String)? {
        guard words.count > index + 1, let folder = words[index].path, let name = words[index + 1].text else {
            return nil
        }
        return location(of: name.hasPrefix("/") ? name : "\(folder)/\(name)")
    }

    private func location(of path: String?) -> (folder: Int, name: String)? {
        guard let path, let slash = path.lastIndex(of: "/"), let folder = node(at: String(path[..<slash])) else {
            return nil
        }
        return (folder, String(path[path.index(after: slash)...]))
    }

    /// Returns the node at an absolute path, or `nil` if it is outside of the model.
    private func node(at path: String?) -> Int? {
        guard let path, path == root || path.hasPrefix(root + "/") else { return nil }
        var node = 0
        for name in path.dropFirst(root.count).split(separator: "/") where name != "." {
            guard let next = nodes[node].entries?[String(name)] else { return nil }
            node = next
        }
        return node
    }
}

extension DurableFiles {
    /// Creates the files of a state in an empty folder.
    ///
    /// `bytes` returns the contents of a file. Damaged files are empty.
    public static func restore(
        _ state: [String: Contents], in folder: String, _ bytes: (Contents) throws -> Data
    ) throws {
        for (path, contents) in state {
            let target = folder + path
            let parent = String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)])
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try (contents == .damaged ? Data() : bytes(contents)).write(to: URL(fileURLWithPath: target))
        }
    }
}
