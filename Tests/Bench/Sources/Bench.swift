import Foundation
import JSONText

/// Measures parsers and writers in comparison with Foundation.
///
/// With the path of a keyed archive or a queue of Sift as an argument, measures reading that file instead. With the path
/// of a folder, measures parsing the JSON files in it.
@main
enum Bench {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, let jobs = Int(arguments[2]) {
            return try SiftQueues.measure(path: arguments[1], jobs: jobs)
        }
        if arguments.count > 1 {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: arguments[1], isDirectory: &isFolder), isFolder.boolValue
            else {
                return try PropertyListBench.run(path: arguments[1])
            }
            return try measureFiles(in: arguments[1])
        }
        let texts = SamplePings.texts(count: 2000)
        let bytes = texts.reduce(0) { $0 + $1.count }
        print("\(texts.count) pings, \(bytes / texts.count) bytes each")

        var document = JSONDocument()
        let reading = try rate(bytes) { for text in texts { try document.read(text) } }
        let parsed = try texts.map { try JSONDocument($0) }
        var output: [UInt8] = []
        var written = 0
        let writing = rate(bytes) {
            written = 0
            for document in parsed {
                output.removeAll(keepingCapacity: true)
                document.write(document.root, to: &output)
                written += output.count
            }
        }
        let data = texts.map { Data($0) }
        let foundationReading = try rate(bytes) {
            for text in data { _ = try JSONSerialization.jsonObject(with: text) }
        }
        let objects = try data.map { try JSONSerialization.jsonObject(with: $0) }
        // Without sorted keys, because sorting halves the speed of Foundation. `JSONDocument` sorts keys when it reads.
        let foundationWriting = try rate(written) {
            for object in objects {
                _ = try JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
            }
        }
        // The rate of writing is relative to the compact output.
        let ours = writing * Double(written) / Double(bytes)
        print("read  \(megabytes(reading)) MB/s   Foundation \(megabytes(foundationReading)) MB/s")
        print("write \(megabytes(ours)) MB/s   Foundation \(megabytes(foundationWriting)) MB/s")
    }

    /// Prints the bytes per second of processor time for parsing all files in a folder.
    private static func measureFiles(in folder: String) throws {
        let texts = try FileManager.default.contentsOfDirectory(atPath: folder).map {
            Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
        }
        var document = JSONDocument()
        print(try rate(texts.reduce(0) { $0 + $1.count }) { for text in texts { try document.read(text) } })
    }

    /// Returns the best rate of several runs of `body`, in bytes per second of processor time.
    static func rate(_ bytes: Int, _ body: () throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<15 {
            let start = processorSeconds
            try body()
            best = min(best, processorSeconds - start)
        }
        return Double(bytes) / best
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func megabytes(_ rate: Double) -> Int { Int(rate / 1_000_000) }
}
