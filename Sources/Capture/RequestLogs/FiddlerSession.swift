import Bytes
import CLibrary
import Files
import JSONText
import Synchronization
import Telemetry

/// A session of Fiddler: an exchange whose request is stored as it was sent.
///
/// A file with the suffix `.saz` is a zip archive with a folder `raw`. For the exchange with the number N, the folder
/// contains the request `N_c.txt`, the response `N_s.txt`, and `N_m.xml` with the times. The exchange is converted to an
/// HTTP archive with one entry.
struct FiddlerSession {
    static let folderName = "raw"
    private static let requestSuffix = "_c.txt"
    private static let responseSuffix = "_s.txt"
    private static let metadataSuffix = "_m.xml"

    let tree: FileTree
    let folder: String
    /// The digits of the number of the exchange.
    let number: String

    /// Returns whether a file called `name` in a folder called `raw` may belong to a session.
    static func isName(_ name: String) -> Bool {
        [requestSuffix, responseSuffix, metadataSuffix].contains { number(of: name, suffix: $0) != nil }
    }

    /// Returns the digits of the numbers of the exchanges among `files`, in the order of the numbers.
    static func numbers(of files: [[UInt8]]) -> [String] {
        let found = files.compactMap { number(of: String(decoding: $0, as: UTF8.self), suffix: requestSuffix) }
        return found.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    private static func number(of name: String, suffix: String) -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        let digits = name.utf8.dropLast(suffix.utf8.count)
        return (1...9).contains(digits.count) && digits.allSatisfy(\.isDigit) ? String(digits) : nil
    }

    /// The path of the request in the capture.
    var path: String { tree.entryPathPrefix(ofFolder: folder) + number + Self.requestSuffix }

    /// Returns an HTTP archive with the exchange.
    ///
    /// The only entry is empty, and therefore rejected, if the request is malformed.
    func archive() throws(FileError) -> [UInt8] {
        let source = try tree.source(at: path)
        guard source.count <= InputLimits.fiddlerRequestSize else { throw FileError(.read, path, code: EFBIG) }
        let request = try source.bytes(at: 0, count: source.count)
        var entry = CanonicalObject()
        if let request = Self.request(in: request) {
            entry.set("request", request)
            entry.set("response", ["status": Self.status(in: head(Self.responseSuffix))] as CanonicalObject)
            if let start = Self.start(in: head(Self.metadataSuffix)) { entry.set("startedDateTime", start) }
        }
        return (["log": ["entries": [entry], "version": "1.2"] as CanonicalObject] as CanonicalObject).bytes
    }

    /// Returns the first bytes of another file of the session, or an empty array if it cannot be read.
    private func head(_ suffix: String) -> [UInt8] {
        // Without the response or the metadata, the status or the time is unknown.
        guard let source = try? tree.source(at: tree.entryPathPrefix(ofFolder: folder) + number + suffix) else {
            return []
        }
        return (try? source.bytes(at: 0, count: min(source.count, InputLimits.fiddlerHeadSize))) ?? []
    }

