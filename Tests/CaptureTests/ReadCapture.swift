import Files
import Foundation
import Hashing
import JSONText
import Systems
import Telemetry
import Testing

@testable import Capture

/// The results of reading an input as a command does.
///
/// Duplicates are removed, and repeated ids get notes.
struct ReadCapture {
    private(set) var records: [Record] = []
    private(set) var quarantined: [QuarantineEntry] = []
    private(set) var problems: [LocatedProblem] = []
    private(set) var reports: [ScanOutput.ReportEntry] = []
    private(set) var duplicates = 0
    private(set) var lines: [UInt8] = []
    private(set) var bytesRead = 0
    private let quarantine: QuarantineSpool

    init(
        _ capture: CapturedFolder, jobs: Int = 2, filter: RecordFilter = RecordFilter(),
        quarantineLimit: Int = 64 << 20
    ) async throws {
        try await self.init(.folder(capture), jobs: jobs, filter: filter, quarantineLimit: quarantineLimit)
    }

    init(
        _ input: CaptureInput, jobs: Int = 2, filter: RecordFilter = RecordFilter(), quarantineLimit: Int = 64 << 20
    ) async throws {
        var options = ScanOptions(filter: filter, quarantineFileLimit: quarantineLimit)
        quarantine = QuarantineSpool(folder: "/tmp", limit: 1 << 30)
        options.quarantine = quarantine
        let reader = CaptureReader([input], options: options, jobs: jobs)
        var index = DuplicateIndex()
        var document = JSONDocument()
        try await reader.read(0) { output in
            for entry in output.entries {
                let line = output.lines[entry.line]
                var record = try Record(line: Array(line.dropLast()), using: &document)
                #expect(record.payload == Array(output.lines[entry.written.payload]))
                #expect(entry.key == RecordKey(record))
                switch index.insert(entry.key) {
                case .new: break
                case .duplicate:
                    duplicates += 1
                    continue
                case .sameIDOtherPayload:
                    let code = Systems.table[record.system]?.repeatedIDCode ?? ""
                    record.notes.insert("\(code) id used before", at: 0)
                }
                records.append(record)
                lines += line
            }
            quarantined += output.quarantined
            problems += output.problems
            reports += output.reports
            duplicates += output.duplicates
            bytesRead += output.bytesRead
        }
    }

    /// Opens the folder at `path`, using the last component of the path as the label.
    init(path: String, jobs: Int = 2) async throws {
        try await self.init(
            CapturedFolder(path: path, label: Path.lastName(of: path), limit: JobLimit(jobs: jobs)),
            jobs: jobs)
    }

    /// Returns the quarantined bytes of an item, or `nil` if they are not stored.
    func bytes(of item: QuarantineEntry) throws -> [UInt8]? {
        try quarantine.bytes(of: #require(ContentHash(hex: item.sha256)))
    }

    var ids: [String] { records.map(\.id) }
    var reasonCodes: [String] { quarantined.map(\.reject.reason.code) }
    var problemCodes: [String] { problems.map { "\($0.path) \($0.problem.code)" } }
}

extension String {
    /// The case or code at the start of a note or a reason.
    var code: String { String(prefix { $0 != " " && $0 != ":" }) }
}
