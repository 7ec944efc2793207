import Bytes
import JSONText
import PropertyList
import Telemetry
import TestSupport
import Testing

@testable import Adjust

/// Tests that the work and the memory for a queue are proportional to its size.
@Suite struct AdjustGrowthTests {
    /// Reads a queue, and returns the charged nodes and bytes and the size of the records, including their notes.
    private func work(_ bytes: [UInt8]) throws -> Int {
        let source = Source(capture: "c", path: "p", store: .adjustQueue, index: 0)
        var reader = try AdjustQueueReader(bytes, source: source, context: AdjustContext())
        var size = 0
        while let record = reader.next() {
            size += record.payload.count + record.notes.reduce(0) { $0 + $1.utf8.count }
        }
        return reader.archive.budget.nodeCount + reader.archive.budget.byteCount + size
    }

    private func event(_ parameters: [(String, String)]) -> StoredPackage {
        var package = StoredPackage.event()
        package.parameters += parameters
        return package
    }

    @Test("Reading grows with the number of packages, of parameters, and of listed references")
    func repeatedStructures() throws {
        try expectLinearGrowth(of: "packages", from: 100) { count in
            try work(PackageQueue.archive((0..<count).map { event([("a", "\($0)")]) }))
        }
        try expectLinearGrowth(of: "packages that share a name and a value of as many bytes", from: 50) { count in
            let shared = String(repeating: "x", count: 1000)
            return try work(PackageQueue.archive((0..<count).map { event([(shared, shared), ("a", "\($0)")]) }))
        }
        try expectLinearGrowth(of: "parameters", from: 100) { count in
            try work(PackageQueue.archive([event((0..<count).map { ("k\($0)", "v") })]))
        }
        try expectLinearGrowth(of: "references", from: 500) { count in
            try work(PackageQueue.archive([event([])], order: Array(repeating: 0, count: count)))
        }
    }

    /// Returns a queue of packages with parameters whose value JSON cannot represent.
    ///
    /// All parameters of all packages have the same name and the same value: an array of `shared` strings of `size`
    /// bytes and an element of an unknown class.
    private func unrepresentable(packages: Int, parameters: Int, nameSize: Int, shared: Int, size: Int) -> [UInt8] {
        func uid(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }
        func list(_ numbers: [Int]) -> String { "<array>\(numbers.map(uid).joined())</array>" }
        func record(_ name: String) -> String {
            "<dict><key>$classname</key><string>\(name)</string><key>$classes</key><array><string>\(name)</string></array></dict>"
        }
        func text(_ text: String) -> String { "<string>\(text)</string>" }
        let (first, objects) = (
            12,
            [
                text("$null"),
                "<dict><key>$class</key>\(uid(2))<key>NS.objects</key>\(list((0..<packages).map { 12 + $0 }))</dict>",
                record("NSArray"), record("ADJActivityPackage"), record("NSDictionary"), record("Unknown"),
                text("/event"), text("ios4.11.5"), text(String(repeating: "n", count: nameSize)),
                text(String(repeating: "v", count: size)), "<dict><key>$class</key>\(uid(5))</dict>",
                "<dict><key>$class</key>\(uid(2))<key>NS.objects</key>\(list(Array(repeating: 9, count: shared) + [10]))</dict>",
            ]
        )
        #expect(objects.count == first)
        let dictionary = first + packages
        let stored = (0..<packages).map { _ in
            """
            <dict><key>$class</key>\(uid(3))<key>path</key>\(uid(6))<key>clientSdk</key>\(uid(7))\
            <key>parameters</key>\(uid(dictionary))</dict>
            """
        }
        let parameterLists = (
            list(Array(repeating: 8, count: parameters)), list(Array(repeating: 11, count: parameters))
        )
        let last =
            "<dict><key>$class</key>\(uid(4))<key>NS.keys</key>\(parameterLists.0)<key>NS.objects</key>\(parameterLists.1)</dict>"
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(uid(1))</dict>
            <key>$objects</key><array>\((objects + stored + [last]).joined())</array></dict></plist>
            """.utf8)
    }

    @Test("Parameters that JSON cannot represent are named by excerpts, and their shared values are examined once")
    func unrepresentableParameters() throws {
        let bytes = unrepresentable(packages: 1000, parameters: 2, nameSize: 4000, shared: 20, size: 4000)
        var notes = 0
        let reading = try QueueReading(
            bytes, visit: { notes = max(notes, $0.notes.reduce(0) { $0 + $1.utf8.count }) }, isKept: { _ in false })
        #expect(reading.lossCount == 0)
        #expect((1..<1000).contains(notes))
        // Writing the value for each parameter would take 160 MB.
        #expect(try work(bytes) < 20 << 20)
        try expectLinearGrowth(of: "packages with a shared value", from: 20) { count in
            try work(unrepresentable(packages: count, parameters: 2, nameSize: 400, shared: 20, size: 400))
        }
        try expectLinearGrowth(of: "parameters with a shared value", from: 20) { count in
            try work(unrepresentable(packages: 1, parameters: count, nameSize: 400, shared: 20, size: 400))
        }
        try expectLinearGrowth(of: "elements of a shared value", from: 20) { count in
            try work(unrepresentable(packages: 20, parameters: 2, nameSize: 40, shared: count, size: 40))
        }
    }

    @Test("Omitted parameters are charged to the budget, which never decreases")
    func chargesOmittedParameters() throws {
        let bytes = unrepresentable(packages: 300, parameters: 3, nameSize: 1_000_000, shared: 1, size: 10)
        let reading = try QueueReading(bytes, isKept: { _ in false })
        #expect(reading.lossCount > 200)
        #expect(try work(bytes) < 64 * bytes.count + 80 << 20)
    }

    @Test("A note names eight parameters at most")
    func namedParameters() throws {
        let bytes = unrepresentable(packages: 1, parameters: 50, nameSize: 100, shared: 1, size: 10)
        let record = try #require(try QueueReading(bytes).records.first)
        let note = try #require(record.notes.first { $0.hasPrefix("A4 not a string") })
        #expect(
            note == "A4 not a string: "
                + Array(repeating: String(repeating: "n", count: 40), count: 8).joined(separator: ", "))
    }
}
