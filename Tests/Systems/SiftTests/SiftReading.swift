import Telemetry
import TestSupport
import Testing

@testable import Sift

/// What came of the files of a folder of the SDK.
struct SiftReading {
    let records: [Record]
    private(set) var problems: [Problem] = []
    private(set) var rejects: [Reject] = []
    let report: StoreReport

    /// Reads files in the order in which a capture gives them.
    init(_ files: [(SiftFile, [UInt8])], applicationID: String? = nil) {
        var store = SiftStore(capture: "c", applicationID: applicationID, comparesEvents: true)
        for (file, bytes) in files {
            var found = ScanOutput(capture: "c", path: "\(file)")
            store.read(bytes, of: file, part: 0, into: &found)
            problems += found.problems.map(\.problem)
            rejects += found.rejects
        }
        let contents = store.finish()
        records = contents.found.map(\.record)
        report = contents.report
    }

    /// Reads one queue.
    init(queue events: [Archived]) {
        self.init([(.queue(identifier: "q"), SiftArchiveBuilder.queue(events))])
    }

    /// The payloads.
    var payloads: [String] { records.map { String(decoding: $0.payload, as: UTF8.self) } }

    /// The entries of the only request; empty if there is none.
    var data: String {
        payloads.first.map { String($0.dropFirst(#"{"data":["#.count).dropLast(2)) } ?? ""
    }

    /// The queues among the files, in the order in which they were read.
    var queues: [SiftQueue] { report.parts.compactMap { $0.queue as? SiftQueue } }

    /// The codes of what was reported.
    var codes: [String] { problems.map(\.code) }
}
