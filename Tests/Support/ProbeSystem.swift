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
    let stores: [any StoreFormat] = [ProbeStores()]
    let requests: any RequestFormat = ProbeRequests()
    let uploads: any UploadFormat
    let vocabulary: (any Vocabulary)? = nil
    let pseudonyms: PseudonymFormat? = nil
    let rows: (any RowFormat)? = nil
    let sequence: SequenceFormat? = nil
    let liveTables: (any LiveTableFormat)? = nil
    let firstYear = 2015
    let repeatedIDCode = "X23"

    init(endpoint: String, endpointsOfTypes: [CapturedText: String]) {
        uploads = ProbeUploads(endpoint: endpoint, endpointsOfTypes: endpointsOfTypes)
    }
}

private struct ProbeStores: StoreFormat {
    let kinds: [StoreKind] = []

    func mayBelongToStore(_ file: MemberName) -> Bool { file.folder == "probe" }

    func store(ofFolder folder: inout InspectedFolder) -> (any Store)? {
        for name in folder.folders where folder.name == "probe" {
            folder.report(Problem("X19", "a folder where a file should be"), of: name)
            folder.claim(folder: name)
        }
        return nil
    }
}

private struct ProbeRequests: RequestFormat {
    let hosts = [CapturedHost("probe.example")]
    let methods = ["POST"]
    let headers = ["x-tag"]

    func isUpload(_ parts: [[UInt8]]) -> Bool { parts.count == 3 && parts.begin(with: "submit") }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        let parts = (upload.route?.parts ?? []).map { String(decoding: $0, as: UTF8.self) }
        var record = Record(
            system: .probe, type: parts[1], id: parts[2], payload: document.canonicalBytes(of: document.root),
            source: upload.source, notes: upload.headers.map { "\($0.name): \($0.value)" })
        record = upload.completed(record)
        if upload.headers.count == 1 { record.target?.headers = ["X-Tag": upload.headers[0].value] }
        return record
    }
}

private struct ProbeUploads: UploadFormat {
    let endpoint: String
    let endpointsOfTypes: [CapturedText: String]
    let precedence = Precedence(first: ["goodbye"], deletionRequests: ["deletion"])
    let holds = [HoldCode("promise", "was promised", isFinal: true)]
    let deliveredStatuses = 200...299
    let answersContainClientData = true

    func isTargetPath(_ path: String) -> Bool { path.hasPrefix("/submit/") }

    func isTargetHeader(_ field: HeaderField) -> Bool {
        field.name == "X-Tag" && field.value.wholeMatch(of: /[a-z]+/) != nil
    }

    func instructions(in answer: Answer) -> AnswerInstructions {
        guard let body = try? JSONDecoder().decode(InstructionBody.self, from: Data(answer.body)) else {
            return AnswerInstructions()
        }
        return AnswerInstructions(retryDelay: body.retry, nextDelay: body.next, endsClient: body.ends ?? false)
    }
}

/// The form of the instructions in a body, such as `{"next":0.5}`.
private struct InstructionBody: Decodable {
    let retry: Int?
    let next: Double?
    let ends: Bool?
}
