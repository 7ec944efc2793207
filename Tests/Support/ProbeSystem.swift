import JSONText
import Telemetry

/// A made-up system that tells what no other one does yet: header fields of its own, records that go first, requests for
/// deletion, and a hold that nobody may release.
public struct ProbeSystem: TelemetrySystem {
    /// `probe`.
    public let name = SystemName.probe
    /// Reports the folders in a folder `probe`, and recognizes no store.
    public let stores: StoreFormat? = StoreFormat(
        kinds: [.probe], mayBelongToStore: { $0.folder == "probe" }, isNamedForStore: nil,
        storeOfFolder: Self.store(ofFolder:), storesOfFile: nil, storesOfSingleFile: nil, storeByContents: nil,
        backups: nil)
    /// Requests to `/submit/<type>/<id>`, with a tag in the header.
    public let requests = RequestFormat(
        hosts: [CapturedHost("probe.example")], methods: ["POST"], body: .json, headers: ["x-tag"],
        payloadsRepeat: false, isUpload: { $0.count == 3 && $0.begin(with: "submit") }, otherTraffic: nil, path: nil,
        deliveredStatuses: 200...200, lineShape: nil, record: Self.record(of:in:))
    /// Uploads with a tag in the header.
    public let uploads = UploadFormat(
        endpoint: "https://probe.example", method: "POST", isTargetPath: { $0.hasPrefix("/submit/") },
        isTargetHeader: { $0.name == "X-Tag" && $0.value.wholeMatch(of: /[a-z]+/) != nil },
        isPathOfRecord: nil, list: nil, credentials: nil,
        precedence: Precedence(first: ["goodbye"], deletionRequests: ["deletion"]),
        holds: [HoldCode("promise", "was promised", isFinal: true)], body: .json(isCompressed: false),
        answers: .status(delivered: 200...299))
    /// Knows no events.
    public let vocabulary: any Vocabulary = ProbeVocabulary()
    /// Nothing stays of a payload.
    public let pseudonyms: any PseudonymFormat = ProbePseudonyms()
    /// No rows.
    public let rows: any RowFormat = ProbeRows()
    /// Another code than that of the other systems.
    public let repeatedIDCode = "X23"

    /// Makes the system, which has no state.
    public init() {}

    /// A table of this system alone.
    public static let table = SystemTable([ProbeSystem()])

    /// Makes a record with the tag, if there is one, and with a note of each captured tag.
    private static func record(
        of upload: CapturedUpload, in document: inout JSONDocument
    ) throws(BodyError) -> Record {
        guard let parts = upload.route?.parts else { throw .invalid("no request around it") }
        var record = Record(
            system: .probe, type: String(decoding: parts[1], as: UTF8.self),
            id: String(decoding: parts[2], as: UTF8.self), time: upload.time,
            payload: document.canonicalBytes(of: document.root), source: upload.source,
            notes: upload.headers.map { "\($0.name): \($0.value)" })
        record = upload.finished(record)
        if upload.headers.count == 1 { record.target?.headers = ["X-Tag": upload.headers[0].value] }
        return record
    }

    private static func store(ofFolder folder: inout FolderLook) -> (any Store)? {
        guard folder.name == "probe" else { return nil }
        for name in folder.folders {
            folder.tell(Problem("X19", "a folder where a file should be"), of: name)
            folder.claim(folder: name)
        }
        return nil
    }
}

extension SystemName {
    /// The made-up system.
    public static let probe = SystemName("probe")
}

extension StoreKind {
    /// A store of the made-up system.
    public static let probe = StoreKind("probe-file")
}

/// Knows no events.
private struct ProbeVocabulary: Vocabulary {
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] { [] }
}

/// Nothing stays of a payload, nor of a target.
private struct ProbePseudonyms: PseudonymFormat {
    let tables: [(types: String, table: PseudonymTable)] = []

    func table(ofType type: String) -> PseudonymTable? { nil }
    func path(of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String? { nil }
}

/// Has nothing to tell.
private struct ProbeRows: RowFormat {
    let tables: [Table] = []

    func addRows(of payload: RecordPayload, to rows: inout RecordRows, nested: inout JSONDocument) -> DeviceCells {
        DeviceCells()
    }
}
