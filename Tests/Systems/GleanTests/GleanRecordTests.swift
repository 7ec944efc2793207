import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Glean

/// Tests the records of the worked examples in the format document, and the holds, types and errors of ping files.
@Suite struct GleanRecordTests {
    private static let folder = "Library/Application Support/glean_data/pending_pings/"

    private func read(
        _ text: String, named name: String, in folder: GleanPingReader.Folder = .pendingPings, path: String? = nil
    ) throws -> Record {
        var reader = GleanPingReader()
        let source = Source(
            capture: "worked-examples", path: path ?? Self.folder + name, store: .gleanPingFile, index: 0)
        let file = GleanPingReader.File(name: Array(name.utf8), folder: folder, source: source)
        return try reader.record(of: Array(text.utf8), file)
    }

    @Test("The file of a worked example becomes the documented record", arguments: GleanExample.all)
    func workedExample(example: GleanExample) throws {
        let name = String(example.path.split(separator: "/").last ?? "")
        let folder: GleanPingReader.Folder =
            example.path.contains("/deletion_request/") ? .deletionRequests : .pendingPings
        let record = try read(example.file, named: name, in: folder, path: example.path)
        #expect(record.line == example.record)
        #expect(record.contradiction == nil)
    }

    @Test("Example 12.4: events before and after a restart become one record")
    func pendingEvents() throws {
        var document = JSONDocument()
        let file = PendingEventsFile(Array(GleanExample.eventsFile.utf8), using: &document)
        let source = Source(
            capture: "worked-examples", path: "Library/Application Support/glean_data/events/onboarding",
            store: .gleanPendingEvents, index: 0)
        let records = PendingEventRecords.makeRecords(of: file, ofPing: "onboarding", borrowed: nil, source: source)
        #expect(records.map(\.line) == [GleanExample.eventsRecord])
    }

    private static let name = "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"
    private static let path = "/submit/org-mozilla-ios-firefox/baseline/1/\(name)"

    @Test("Holds are listed in the order of their codes")
    func holds() throws {
        let third =
            #"{"headers":{"X-Debug-ID":"no good"},"body_has_info_sections":true,"uploader_capabilities":["ohttp"]}"#
        let record = try read("https://x/\n{}\n\(third)", named: Self.name, in: .unfinishedPings)
        #expect(record.heldCodes == ["capability", "headers", "incomplete", "no-target", "schema"])
        #expect(record.held[0].text == "capability: ohttp")
        #expect(record.target == nil && record.app == nil && record.type == "unknown" && record.id == Self.name)
        let unreadable = try read("\(Self.path)\n{}\nnot json", named: Self.name)
        #expect(unreadable.heldCodes == ["metadata", "schema"])
    }

    @Test("The first line of a ping without a target is kept in a note")
    func storedPath() throws {
        let path = "/submit/org-mozilla-ios-firefox/extra/baseline/1/\(Self.name)"
        let long = String(repeating: "/\u{E4}", count: 2000)
        for (line, end) in [(path, ": \(path)"), (long, ": " + String(repeating: "/\u{E4}", count: 682) + "/…")] {
            let record = try read("\(line)\n{}\n", named: Self.name)
            #expect(record.notes == ["G26 the first line is not in the grammar of upload paths" + end])
            #expect(record.target == nil)
        }
    }

    @Test(
        "Only the error metrics of the SDK in client_info violate the schema",
        arguments: [
            ("glean.error.invalid_value", ["schema"]), ("glean.error.", []), ("glean.errors", []), ("new_key", []),
        ])
    func errorMetrics(key: String, held: [String]) throws {
        let client =
            #""app_build":"1","app_display_version":"2","architecture":"a","first_run_date":"d","os":"iOS","#
            + #""os_version":"18","telemetry_sdk_build":"69.0.0","\#(key)":{"ping_info/x":1}"#
        let info = #""ping_info":{"end_time":"2026-01-20T04:58:00Z","seq":0,"start_time":"2026-01-20T04:58:00Z"}"#
        let record = try read("\(Self.path)\n{\"client_info\":{\(client)},\(info)}\n", named: Self.name)
        #expect(record.heldCodes == held)
        #expect(record.notes == ["G46 not in the schema: client_info.\(key)"])
        if let hold = record.held.first {
            #expect(hold.text == "schema: client_info.\(key): an error metric")
        }
    }

    @Test("A ping name outside the grammar is not used as the type", arguments: ["", "A B", "../x"])
    func invalidTypes(name: String) throws {
        let third = CanonicalObject.text("ping_name", name)
        #expect(try read("x\n{}\n\(third)", named: Self.name).type == "unknown")
    }

    @Test(
        "An unreadable body is rejected with its span in the file",
        arguments: [
            ("{", "G4"), ("{} x", "G4"), (#"{"a":"\ud83d"}"#, "G4"), ("[]", "G5"), ("7", "G5"),
            (#"{"a":1,"a":1}"#, "G6"),
            (String(repeating: #"{"a":"#, count: 513), "G7"),
        ])
    func unreadableBodies(body: String, code: String) {
        let error = #expect(throws: PingFileError.self) { try read("\(Self.path)\n\(body)\n{}", named: Self.name) }
        let expected = RejectSummary(code, at: Self.path.utf8.count + 1, length: body.utf8.count)
        #expect(error.map { RejectSummary($0.reject) } == expected)
    }
}

extension CanonicalObject {
    fileprivate static func text(_ key: JSONKey, _ value: String) -> String {
        var object = CanonicalObject()
        object.set(key, value)
        return String(decoding: object.bytes, as: UTF8.self)
    }
}

/// Tests of the note on requests for the deletion of usage data (case G60).
@Suite struct UsageDeletionRequestTests {
    @Test(
        "A request whose metrics lack the id of a usage profile gets a note, but is not held",
        arguments: [
            // Captures of the generator contain such requests without metrics and without a note.
            ("{}", false), (#"{"metrics":{"uuid":{}}}"#, true),
            (#"{"metrics":{"uuid":{"usage.profile_id":"x"}}}"#, true),
            (#"{"metrics":{"uuid":{"usage.profile_id":"c1d2e3f4-a5b6-4c7d-8e9f-0a1b2c3d4e5f"}}}"#, false),
        ])
    func note(body: String, hasNote: Bool) throws {
        let id = "4fa274e9-7d0e-4626-8e91-b7a248a89499"
        for (name, isNoted) in [("usage-deletion-request", hasNote), ("usage-reporting", false)] {
            var reader = GleanPingReader()
            let bytes = Array("/submit/org-mozilla-ios-firefox/\(name)/1/\(id)\n\(body)".utf8)
            let source = Source(capture: "c", path: id, store: .gleanPingFile, index: 0)
            let record = try reader.record(
                of: bytes, .init(name: Array(id.utf8), folder: .pendingPings, source: source))
            #expect(record.notes.contains { $0.hasPrefix("G60 ") } == isNoted)
            #expect(record.held.allSatisfy { $0.code == "schema" })
        }
    }
}
