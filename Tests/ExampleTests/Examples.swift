import Bundle
import Bytes
import CLibrary
import Capture
import Delivery
import DeviceBackup
import Export
import Files
import HTTP
import Hashing
import JSONText
import Mozilla
import PropertyList
import SQLite
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

/// Compiles and runs the examples in documentation comments.
///
/// `ExampleTextTests` compares the comments with this file.
@Suite struct Examples {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let record = Record(
        system: .mozilla, type: "core", id: "1", target: nil, payload: Array("{}".utf8), source: Sample.source,
        held: [.noTarget])

    @Test func jsonDocument() throws {
        let document = try JSONDocument(Array(#"{"b":1.0,"a":[true]}"#.utf8))
        let number = document.value(of: "b", in: document.root).map { document.string(of: $0) }  // 1.0
        let canonical = document.canonicalBytes(of: document.root)  // {"a":[true],"b":1.0}
        #expect(number == "1.0")
        #expect(canonical == Array(#"{"a":[true],"b":1.0}"#.utf8))
    }

    @Test func jsonOutline() throws {
        let outline: JSONOutline = ["time": .whole, "request": ["url": .whole]]
        var reader = JSONArrayStreamReader(path: ["log"], outline: outline, limit: 100)
        let text = Array(#"{"log":[{"request":{"method":"GET","url":"a"},"size":7,"time":1}]}"#.utf8)
        var index = 0
        _ = try reader.next(in: text.span, from: &index)
        #expect(reader.text == Array(#"{"request":{"url":"a"},"time":1}"#.utf8))
    }

    @Test func propertyList() throws {
        let bytes = Array("<plist><dict><key>CFBundleIdentifier</key><string>a.b</string></dict></plist>".utf8)
        var identifier = ""
        let list = try PropertyListDocument(bytes)
        if let name = list.value(of: "CFBundleIdentifier", in: list.root), list.kind(of: name) == .text {
            identifier = list.string(of: name)
        }
        #expect(identifier == "a.b")
    }

    @Test func oldManifestOfABackup() {
        let none: [UInt8] = [0xFF, 0xFF]
        let record = [0, 1, 0x61, 0, 1, 0x62] + none + none + none + [0x81, 0xA4] + [UInt8](repeating: 0, count: 38)
        let bytes = Array("mbdb".utf8) + [5, 0] + record
        var rows: [ManifestRow] = []
        var manifest = BinaryManifest()
        manifest.feed(bytes)
        while case .row(let row) = manifest.next() { rows.append(row) }
        #expect(rows.map(\.details?.kind) == [.file])
    }

    @Test func propertyListAsJSON() throws {
        let bytes = Array("<plist><array><true/><string>a</string></array></plist>".utf8)
        let document = try PropertyListDocument(bytes)
        var json = PropertyListJSONWriter(document, keyOrder: .file, nonJSONValues: .refused)
        try json.write(document.root)
        let text = String(decoding: json.text, as: UTF8.self)
        #expect(text == #"[true,"a"]"#)
    }

    @Test func httpClient() async throws {
        let (route, receiver) = (HTTPRoute(server: "http://127.0.0.1:1"), IgnoringReceiver())
        let client = try HTTPClient(HTTPSettings())
        let request = HTTPRequest(method: "POST", target: "/submit")
        let end = await client.send(request, over: route, for: receiver)
        await client.close()
        // No server listens on this port.
        #expect(end == .failed(.cannotConnect(ECONNREFUSED)))
    }

    /// A receiver that ignores the contents of the response.
    private final class IgnoringReceiver: HTTPReceiver {
        let end = ContinuousClock.now + .seconds(600)
        func didStartSending(at instant: ContinuousClock.Instant) {}
        func didReceiveHead(_ head: HTTPResponseHead, at instant: ContinuousClock.Instant) {}
        func didReceiveBody(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool { true }
    }

    @Test func database() throws {
        let path = folder("d")
        let file = try DatabaseFile(path: path, .writing)
        try file.write { try $0.run("CREATE TABLE items (key BLOB PRIMARY KEY) WITHOUT ROWID") }
        let count: Int? = try file.read { try $0.first("SELECT count(*) FROM items") }
        #expect(count == 0)
    }

    @Test func newDatabase() throws {
        let partial = folder("new.sqlite")
        let database = try NewDatabase(path: partial)
        try database.run("CREATE TABLE events (name TEXT)")
        let insertion = try database.insertion(into: "events", columns: 1)
        try insertion.add(rows: 1, text: "foreground".utf8.span) { _ in .text(start: 0, count: 10) }
        try database.finish()
        let name: String? = try DatabaseFile(path: partial, .reading).read { try $0.first("SELECT name FROM events") }
        #expect(name == "foreground")
    }

    @Test func table() {
        let searches = RowTable<(engine: String, count: Int?)>(
            ofRecords: "searches", aRowForEach: "search count of a core ping",
            [
                .text("engine", "the search engine") { $0.engine },
                .integer("count", "the number of searches") { $0.count },
            ])
        #expect(searches.table.columns.map(\.name) == ["record", "n", "engine", "count"])
        #expect(searches.table.columns.map(\.isRequired) == [true, true, true, false])
    }

    @Test func tableExport() async throws {
        let (path, record) = (folder("phone.csv"), Self.record)
        var line: [UInt8] = []
        let written = record.write(to: &line)
        var export = try TableExport(
            .csv, path: path, replacing: false, systems: Systems.table, limit: JobLimit(jobs: 2))
        export.add(RecordSummary(record), line: line[...], payload: line[written.payload])
        try await export.writeFinishedRows()
        export.add(meta: "tool", "1.0")
        let counts = try await export.finish()
        #expect(counts["records"] == 1)
        #expect(try folder.text("phone.csv/meta.csv").hasPrefix("key,value\ntool,1.0\n"))
    }

    @Test func liveTableExport() async throws {
        let (path, record, schemas) = (folder("rows"), Self.record, fixture("bigquery/schemas"))
        var line: [UInt8] = []
        let written = record.write(to: &line)
        var export = try LiveTableExport(
            path: path, replacing: false, systems: Systems.table, schemas: try SchemaFolder(path: schemas),
            limit: JobLimit(jobs: 2))
        export.add(RecordSummary(record), line: line[...], payload: line[written.payload])
        try await export.writeFinishedRows()
        let counts = try await export.finish()
        #expect(counts.held == 1)
    }

    @Test func sequenceNumber() throws {
        let payload = try JSONDocument(Array(#"{"seq":212,"v":7}"#.utf8))
        let number = MozillaSystem().sequence?.number(in: payload, type: "core")  // .number(212)
        #expect(number == .number(212))
    }

    @Test func sequences() {
        var record = Self.record
        record.client = "C1"
        let summary = RecordSummary(record)
        var missing: [ClosedRange<Int64>] = []
        addSequences(of: summary, to: &missing)
        #expect(missing == [8...9])
    }

    private func addSequences(of record: RecordSummary, to missing: inout [ClosedRange<Int64>]) {
        var clients = ClientIndex()
        var sequences = SequenceIndex(Systems.table)
        let client = clients.number(of: record.client, system: record.system)
        sequences.add(.number(7), of: record, client: client)
        sequences.add(.number(10), of: record, client: client)
        sequences.forEachSequence(of: clients) { missing += $0.runs.flatMap(\.missing).map(\.numbers) }  // 8...9
    }

    @Test func canonicalObject() {
        let object: CanonicalObject = ["path": "a.har", "bytes": 12, "label": nil as String?, "parents": ["b", "c"]]
        let text = String(decoding: object.bytes, as: UTF8.self)
        #expect(text == #"{"bytes":12,"label":null,"parents":["b","c"],"path":"a.har"}"#)
    }

    @Test func expectedList() throws {
        var numbers: [Int64] = []
        let bytes = Array("system,client,type,seq\nmozilla,C1,core,7".utf8)
        var list = ExpectedList(Systems.table)
        try list.read(bytes.span) { numbers.append($0.number) }
        try list.finish { numbers.append($0.number) }  // 7
        #expect(numbers == [7])
    }

    @Test func atomicFolder() throws {
        let (path, bytes) = (folder("new.csv"), Array("text".utf8))
        let output = try AtomicFolder(path: path, files: ["events.csv", "records.csv"], replacing: false)
        try output.write(bytes.span, to: 0)
        try output.commit()
        #expect(try folder.text("new.csv/events.csv") == "text")
    }

    @Test func joinedFiles() throws {
        let (path, bytes) = (folder("night"), Array("text".utf8))
        var output = try AtomicFiles(path: path, replacing: false) { $0.hasPrefix("night.0") }
        try output.begin("night.001")
        try output.write(bytes.span)
        try output.begin("night.002")
        try output.write(bytes.span)
        try output.commit()
        let (first, second) = (folder("night.001"), folder("night.002"))
        let joined = ByteSource(try JoinedFiles([first, second]))
        #expect(try joined.bytes(at: 3, count: 100) == Array("ttext".utf8))
    }

    @Test func volumes() async throws {
        _ = try await Sample.bundle([Self.record], at: folder("whole"))
        let bytes = Array(try folder.data("whole"))
        let size = try #require(VolumeSize(text: "4K"))
        var path = folder("a.tar.zst")
        var output = try VolumeWriter(path: path, size: size, replacing: false)
        try output.write(bytes.span)
        let volumes = try output.commit()
        path = volumes[0].path
        let file = try BundleFile(path: path)
        let bundle = try BundleReader(file, knowing: Systems.table)
        #expect(bundle.manifest.totals.records == 1)
        #expect(bundle.volumes?.sizes == volumes.map(\.size))
    }

    @Test func signers() async throws {
        let path = try await Sample.bundle([Self.record], at: folder("a.tar.zst"))
        try tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder("key"))
        let list = try folder.put("ines@example.org \(try folder.text("key.pub"))", "signers")
        try tool("ssh-keygen", "-q", "-Y", "sign", "-n", AllowedSigners.namespace, "-f", folder("key"), path)
        let environment = ["PATH": searchPath]
        let signers = try AllowedSigners(allowed: list, revoked: nil, environment: environment)
        let bundle = try BundleReader(BundleFile(path: path), knowing: Systems.table, signedBy: signers)
        let principal = bundle.signer?.principal
        #expect(principal == "ines@example.org")
    }

    @Test func receiving() async throws {
        let medium = folder("stick")
        try folder.makeFolder("stick")
        let bundlePath = try await Sample.bundle([Self.record], at: folder("stick/a.tar.zst"))
        try tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder("key"))
        let list = try folder.put("ines@example.org \(try folder.text("key.pub"))", "signers")
        try tool("ssh-keygen", "-q", "-Y", "sign", "-n", AllowedSigners.namespace, "-f", folder("key"), bundlePath)
        let signers = try AllowedSigners(allowed: list, revoked: nil, environment: ["PATH": searchPath])
        let path = folder("received")
        let folder = try StagedFolder(path: path, for: BundleReceiver.stageName)
        var receiver = try BundleReceiver(
            from: Folder(pathWithoutLinks: medium), into: folder, signedBy: signers, knowing: Systems.table,
            limit: JobLimit(jobs: 2), accepted: AcceptedBundles())
        for bundle in receiver.offer.bundles {
            let received = try await receiver.receive(bundle)
            print(received.manifest.digest)
        }
        #expect(receiver.offer.bundles.map(\.name) == ["a.tar.zst"])
    }

    @Test func otherProgram() throws {
        let text = "a\nb\n"
        let program = try InstalledProgram("sort", searching: "/usr/bin:/bin")
        let result = try program.run(["-r"], environment: ["LC_ALL": "C"]) { write in
            _ = try write(text.utf8.span)
        }
        #expect(result == ProgramResult(status: 0, output: Array("b\na\n".utf8), errors: []))
    }

    @Test func sha256() {
        let (header, body) = (Array("a".utf8), Array("bc".utf8))
        var hash = SHA256()
        hash.update(header.span)
        hash.update(body.span)
        let digest = hash.finalize()
        #expect(digest == ContentHash(of: Array("abc".utf8)))
    }

    @Test func civilDate() {
        let leapDay = CivilDate(year: 2020, month: 2, day: 29)
        let nextDay = leapDay.map { CivilDate(daysSinceEpoch: $0.daysSinceEpoch + 1) }  // 2020-03-01
        #expect(nextDay == CivilDate(year: 2020, month: 3, day: 1))
    }

    @Test func atomicOutput() throws {
        let (path, bytes) = (folder("new"), Array("text".utf8))
        let output = try AtomicOutput(path: path, replacing: false)
        try output.write(bytes.span)
        try output.commit()
        #expect(try folder.text("new") == "text")
    }

    @Test func telemetrySystem() {
        let path = "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11/core/Focus/5.0/release/2?v=4"
        let system: any TelemetrySystem = MozillaSystem()
        let isSent = system.uploads.accepts(Target(path: path))
        let hasArrived = system.requests.isDelivered(status: 200)
        #expect(isSent && hasArrived)
    }

    @Test func systemTable() {
        let systems = SystemTable([MozillaSystem(), SiftSystem()])
        let endpoint = systems[.sift]?.uploads.endpoint
        let kind = systems.storeKind("mozilla-ping-file")
        #expect(endpoint == "https://api3.siftscience.com")
        #expect(kind == .mozillaPingFile)
    }

    @Test func payloadFields() {
        let fields: PayloadFields = [
            .required("clientId", .string(.uuid), .pseudonym(.client), "the id of the client"),
            .optional("tz", .integer(), .keep(.number), "the offset of the time zone in minutes"),
        ]
        #expect(fields.sorted.map(\.presence) == [.required, .optional])
    }

    @Test func pseudonyms() throws {
        let bytes = [UInt8](repeating: 0, count: 32)
        var record = Self.record
        let key = try PseudonymKey(bytes)
        let pseudonym = key.pseudonym(of: Array("B4C8F3A0-5E1D-4A6B-9C27-0D3E8F1A5B62".utf8), .client)
        let rules: PseudonymTable = ["clientId": .pseudonym(.client), "seq": .keep(.number)]
        var pseudonymizer = RecordPseudonymizer(key, knowing: Systems.table)
        let counts = try pseudonymizer.pseudonymize(&record)
        #expect(pseudonym.count == 36)
        #expect(rules.fields.map { "\($0.key)" } == ["clientId", "seq"])
        #expect(counts == PseudonymCounts())
        #expect(record.held == [.noTarget, .pseudonymized])
    }

    @Test func record() throws {
        let record = Self.record
        var line: [UInt8] = []
        record.write(to: &line)
        var document = JSONDocument()
        let same = try Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table)
        #expect(same == record)
    }

    @Test func capturedUpload() throws {
        let url = "https://tiles.services.mozilla.com/v3/links/ping-centre"
        let body = Array(#"{"topic":"activity-stream-mobile-events","event":"CLICK"}"#.utf8)
        let source = Source(capture: "phone", path: "a.har", store: .harEntry, index: 0)
        var record: Record?
        let route = try UploadRoute(method: "POST", url: url, Systems.table)
        let upload = CapturedUpload(route: route, time: nil, source: source)
        var document = try JSONDocument(body)
        if let system = Systems.table[route.system] {
            record = try upload.record(by: system.requests, in: &document)
        }
        #expect(record?.type == "activity-stream-mobile-events")
        #expect(record?.target == Target(path: "/v3/links/ping-centre"))
    }

    @Test func bundles() async throws {
        var ids: [String] = []
        let path = try await Sample.bundle([Self.record], at: folder("a.tar.zst"))
        let bundle = try BundleReader(path: path, knowing: Systems.table)
        for segment in bundle.manifest.segments {
            _ = try bundle.forEachRecord(of: segment) { record, _, _ in ids.append(record.id) }
        }
        #expect(ids == ["1"])
    }

    @Test func newBundle() async throws {
        let (records, folder) = ([Self.record], folder.path)
        let input = BundleInput(kind: .folder, label: "phone")
        var file: [UInt8] = []
        var bundle = try BundleAssembler(level: 3, toolVersion: "1.0", limit: JobLimit(jobs: 2))
        for record in records {
            var line: [UInt8] = []
            record.write(to: &line)
            bundle.add(RecordSummary(record), line: line[...])
        }
        try await bundle.writeFinishedSegments { file.append(copying: $0) }
        try await bundle.add(QuarantineSpill(folder: folder, knowing: Systems.table)) { _, _ in
            []
        } to: {
            file.append(copying: $0)
        }
        let manifest = try bundle.finish(problems: DetailSpill(folder: folder), duplicateCount: 0, inputs: [input]) {
            file.append(copying: $0)
        }
        let reader = try BundleReader(ByteSource(file), path: "-", knowing: Systems.table)
        #expect(reader.manifest.digest == manifest.digest)
    }

    @Test func indexOfBundle() throws {
        let manifest = (digest: String(repeating: "0", count: 64), version: 4)
        let records = [RecordKey(Self.record): CopyRank.notHeld.indexNumber]
        let details: Set<Digest16> = []
        let index = BundleIndex(digest: manifest.digest, ancestors: [], records: records, details: details)
        let bytes = index.bytes
        let copy = try BundleIndex(bytes)
        #expect(copy == index)
    }

    @Test func earlierBundles() async throws {
        let path = try await Sample.bundle([Self.record], at: folder("monday.tar.zst"))
        let reader = try BundleReader(path: path, knowing: Systems.table)
        let record = Self.record
        var omittedCount = 0
        var earlier = EarlierBundles()
        let verifier = BundleVerifier(reader, limit: JobLimit(jobs: 2))
        try await earlier.add(reader, named: "monday.tar.zst", by: verifier)
        try earlier.requireParents()
        if earlier.finding(for: RecordKey(record), rank: CopyRank(record.held)) == .duplicate { omittedCount += 1 }
        #expect(omittedCount == 1)
    }

    @Test func chainOfBundles() async throws {
        let path = try await Sample.bundle([Self.record], at: folder("monday.tar.zst"))
        let monday = try BundleReader(path: path, knowing: Systems.table)
        let tuesday = monday
        var chain = BundleChain()
        chain.append(monday.manifest, named: "monday.tar.zst")
        chain.append(tuesday.manifest, named: "tuesday.tar.zst")
        for fault in chain.faults() { print(fault) }
        #expect(chain.faults().map(\.kind) == [.repeated])
    }

    @Test func captures() async throws {
        let archive = try await Sample.bundle([Self.record], at: folder("a.tar.zst"))
        try folder.put("[]", "phone/MozTelemetry-Default-core.json")
        let inputs = try await self.inputs(folder("phone"), archive)
        #expect(inputs.count == 2)
        #expect(try await lines(of: inputs, [folder("phone"), archive]) == [Self.record.line + "\n"])
    }

    @Test func capturedText() {
        let composed: CapturedText = "caf\u{E9}"
        let decomposed: CapturedText = "cafe\u{301}"
        let areEqual = composed == decomposed  // false
        #expect(!areEqual)
        struct Kind: Hashable {
            @CapturedText var type: String
        }
        #expect(Set([Kind(type: composed.string), Kind(type: decomposed.string)]).count == 2)
    }

    @Test func labels() {
        let labels = PathLabels.labels(ofPaths: ["a/AppData", "b/AppData", "phone/"])
        #expect(labels == ["a/AppData", "b/AppData", "phone"])
    }

    private func inputs(_ folder: String, _ archive: String) async throws -> [CaptureInput] {
        let opening = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
        let inputs = try await opening.open([folder, archive])
        return inputs
    }

    private func lines(of inputs: [CaptureInput], _ paths: [String]) async throws -> [String] {
        var lines: [UInt8] = []
        let options = ScanOptions()
        var intake = Intake(options, keepsDetails: false, systems: Systems.table)
        let reader = CaptureReader(inputs, paths: paths, options: options, limit: JobLimit(jobs: 2))
        try await reader.read(into: &intake) { _, line, _ in lines += line }
        #expect(!intake.isIncomplete)
        return [String(decoding: lines, as: UTF8.self)]
    }

    @Test func planner() async throws {
        let ping = Sample.sift([#"{"time":1}"#])
        let paths = [try await Sample.bundle([ping], at: folder("a.tar.zst"))]
        let now = Sample.time(0)
        var records: [Record] = []
        let bundles = try await VerifiedBundles(
            paths, knowing: Systems.table, limit: JobLimit(jobs: 2), isReleased: { _, _ in false })
        let plan = Planner.plan(bundles.pool, LedgerState(), rules: PlanRules(), now: now)
        for send in plan.queues.flatMap(\.sends) { records.append(try bundles.source.record(of: send)) }
        #expect(records == [ping])
    }
}