    /// Returns the request of an HTTP archive for a request as it was sent, or `nil` if it is malformed.
    private static func request(in bytes: [UInt8]) -> CanonicalObject? {
        var rest = bytes[...]
        guard let first = Self.line(of: &rest) else { return nil }
        let words = first.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, words[2].hasPrefix("HTTP/") else { return nil }
        var headers: [CanonicalObject] = []
        var host = ""
        var isChunked = false
        while let field = Self.line(of: &rest), !field.isEmpty {
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: field[..<colon], as: UTF8.self)
            let value = String(decoding: field[(colon + 1)...].drop(while: \.isBlank), as: UTF8.self)
            headers.append(["name": name, "value": value])
            switch CapturedText(name).lowercasedASCII() {
            case "host": host = value
            case "transfer-encoding": isChunked = CapturedText(value).lowercasedASCII() == "chunked"
            default: continue
            }
        }
        let url = words[1].hasPrefix("/") ? "https://\(host)\(words[1])" : words[1]
        var request: CanonicalObject = ["headers": headers, "method": words[0], "url": url]
        let body = (isChunked ? joinedChunks(rest) : nil) ?? Array(rest)
        if !body.isEmpty {
            var data = CanonicalObject()
            // Control characters have long escapes.
            let isText = !body.contains { $0 < 0x20 && !$0.isBlank }
            if isText, (try? UTF8Span(validating: body.span)) != nil {
                data.set("text", String(decoding: body, as: UTF8.self))
            } else {
                var text: [UInt8] = []
                text.append(base64: body.span)
                data = ["encoding": "base64", "text": String(decoding: text, as: UTF8.self)]
            }
            request.set("postData", data)
        }
        return request
    }

    /// Removes the first line from `rest`, and returns it without the line ending.
    private static func line(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    /// Returns the contents of a body with the transfer encoding `chunked`, or `nil` if `bytes` do not have it.
    private static func joinedChunks(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = bytes
        var joined: [UInt8] = []
        while let header = Self.line(of: &rest) {
            let digits = header.prefix { $0.hexadecimalValue != nil }
            guard (1...8).contains(digits.count) else { return nil }
            let size = digits.reduce(0) { $0 << 4 | Int($1.hexadecimalValue ?? 0) }
            guard size > 0 else { return joined }
            guard size <= rest.count else { return nil }
            joined += rest.prefix(size)
            rest = rest.dropFirst(size)
            guard Self.line(of: &rest)?.isEmpty == true else { return nil }
        }
        return nil
    }

    private static func status(in response: [UInt8]) -> Int {
        var rest = response[...]
        let words = Self.line(of: &rest)?.split(separator: UInt8(ascii: " ")) ?? []
        return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
    }

    /// Returns the time at which the client began its request.
    private static func start(in metadata: [UInt8]) -> String? {
        let text = String(decoding: metadata, as: UTF8.self)
        let parts = text.split(separator: "ClientBeginRequest=\"", maxSplits: 1)
        return parts.count == 2 ? parts[1].split(separator: "\"").first.map { String($0) } : nil
    }
}

// MARK: - The store

/// The sessions in a folder of Fiddler.
struct FiddlerStore: Store {
    let path: String
    let numbers: [String]
    let systems: SystemTable

    var system: SystemName? { nil }
    var kind: StoreKind { .harEntry }
    var fileCount: Int { numbers.count }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        FiddlerScan(numbers[files], of: self, in: context)
    }
}

private struct FiddlerScan: StoreScan {
    private let store: FiddlerStore
    private let context: StoreContext
    private var numbers: ArraySlice<String>
    /// The interrupted scan of the first session.
    private var current: RequestLogScan?

    init(_ numbers: ArraySlice<String>, of store: FiddlerStore, in context: StoreContext) {
        self.numbers = numbers
        self.store = store
        self.context = context
    }

    mutating func read(into output: inout ScanOutput) throws -> Bool {
        guard let number = numbers.first else { return false }
        if current == nil { current = open(number, reportingTo: &output) }
        if let current, try current.read(into: &output) { return true }
        current = nil
        numbers.removeFirst()
        return !numbers.isEmpty
    }

    /// Returns a scan of a session, or reports that the session cannot be read and returns `nil`.
    private func open(_ number: String, reportingTo output: inout ScanOutput) -> RequestLogScan? {
        let session = FiddlerSession(tree: context.tree, folder: store.path, number: number)
        do throws(FileError) {
            let log = RequestLog(
                ByteSource(try session.archive()), kind: .httpArchive, label: context.capture, path: session.path,
                systems: store.systems)
            return RequestLogScan(log, limit: context.options.limit)
        } catch {
            output.report(Problem("unreadable", error.description), path: session.path)
            return nil
        }
    }
}
