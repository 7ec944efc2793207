import Bundle
import Capture
import Files
import Foundation
import Glean
import JSONText
import Leanplum
import Mozilla
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

/// The results of reading a request log, before duplicates are removed.
struct ReadLog {
    private(set) var records: [Record] = []
    private(set) var quarantined: [QuarantineEntry] = []
    private(set) var problems: [Problem] = []
    private(set) var lines: [UInt8] = []

    init(_ bytes: [UInt8], kind: RequestLogKind = .httpArchive, path: String = "a.har", limit: Int = 4000) async throws
    {
        try await self.init(
            RequestLog(ByteSource(bytes), kind: kind, label: "capture", path: path, itemLimit: limit))
    }

    init(_ log: RequestLog, limit: JobLimit = JobLimit(jobs: 2)) async throws {
        let options = ScanOptions(limit: limit)
        var outputs: [ScanOutput] = []
        try await log.read(input: 0, options, limit: limit) { outputs.append($0) }
        var document = JSONDocument()
        for output in outputs {
            for entry in output.entries {
                records.append(try Record(line: Array(output.lines[entry.line].dropLast()), using: &document))
            }
            lines += output.lines.bytes
            quarantined += output.quarantined
            problems += output.problems.map(\.problem)
        }
    }

    var reasonCodes: [String] { quarantined.map(\.reject.reason.code) }
}

