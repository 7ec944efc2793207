import Telemetry
import TestSupport
import Testing

@testable import Sift

/// The results of reading the files of an SDK folder.
struct SiftReading {
    let records: [Record]
    private(set) var problems: [Problem] = []
    private(set) var rejects: [Reject] = []
    let report: StoreReport

    /// Reads files in the given order.
    init(_ files: [(SiftFile, [UInt8])], applicationID: String? = nil) {
        var store = SiftStore(applicationID: applicationID, comparesEvents: true)
        for (file, bytes) in files {
            var found = ScanOutput(capture: "c")
            let source = Source(capture: "c", path: "\(file)", store: file.kind, index: 0)
            withoutErrors { try store.read(bytes, of: file, part: 0, from: source, into: &found) }
            problems += found.problems.map(\.problem)
            rejects += found.rejects
        }
        let contents = store.finish()
        records = contents.records.map(\.record)
        report = contents.report
    }

    /// Reads one queue that contains the given events.
    init(queue events: [Archived]) {
        self.init([(.queue(identifier: "q"), SiftArchiveBuilder.queue(events))])
    }

    /// The payloads of the records.
    var payloads: [String] { records.map { String(decoding: $0.payload, as: UTF8.self) } }

    /// The entries of the first request, or an empty string if there is none.
    var data: String {
        payloads.first.map { String($0.dropFirst(#"{"data":["#.count).dropLast(2)) } ?? ""
    }

    /// The states of the queues, in the order in which they were read.
    var queues: [SiftQueue] { report.parts.compactMap { $0.queue as? SiftQueue } }

    /// The codes of the reported problems.
    var codes: [String] { problems.map(\.code) }
}
