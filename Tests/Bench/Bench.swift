import Foundation
import JSONText

/// Speed of reading and writing ping-sized documents, beside Foundation on the same documents in the same run.
@main
enum Bench {
    static func main() throws {
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
        // Not sorted, which halves its speed; ours sorts when it reads.
        let foundationWriting = try rate(written) {
            for object in objects {
                _ = try JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
            }
        }
        // Writing is measured by what comes out, which is compact.
        let ours = writing * Double(written) / Double(bytes)
        print("read  \(megabytes(reading)) MB/s   Foundation \(megabytes(foundationReading)) MB/s")
        print("write \(megabytes(ours)) MB/s   Foundation \(megabytes(foundationWriting)) MB/s")
    }

    /// The best of several runs, in bytes a second.
    static func rate(_ bytes: Int, _ body: () throws -> Void) rethrows -> Double {
        var best = Duration.seconds(1_000_000)
        for _ in 0..<15 { best = try min(best, ContinuousClock().measure(body)) }
        return Double(bytes) / (best / .seconds(1))
    }

    static func megabytes(_ rate: Double) -> Int { Int(rate / 1_000_000) }
}
