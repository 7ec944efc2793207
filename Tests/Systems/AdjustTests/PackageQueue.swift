import JSONText
import PropertyList
import Telemetry

@testable import Adjust

/// A package to be archived in the format of the SDK.
struct StoredPackage {
    var className = "ADJActivityPackage"
    var path: String? = "/event"
    var kind: String? = "event"
    var sdk: String? = "ios4.11.5"
    var agent: String?
    var parameters: [(String, String)]
    /// The callback parameters of the event, which are stored only if there are any.
    var callbackParameters: [(String, String)] = []

    /// Returns an event with the parameters that every event has, and others.
    static func event(_ parameters: KeyValuePairs<String, String> = [:]) -> StoredPackage {
        let usual = [
            ("app_token", "4w565xzmb54d"), ("created_at", "2017-03-20T10:53:20.418Z+0200"), ("event_token", "hjuag8"),
        ]
        return StoredPackage(parameters: usual + parameters.map { ($0.key, $0.value) })
    }
}

/// Writes queues for tests, as keyed archives in XML.
///
/// Equal strings, and equal dictionaries of parameters, are stored once.
struct PackageQueue {
    private var objects = ["<string>$null</string>"]
    private var numbers: [String: Int] = [:]
    /// The numbers of the strings, which are found without escaping a huge string for each package that has it.
    private var texts: [String: Int] = [:]

    /// Returns a queue of packages.
    ///
    /// `order` contains the index of the package at each position, or `nil` for all packages in their order.
    static func archive(_ packages: [StoredPackage], order: [Int]? = nil) -> [UInt8] {
        var queue = PackageQueue()
        let stored = packages.map { queue.add($0) }
        let root = queue.addCollection("NSMutableArray", (order ?? Array(stored.indices)).map { stored[$0] })
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(uid(root))</dict>
            <key>$objects</key><array>\(queue.objects.joined(separator: "\n"))</array></dict></plist>
            """.utf8)
    }

    private static func uid(_ number: Int) -> String {
        "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
    }

    private static func list(_ numbers: [Int]) -> String { "<array>\(numbers.map(uid).joined())</array>" }

    /// Adds an object unless it is present, and returns its number.
    private mutating func add(_ object: String) -> Int {
        if let number = numbers[object] { return number }
        numbers[object] = objects.count
        objects.append(object)
        return objects.count - 1
    }

    private mutating func add(text: String?) -> Int {
        guard let text else { return 0 }
        if let number = texts[text] { return number }
        let escaped = text.map { $0 == "&" ? "&amp;" : $0 == "<" ? "&lt;" : String($0) }.joined()
        let number = add("<string>\(escaped)</string>")
        texts[text] = number
        return number
    }

    private mutating func add(class name: String) -> Int {
        add(
            "<dict><key>$classname</key><string>\(name)</string><key>$classes</key><array><string>\(name)</string>"
                + "<string>NSObject</string></array></dict>")
    }

    private mutating func addCollection(_ name: String, keys: [Int]? = nil, _ values: [Int]) -> Int {
        let keys = keys.map { "<key>NS.keys</key>\(Self.list($0))" } ?? ""
        return add(
            "<dict>\(keys)<key>NS.objects</key>\(Self.list(values))<key>$class</key>\(Self.uid(add(class: name)))</dict>"
        )
    }

    /// Adds a package, which is a separate object even if it equals another one.
    private mutating func add(_ package: StoredPackage) -> Int {
        let parameters = addCollection(
            "NSMutableDictionary", keys: package.parameters.map { add(text: $0.0) },
            package.parameters.map { add(text: $0.1) })
        var members = [
            ("path", add(text: package.path)), ("kind", add(text: package.kind)), ("suffix", add(text: "")),
            ("clientSdk", add(text: package.sdk)), ("parameters", parameters), ("userAgent", add(text: package.agent)),
            ("$class", add(class: package.className)),
        ]
        if !package.callbackParameters.isEmpty {
            let callback = addCollection(
                "NSDictionary", keys: package.callbackParameters.map { add(text: $0.0) },
                package.callbackParameters.map { add(text: $0.1) })
            members.append(("callbackParameters", callback))
        }
        objects.append("<dict>\(members.map { "<key>\($0.0)</key>\(Self.uid($0.1))" }.joined())</dict>")
        return objects.count - 1
    }
}

/// The results of reading a queue.
struct QueueReading {
    private(set) var records: [Record] = []
    let reject: Reject?

    /// The number of lost elements, which the reject states.
    var lossCount: Int {
        guard let reject else { return 0 }
        return reject.reason.firstMatch(of: /first of (\d+) lost/).flatMap { Int($0.1) } ?? 1
    }

    /// Reads a queue, of whose records only those for which `isKept` returns `true` are kept.
    init(
        _ bytes: [UInt8], capture: String = "c", path: String = "AdjustIoPackageQueue",
        visit: (Record) -> Void = { _ in }, isKept: (Record) -> Bool = { _ in true }
    ) throws {
        let source = Source(capture: capture, path: path, store: .adjustQueue, index: 0)
        var reader = try AdjustQueueReader(bytes, source: source, context: AdjustContext())
        while let record = reader.next() {
            visit(record)
            if isKept(record) { records.append(record) }
        }
        reject = reader.reject
    }

    /// Reads a queue of packages.
    init(_ packages: [StoredPackage], capture: String = "c", path: String = "AdjustIoPackageQueue") throws {
        try self.init(PackageQueue.archive(packages), capture: capture, path: path)
    }
}
