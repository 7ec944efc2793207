import Bytes
import Foundation
import JSONText
import Telemetry

/// A system for tests of header fields, precedence, deletion requests, a final hold, several servers and
/// instructions in answers.
public enum ProbeSystem {
    /// A table of this system alone.
    public static let table = makeTable()

    /// Creates a table of this system alone, whose uploads are sent to the given base URLs.
    public static func makeTable(
        endpoint: String = "https://probe.example", endpointsOfTypes: [CapturedText: String] = [:]
    ) -> SystemTable {
        SystemTable([Probe(endpoint: endpoint, endpointsOfTypes: endpointsOfTypes)])
    }
}

extension SystemName {
    /// The name of the test system.
    public static let probe = SystemName("probe")
}

private struct Probe: TelemetrySystem {
    let name = SystemName.probe
    let stores: StoreFormat? = StoreFormat(
        kinds: [], mayBelongToStore: { $0.folder == "probe" }, isNamedForStore: nil,
        storeOfFolder: { folder in
            for name in folder.folders where folder.name == "probe" {
                folder.report(Problem("X19", "a folder where a file should be"), of: name)
                folder.claim(folder: name)
            }
            return nil
        }, storesOfFile: nil, storesOfSingleFile: nil, storeByContents: nil, backups: nil, secrets: nil,
        usageData: nil)
    let requests = RequestFormat(
        hosts: [CapturedHost("probe.example")], methods: ["POST"], body: .json, headers: ["x-tag"],
        secretHeaders: [], payloadsRepeat: false, isUpload: { $0.count == 3 && $0.begin(with: "submit") },
        otherTraffic: nil, path: nil,
        deliveredStatuses: 200...200, lineShape: nil, record: record(of:in:))
    let uploads: UploadFormat
    let vocabulary: (any Vocabulary)? = nil
    let pseudonyms: PseudonymFormat? = nil
    let rows: (any RowFormat)? = nil
    let sequence: SequenceFormat? = nil
    let repeatedIDCode = "X23"

    init(endpoint: String, endpointsOfTypes: [CapturedText: String]) {
        uploads = UploadFormat(
            endpoint: endpoint, endpointsOfTypes: endpointsOfTypes, method: "POST",
            isTargetPath: { $0.hasPrefix("/submit/") },
            isTargetHeader: { $0.name == "X-Tag" && $0.value.wholeMatch(of: /[a-z]+/) != nil }, isPathOfRecord: nil,
            list: nil, credentials: nil, precedence: Precedence(first: ["goodbye"], deletionRequests: ["deletion"]),
            withdrawals: nil, holds: [HoldCode("promise", "was promised", isFinal: true)],
            body: .json(isCompressed: false),
            answers: .status(delivered: 200...299), instructions: instructions(in:))
    }
}

/// The form of the instructions in a body, such as `{"next":0.5}`.
private struct InstructionBody: Decodable {
    let retry: Int?
    let next: Double?
    let ends: Bool?
}

private func instructions(in answer: Answer) -> AnswerInstructions {
    guard let body = try? JSONDecoder().decode(InstructionBody.self, from: Data(answer.body)) else {
        return AnswerInstructions()
    }
    return AnswerInstructions(retryDelay: body.retry, nextDelay: body.next, endsClient: body.ends ?? false)
}

private func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
    let parts = (upload.route?.parts ?? []).map { String(decoding: $0, as: UTF8.self) }
    var record = Record(
        system: .probe, type: parts[1], id: parts[2], payload: document.canonicalBytes(of: document.root),
        source: upload.source, notes: upload.headers.map { "\($0.name): \($0.value)" })
    record = upload.completed(record)
    if upload.headers.count == 1 { record.target?.headers = ["X-Tag": upload.headers[0].value] }
    return record
}