/// Returns an entry that contains a core ping.
func coreEntry(_ number: Int = 1, status: Int = 0, started: String = "2017-06-16T06:38:14Z", extra: String = "")
    -> String
{
    let id = CaptureFolder.id(number)
    return #"""
        {"startedDateTime":"\#(started)","request":{"method":"POST",\#
        "url":"https://incoming.telemetry.mozilla.org/submit/telemetry/\#(id)/core/Focus/5.0/release/2?v=4",\#
        "headers":[{"name":"Cookie","value":"SECRETCOOKIE"}],"postData":{"mimeType":"application/json","text":\#
        "{\"arch\":\"arm64\",\"clientId\":\"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083\",\"device\":\"iPhone10,6\",\#
        \"locale\":\"en-US\",\"os\":\"iOS\",\"osversion\":\"11.3.1\",\"seq\":\#(number),\"v\":7}"}},\#
        "response":{"status":\#(status),"content":{"text":"x"}}\#(extra)}
        """#
}

func archive(_ entries: String..., version: String = "1.2") -> [UInt8] {
    Array(#"{"log":{"version":"\#(version)","entries":[\#(entries.joined(separator: ",\n"))],"creator":{}}}"#.utf8)
}

@Suite struct HTTPArchiveTests {
    @Test("The logs of each producer yield the expected records", arguments: RequestLogFixtures.names)
    func fixtures(name: String) async throws {
        let expected = try RequestLogFixtures.expected(name)
        let source = ByteSource(try InputFile(path: RequestLogFixtures.path(name)))
        let kind = try #require(try RequestLogKind(source, named: name))
        #expect(kind == .httpArchive)
        let log = try await ReadLog(RequestLog(source, kind: kind, label: name, path: name))
        let uploads = expected.enumerated().filter { $1.record != nil }
        // The expectations predate Glean. Each long log contains one Glean request.
        let records = log.records.filter { $0.system != .glean }
        let glean = log.records.filter { $0.system == .glean }.map(\.type)
        try #require(glean == (expected.count < 10 ? [] : ["baseline"]))
        try #require(records.map(\.source.index) == uploads.map(\.offset))
        for (record, (_, expected)) in zip(records, uploads) {
            try compare(record, expected, among: uploads.map(\.element))
        }
        let refused = expected.filter { $0.system != nil && $0.record == nil }
        #expect(log.reasonCodes == refused.flatMap(\.issues))
        #expect(log.quarantined.allSatisfy { !$0.isStored && $0.size > 0 })
        let others = expected.filter { $0.system == nil }.count - glean.count
        #expect(log.problems.map(\.code) == (others > 0 ? ["other-traffic"] : []))
        #expect(others == 0 || log.problems[0].text.hasPrefix("\(others) "))
        let text = String(decoding: log.lines, as: UTF8.self) + "\(log.quarantined)\(log.problems)"
        for secret in RequestLogFixtures.secrets { #expect(!text.contains(secret), "\(secret)") }
    }

    private func compare(
        _ record: Record, _ expected: RequestLogFixtures.Expected, among all: [RequestLogFixtures.Expected]
    ) throws {
        var line: [UInt8] = []
        record.write(to: &line)
        let document = try JSONDocument(line)
        for (key, text) in try #require(expected.record) {
            #expect(Oracle.text(of: key, in: document) == text, "\(key)")
        }
        let arrived = all.contains { $0.isDelivered && $0.record?["id"] == expected.record?["id"] }
        #expect(record.held.map(\.text) == (arrived ? ["delivered: 200"] : []))
        let spelled = record.notes.first { $0.hasPrefix("E.2 ") }?.split(separator: " ").last.map(String.init)
        #expect(spelled ?? "text" == expected.spelling)
        let issues = record.notes.map(\.code).filter { ["spurious_query", "method", "bad_time"].contains($0) }
        #expect(issues == expected.issues)
    }

    @Test("A failed attempt is held if a retry later in the log was delivered")
    func retry() async throws {
        let log = try await ReadLog(archive(coreEntry(1, status: 503), coreEntry(2), coreEntry(1, status: 200)))
        #expect(log.records.map { $0.held.map(\.text) } == [["delivered: 200"], [], ["delivered: 200"]])
        #expect(
            log.records.map(\.notes) == [
                ["server answered 503", "an equal request of this log was answered 200"], ["no answer was seen"], [],
            ])
    }

    @Test("The order is kept if several jobs read a log in several batches", arguments: [1, 2, 5])
    func batches(jobs: Int) async throws {
        // Three batches: the invalid entry is in the second, the retry in the last.
        let count = 6000
        var entries = (1...count).map { coreEntry($0, status: 503) }
        entries[3000] = #"{"request":7}"#
        entries.append(coreEntry(2500, status: 200))
        let limit = JobLimit(jobs: jobs)
        let log = try await ReadLog(
            RequestLog(
                ByteSource(archive(entries.joined(separator: ","))), kind: .httpArchive, label: "capture",
                path: "a.har"), limit: limit)
        #expect(log.records.map(\.source.index) == (0...count).filter { $0 != 3000 })
        #expect(
            log.quarantined.map(\.reject.reason) == ["entry_invalid no request with method and url (entry 3000)"])
        #expect(log.records.filter { !$0.held.isEmpty }.map(\.source.index) == [2499, count])
    }

    @Test("The time of a record is the time of the request, in any notation")
    func times() async throws {
        let times = [
            "2017-06-16T06:38:14.250Z", "2017-06-16T06:38:14.303-07:00", "2017-06-16T06:38:14.067544+00:00",
            "2017-06-16T06:38:14", "2017-06-16", "", "yesterday",
        ]
        let entries = times.enumerated().map { coreEntry($0 + 1, started: $1) }.joined(separator: ",")
        let records = try await ReadLog(archive(entries)).records
        #expect(
            records.map { $0.time?.description } == [
                "2017-06-16T06:38:14.250Z", "2017-06-16T13:38:14.303Z", "2017-06-16T06:38:14.067Z", nil, nil, nil, nil,
            ])
        #expect(
            records.map { $0.notes.contains { $0.code == "bad_time" } } == [
                false, false, false, true, true, true, true,
            ])
    }

    @Test("Every unambiguous form of ISO 8601 is read")
    func formsOfTimes() async throws {
        let times = [
            ("2013-11-05T22:21:10.747+0100", "2013-11-05T21:21:10.747Z"),
            ("2022-02-24T10:00:00+00", "2022-02-24T10:00:00.000Z"),
            ("2021-04-22T09:15:28,271-04:00", "2021-04-22T13:15:28.271Z"),
            ("2020-05-09T18:07Z", "2020-05-09T18:07:00.000Z"),
            ("2020-05-09T18:07:29.896-0000", "2020-05-09T18:07:29.896Z"),
            ("20200509T180729Z", "2020-05-09T18:07:29.000Z"), ("20200509T1807-08", "2020-05-10T02:07:00.000Z"),
            ("2020-05-09 18:07:29 +0800", "2020-05-09T10:07:29.000Z"),
            (" 2020-05-09T18:07:29\u{2212}07:00 ", "2020-05-10T01:07:29.000Z"),
        ]
        let invalid = [
            "2024-02-22T9:34:07Z", "2024-02-22T09:34:07 AM", "2024-02-22T09:34:07.123", "Thu, 04 May 2020 18:07:29 GMT",
            "2024-02-22T09:34.5Z", "T", " Z", "2024-02-22T25:00Z", "2024-02-22T", "20240222T0934:07Z",
        ]
        let started = times.map(\.0) + invalid
        let entries = started.enumerated().map { coreEntry($0 + 1, started: $1) }.joined(separator: ",")
        let records = try await ReadLog(archive(entries)).records
        #expect(records.map { $0.time?.description } == times.map(\.1) + invalid.map { _ in nil })
    }

    @Test(
        "An entry that is not JSON is reported, and the others are read",
        arguments: [
            #"{"time":NaN,"a":{"b":["\"}]"]}}"#, "NaN", #"{"a":-Infinity}"#, #"{"a":[1,]}"#, "{'a':1}", "{\"a\"}",
            #"{"request":{"url":undefined}}"#, #"{"time":1]}"#,
        ])
    func entryThatIsNotJSON(entry: String) async throws {
        let bytes = archive(coreEntry(1), entry, coreEntry(2))
        // The pieces of compressed data end at other places.
        let log = try await ReadLog(bytes)
        #expect(log.records.map(\.source.index) == [0, 2])
        #expect(log.reasonCodes == ["entry_invalid"])
        let item = try #require(log.quarantined.first)
        let span = Array(bytes[item.reject.range(inFileOf: bytes.count)])
        #expect(String(decoding: span, as: UTF8.self).hasPrefix(entry.prefix(4)))
    }

    @Test("Logs in a folder are recognized without regard to case, or by the first keys of a JSON file")
    func namesInFolder() async throws {
        let folder = try CaptureFolder()
        try folder.put("A.HAR", archive(coreEntry(1)))
        try folder.put("b.har.txt", archive(coreEntry(2)))
        try folder.put("c.json", archive(coreEntry(3)))
        try folder.put("d.Ndjson", #"{"url":"https://api.leanplum.com/api","body":"{\"data\":[]}"}"#)
        try folder.put("Library/e.json", archive(coreEntry(5)))
        try folder.put("f.json", #"{"log":{"level":7}}"#)
        let capture = try await folder.open()
        #expect(capture.stores.map(\.path) == ["A.HAR", "b.har.txt", "c.json", "d.Ndjson"])
        let ids = Array(try await ReadCapture(capture).ids.prefix(3))
        #expect(ids == [1, 2, 3].map(CaptureFolder.id))
    }

    @Test("Logs of lines and compressed logs in a folder are recognized by their contents")
    func logsWithOtherNames() async throws {
        let folder = try CaptureFolder()
        let lines = (1...3).map { CaptureFolder.ping($0).replacing("\n", with: "") }.joined(separator: "\r\n")
        try folder.put("a.json", lines)
        try folder.put("b/b.txt", "\u{FEFF}\(lines)")
        try folder.put("c.log", archive(coreEntry(4)))
        try folder.put("d.json", archive(coreEntry(5)))
        try folder.put("e.txt", lines)
        for name in ["d.json", "e.txt"] { try tool("gzip", "\(folder.path)/\(name)") }
        try folder.put("f.json.gz", lines)
        try folder.put("g.ndjson", [0xFF, 0xFE] + lines.utf8.flatMap { [$0, 0] as [UInt8] })
        // Other files, and those of apps and of a device, are no logs.
        try folder.put("h.json", #"{"url":"https://example.com/","body":"text"}"#)
        try folder.put("i.txt", "{}\ntext")
        try folder.put("Documents/j.json", lines)
        try folder.put("deep/in/a/folder/k.log", lines)
        try folder.put("Library/Logs/l.log", lines)
        let packed = try TestArchive(of: folder.path, named: "capture.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await packed.open()] {
            #expect(
                capture.stores.map(\.path) == [
                    "a.json", "b/b.txt", "c.log", "d.json.gz", "deep/in/a/folder/k.log", "e.txt.gz", "f.json.gz",
                    "g.ndjson",
                ])
            let found = try await ReadCapture(capture)
            #expect(Set(found.ids) == Set((1...5).map(CaptureFolder.id)))
            #expect(
                found.quarantined.map { "\($0.path) \($0.reject.reason)" } == [
                    "g.ndjson line_damaged the text is in UTF-16; convert it with iconv -f UTF-16 -t UTF-8"
                ])
        }
    }

    @Test("An HTTP archive with any other name is recognized by its first bytes, and unreadable compressions are named")
    func unnamedArchives() async throws {
        let folder = try CaptureFolder()
        for (number, name) in ["capture", "b.har (1)", "c.har~", "x/y/d.bin"].enumerated() {
            try folder.put(name, archive(coreEntry(number)))
        }
        try folder.put("Documents/e", archive(coreEntry(9)))
        for name in ["f.har.xz", "g/a/b/g.jsonl.BR"] { try folder.put(name, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 1]) }
        let zip = try TestArchive(of: folder.path, named: "a.zip", #"bsdtar --format zip -cf "$0" *"#)
        let tar = try TestArchive(of: folder.path, named: "a.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await zip.open(), try await tar.open()] {
            #expect(capture.stores.map(\.path) == ["b.har (1)", "c.har~", "capture", "x/y/d.bin"])
            let found = try await ReadCapture(capture)
            #expect(Set(found.ids) == Set((0...3).map(CaptureFolder.id)))
            #expect(
                found.problems.map { "\($0.path): \($0.problem.text)" } == [
                    "f.har.xz: not read: a compressed request log (and 1 more file of this kind); "
                        + "decompress it, or compress it with gzip or zstd"
                ])
            #expect(capture.isIncomplete == false && found.problems.allSatisfy { $0.problem.isLoss })
        }
    }

    @Test("Bytes after a compressed log, a version that is null, and members before the log are ignored")
    func harmlessDifferences() async throws {
        let text = String(decoding: archive(coreEntry(1)), as: UTF8.self)
        let folder = try CaptureFolder()
        try folder.put("a.har", text)
        for program in ["gzip", "zstd -q"] {
            let packed = try tool(
                "bash", "-c", #"(\#(program) < "$0"; printf '\r\n') | base64 -w 0"#, "\(folder.path)/a.har")
            let bytes = try #require(Data(base64Encoded: packed.trimmingCharacters(in: .whitespacesAndNewlines)))
            let log = try await ReadLog(Array(bytes))
            #expect(log.records.count == 1)
            #expect(log.quarantined.isEmpty)
        }
        for changed in [
            text.replacing(#""version":"1.2""#, with: #""version":null"#),
            text.replacing(#"{"log":"#, with: #"{"comment":"by a tool","log":"#),
        ] {
            try #require(changed != text)
            #expect(try await ReadLog(Array(changed.utf8)).records.count == 1)
        }
    }

    @Test("An archive without the enclosing object is read")
    func unwrapped() async throws {
        let text = String(decoding: archive(coreEntry(1), coreEntry(2)), as: UTF8.self)
        let inner = "{\"creator\":{}," + text.dropFirst(#"{"log":{"#.utf8.count).dropLast()
        let log = try await ReadLog(Array(inner.utf8))
        #expect(log.records.map(\.source.index) == [0, 1])
        #expect(log.quarantined.isEmpty)
        #expect(try RequestLogKind(ByteSource(Array(inner.utf8)), named: "x") == .httpArchive)
    }

    @Test("The exchanges of a Charles session are read", arguments: [false, true])
    func charles(isEncoded: Bool) async throws {
        let id = CaptureFolder.id(1)
        let path = "/submit/telemetry/\(id)/core/Focus/5.0/release/2"
        let payload = #"{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","seq":1,"v":7}"#
        let body =
            isEncoded
            ? #"{"encoding":"base64","encoded":"\#(Data(payload.utf8).base64EncodedString())"}"#
            : #"{"text":"\#(payload.replacing("\"", with: "\\\""))","charset":"UTF-8"}"#
        let exchange = #"""
            {"status":"COMPLETE","method":"POST","protocolVersion":"HTTP/1.1","scheme":"https",\#
            "host":"incoming.telemetry.mozilla.org","port":443,"path":"\#(path)","query":"v=4",\#
            "times":{"start":"2020-03-04T09:45:04.020+01:00"},"request":{"header":{"headers":[{"name":"Host","value":"x"}]},\#
            "body":\#(body)},"response":{"status":200}}
            """#
        let log = try await ReadLog(Array("[\(exchange), 7]".utf8), path: "a.chlsj")
        #expect(log.records.map(\.id) == [id])
        let record = try #require(log.records.first)
        #expect(record.target?.path == "\(path)?v=4")
        #expect(record.time?.description == "2020-03-04T08:45:04.020Z")
        #expect(record.held.contains(.delivered(status: 200)))
        #expect(log.reasonCodes == ["entry_invalid"])
    }

    @Test("Bodies in files next to the archive are read, and only those")
    func attachedBodies() async throws {
        let name = String(repeating: "a1", count: 20) + ".json"
        func entry(_ file: String, _ number: Int) -> String {
            let id = CaptureFolder.id(number)
            return #"""
                {"request":{"method":"POST","url":"https://incoming.telemetry.mozilla.org/submit/telemetry/\#(id)/core/Focus\#
                /5.0/release/2?v=4","postData":{"_file":"\#(file)"}}}
                """#
        }
        let folder = try CaptureFolder()
        try folder.put("given/\(name)", #"{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","seq":1,"v":7}"#)
        // The body of another request has the form of a log.
        try folder.put(
            "given/\(String(repeating: "b2", count: 20)).json",
            #"""
            {"topic":"activity-stream-mobile-sessions","client_id":"C","session_duration":1,"app_version":"7.0","build":"1",\#
            "locale":"de","release_channel":"release"}
            """#)
        try folder.put(
            "given/har.har", archive(entry(name, 1), entry("../given/\(name)", 2), entry("missing.json", 3)))
        let packed = try TestArchive(of: "\(folder.path)/given", named: "har.zip", #"zip -qr "$0" ."#)
        let opening = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
        for input in ["\(folder.path)/given", "\(folder.path)/given/har.har", packed.path] {
            let found = try await ReadCapture(try #require(try await opening.open([input]).first))
            #expect(found.ids == [CaptureFolder.id(1)], "\(input)")
            #expect(found.quarantined.map(\.reject.reason.code) == ["body_missing", "body_missing"])
        }
    }

    @Test("The requests of a Fiddler session are read, and malformed ones are rejected")
    func fiddler() async throws {
        let body = #"{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","seq":1,"v":7}"#
        func request(_ number: Int, _ fields: String, _ body: String) -> String {
            """
            POST https://incoming.telemetry.mozilla.org/submit/telemetry/\(CaptureFolder.id(number))/core/Focus/5.0/release/2?v=4 \
            HTTP/1.1\r\nHost: incoming.telemetry.mozilla.org\r\nCookie: SECRETCOOKIE\r\n\(fields)\r\n\(body)
            """
        }
        let size = String(body.utf8.count, radix: 16)
        let requests = [
            request(1, "", body), request(2, "Transfer-Encoding: chunked\r\n", "\(size)\r\n\(body)\r\n0\r\n\r\n"),
            "no request", "CONNECT a:443 HTTP/1.1\r\n\r\n",
        ]
        let folder = try CaptureFolder()
        for (index, request) in requests.enumerated() { try folder.put("raw/\(index + 9)_c.txt", request) }
        try folder.put("raw/9_s.txt", "HTTP/1.1 200 OK\r\n\r\n")
        try folder.put(
            "raw/9_m.xml",
            #"<Session><SessionTimers ClientBeginRequest="2020-03-04T09:45:04.0201234+01:00" /></Session>"#)
        let packed = try TestArchive(of: folder.path, named: "a.saz", #"zip -qr "$0" ."#)
        for capture in [try await folder.open(), try await packed.open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [1, 2].map(CaptureFolder.id))
            #expect(found.records.map { $0.time?.description } == ["2020-03-04T08:45:04.020Z", nil])
            #expect(found.records.map { $0.held.contains(.delivered(status: 200)) } == [true, false])
            #expect(found.quarantined.map(\.path) == ["raw/11_c.txt"])
            #expect(!String(decoding: found.lines, as: UTF8.self).contains("SECRETCOOKIE"))
        }
    }

    @Test(
        "A log in UTF-16 or UTF-32 is reported as such",
        arguments: ["a.har", "a.ndjson"],
        [
            ([0xFF, 0xFE, 0x7B, 0x00], "UTF-16"), ([0xFE, 0xFF, 0x00, 0x7B], "UTF-16"),
            ([0x7B, 0x00, 0x22, 0x00], "UTF-16LE"), ([0x00, 0x7B, 0x00, 0x22], "UTF-16BE"),
            ([0xFF, 0xFE, 0x00, 0x00, 0x7B, 0x00, 0x00, 0x00], "UTF-32"),
        ] as [([UInt8], String)])
    func otherEncodings(name: String, start: ([UInt8], String)) async throws {
        let log = try await ReadLog(start.0, kind: name == "a.har" ? .httpArchive : .lines, path: name)
        #expect(
            log.quarantined.map { $0.reject.reason.hasSuffix("convert it with iconv -f \(start.1) -t UTF-8") } == [true]
        )
    }

    @Test("Responses from a cache are ignored, because no request was sent")
    func cache() async throws {
        let log = try await ReadLog(archive(coreEntry(extra: #","_fromCache":"disk""#)))
        #expect(log.records.isEmpty)
        #expect(log.problems.map(\.text) == ["1 request not of a documented system"])
    }

    @Test("Invalid entries are reported with their locations, and the others are read")
    func invalidEntries() async throws {
        let bytes = archive("7", coreEntry(1), #"{"request":{"url":"x"}}"#, "{}", coreEntry(2))
        let log = try await ReadLog(bytes)
        #expect(log.records.map(\.source.index) == [1, 4])
        #expect(log.reasonCodes == ["entry_invalid", "entry_invalid", "entry_invalid"])
        for item in log.quarantined {
            let span = bytes[item.reject.range(inFileOf: bytes.count)]
            #expect(item.size == span.count)
            #expect(item.sha256 == PayloadHash.hex(of: Array(span)))
        }
        #expect(log.quarantined.map(\.size) == [1, 23, 2])
    }

    @Test("The complete entries of a truncated archive are kept", arguments: [1, 14, 400])
    func truncated(missing: Int) async throws {
        let bytes = Array(archive(coreEntry(1), coreEntry(2)).dropLast(missing))
        let log = try await ReadLog(bytes)
        #expect(log.records.count == (missing > 100 ? 1 : 2))
        #expect(log.reasonCodes == ["har_cut"])
        let reject = try #require(log.quarantined.first).reject
        #expect((reject.offset ?? 0) + (reject.length ?? 0) == bytes.count)
    }

    @Test(
        "A file that is not an archive is rejected as a whole",
        arguments: [
            ("", "har_cut"), ("{}", "har_invalid"), ("[]", "har_invalid"), (#"{"log":{"entries":7}}"#, "har_invalid"),
            (#"{"log":{"version":"2.0","entries":[]}}"#, "unsupported_version"), ("{\"log\":{\u{1}", "har_invalid"),
        ])
    func noArchive(text: String, code: String) async throws {
        let log = try await ReadLog(Array(text.utf8))
        #expect(log.records.isEmpty)
        #expect(log.reasonCodes == [code])
    }

    @Test("The entries before damage in compressed data are kept", arguments: ["gzip", "zlib"])
    func damagedCompression(kind: String) async throws {
        let folder = try CaptureFolder()
        try folder.put("a.har", archive((1...400).map { coreEntry($0) }.joined(separator: ",")))
        let script =
            "import sys,gzip,zlib;d=open(sys.argv[1],'rb').read();"
            + "c=gzip.compress(d) if sys.argv[2]=='gzip' else zlib.compress(d);open(sys.argv[1]+'.z','wb').write(c[:-40])"
        try tool(["python3", "-c", script, "\(folder.path)/a.har", kind])
        let source = ByteSource(try InputFile(path: "\(folder.path)/a.har.z"))
        let log = try await ReadLog(RequestLog(source, kind: .httpArchive, label: "capture", path: "a.har"))
        #expect(log.records.count > 100)
        #expect(log.reasonCodes == ["har_damaged"])
    }

    @Test("An entry larger than the limit is reported, not counting its unneeded members")
    func largeEntries() async throws {
        let long = String(repeating: "x", count: 5000)
        let unwanted = coreEntry(1).replacing(#""text":"x""#, with: #""text":"\#(long)""#)
        let wanted = coreEntry(2).replacing("SECRETCOOKIE", with: long)
        let log = try await ReadLog(archive(unwanted, wanted, coreEntry(3)))
        #expect(log.records.map(\.source.index) == [0, 2])
        #expect(log.reasonCodes == ["entry_too_large"])
    }

    @Test("A body that exceeds the inflation limit is rejected")
    func bomb() async throws {
        let bomb = try tool(
            "python3", "-c",
            "import gzip,base64;print(base64.b64encode(gzip.compress(bytes(40<<20))).decode(),end='')")
        let entry = #"""
            {"request":{"method":"PUT","url":"https://api3.siftscience.com/v3/accounts/a/mobile_events",\#
            "postData":{"text":"\#(bomb)","encoding":"base64"}},"response":{"status":0}}
            """#
        #expect(try await ReadLog(archive(entry), limit: 1 << 20).reasonCodes == ["body_invalid"])
    }

    @Test(
        "Bodies that cannot be recovered are reported with different codes",
        arguments: [
            (#""text":"{\"v\":7""#, "", "body_invalid"),
            (#""text":"{\"v\":7""#, #"{"name":"content-length","value":"900"}"#, "body_truncated"),
            (#""text":"{\"v\":7""#, #"["Content-Length","900"]"#, "body_truncated"),
            (#""text":"""#, "", "body_missing"), (#""mimeType":"""#, "", "body_missing"),
            (#""text":"[]""#, "", "body_invalid"), (#""text":"e30""#, "", nil),
        ] as [(String, String, String?)])
    func bodies(data: String, header: String, code: String?) async throws {
        let entry = #"""
            {"startedDateTime":"2017-06-16T06:38:14Z","request":{"method":"POST","headers":[\#(header)],\#
            "url":"https://incoming.telemetry.mozilla.org/submit/telemetry/\#(CaptureFolder.id(1))/x/F/5/r/2",\#
            "postData":{\#(data)}}}
            """#
        #expect(try await ReadLog(archive(entry)).reasonCodes == [code].compactMap(\.self))
    }

    @Test("Calls to Leanplum without stored requests are counted separately")
    func singleCall() async throws {
        let entry = #"""
            {"request":{"method":"POST","url":"https://api.leanplum.com/api","postData":{"text":"action=start&clientKey=K"}}}
            """#
        let log = try await ReadLog(archive(entry))
        #expect(log.records.isEmpty)
        #expect(log.problems.map(\.code) == ["leanplum_single_call"])
    }

    @Test(
        "The form of a request to Leanplum can be base64, and a body without the selector is reported",
        arguments: [
            (#""text":"\#(Data(leanplumForm.utf8).base64EncodedString())""#, nil),
            (#""text":"eJwDAAAAAAE=""#, "body_invalid"), (#""text":"data=%7B%7D""#, "body_invalid"),
            (#""params":[{"name":"data","value":"{}"}]"#, "body_invalid"),
            (#""text":"--boundary\r\nContent-Disposition: form-data""#, "leanplum_single_call"),
        ] as [(String, String?)])
    func leanplumForms(data: String, code: String?) async throws {
        let entry = #"{"request":{"method":"POST","url":" https://api.leanplum.com/api ","postData":{\#(data)}}}"#
        let log = try await ReadLog(archive(entry))
        #expect(log.records.map(\.type) == (code == nil ? ["multi"] : []))
        #expect(log.reasonCodes + log.problems.map(\.code) == [code].compactMap(\.self))
    }

    private static let leanplumForm =
        "action=multi&data=%7B%22data%22%3A%5B%7B%22action%22%3A%22heartbeat%22%2C%22deviceId%22%3A%22A%22%7D%5D%7D"

    @Test("Requests of several clients are held")
    func severalClients() async throws {
        let entry = #"""
            {"request":{"method":"POST","url":"https://api.leanplum.com/api","postData":{"params":[\#
            {"name":"action","value":"multi"},{"name":"data","value":\#
            "{\"data\":[{\"action\":\"heartbeat\",\"deviceId\":\"A\"},{\"action\":\"heartbeat\",\"deviceId\":\"B\"}]}"}]}}}
            """#
        let record = try #require(try await ReadLog(archive(entry)).records.first)
        #expect(record.client == "A")
        #expect(record.held.map(\.text) == ["several-clients"])
    }
}
