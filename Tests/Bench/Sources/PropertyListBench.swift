import Foundation
import PropertyList

/// Measures opening a keyed archive and visiting all of its values.
enum PropertyListBench {
    static func run(path: String) throws {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let opening = try Bench.rate(bytes.count) { _ = try PropertyListDocument(bytes) }
        let document = try PropertyListDocument(bytes)
        var values = 0
        let walking = try Bench.rate(bytes.count) {
            var archive = try KeyedArchive(document)
            let root = try archive.root()
            _ = try archive.expansion(of: root)
            values = 0
            try walk(root, of: &archive, values: &values)
        }
        let both = 1 / (1 / opening + 1 / walking)
        print("\(bytes.count) bytes, \(document.objectCount) objects, \(values) values")
        print(
            "open \(Bench.megabytes(opening)) MB/s   count and walk \(Bench.megabytes(walking)) MB/s"
                + "   together \(Bench.megabytes(both)) MB/s")
        let printing = try Bench.rate(bytes.count) {
            var printer = try PropertyListPrinter(document)
            var output: [UInt8] = []
            while printer.write(atLeast: 256 << 10, to: &output) { output.removeAll(keepingCapacity: true) }
        }
        print("inspect \(Bench.megabytes(printing)) MB/s after opening")
    }

    private static func walk(
        _ stored: PropertyListNode, of archive: inout KeyedArchive, values: inout Int
    ) throws {
        values += 1
        switch try archive.value(of: stored) {
        case .array(let elements, _):
            for position in 0..<elements.count {
                try walk(try archive.element(at: position, of: elements), of: &archive, values: &values)
            }
        case .dictionary(let pairs):
            for position in 0..<pairs.count {
                try walk(try archive.element(at: position, of: pairs.values), of: &archive, values: &values)
            }
        case .instance(let node, _):
            let members = archive.document.members(of: node)
            for position in 0..<members.count {
                let key = archive.document.key(at: position, of: members)
                if archive.document.text(key, equals: "$class".utf8.span) { continue }
                try walk(archive.document.value(at: position, of: members), of: &archive, values: &values)
            }
        default: break
        }
    }
}
