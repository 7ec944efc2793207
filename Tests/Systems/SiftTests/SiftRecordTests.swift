import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests the records described in section 9.5 of "Sift iOS SDK: on-disk store, list request".
@Suite struct SiftRecordTests {
    private static func keys(_ account: String) -> (SiftFile, [UInt8]) {
        (.keys, SiftArchiveBuilder.archive(.object(["accountId": .text(account), "beaconKey": .text("f3b9demo01")])))
    }

    private func queue(_ events: [Archived], named name: String = "q") -> (SiftFile, [UInt8]) {
        (.queue(identifier: name), SiftArchiveBuilder.queue(events))
    }

    private func event(_ time: Int64, client: String?) -> Archived {
        .event(time, ["installationId": client.map { .text($0) } ?? .none])
    }

    @Test("The account determines the target, and the request is not held")
    func target() {
        let read = SiftReading([Self.keys("a/1"), queue([.event(1)])])
        #expect(read.records.map(\.target) == [Target(path: "/v3/accounts/a%2F1/mobile_events")])
        #expect(read.records.map(\.held) == [[]])
        #expect(read.records.allSatisfy { $0.contradiction == nil })
        #expect(read.records.map(\.system) == [.sift])
        #expect(read.records.map(\.type) == ["mobile_events"])
    }

    @Test("A request without an account has no target", arguments: [nil, "", ".."])
    func noTarget(account: String?) {
        let read = SiftReading((account.map { [Self.keys($0)] } ?? []) + [queue([.event(1)])])
        #expect(read.records.map(\.target) == [nil])
        #expect(read.records.map(\.held) == [[.noTarget]])
        #expect(read.records.allSatisfy { $0.contradiction == nil })
    }

    @Test("The client is the first installation id, and letter case does not matter")
    func oneClient() {
        let read = SiftReading([
            Self.keys("a"), queue([event(1, client: nil), event(2, client: "Ab"), event(3, client: "aB")]),
        ])
        #expect(read.records.map(\.client) == ["Ab"])
        #expect(read.records.map(\.held) == [[]])
        #expect(SiftReading(queue: [event(1, client: nil)]).records.map(\.client) == [nil])
    }

    @Test("A request with two clients is held")
    func severalClients() {
        let read = SiftReading([Self.keys("a"), queue([event(1, client: "A"), event(2, client: "B")])])
        #expect(read.records.map(\.client) == ["A"])
        #expect(read.records.map { $0.held.map(\.text) } == [["several-clients"]])
        #expect(read.records.map(\.notes) == [["several-clients the first one is taken"]])
    }

    @Test("The time of a request is that of its newest event")
    func time() {
        let read = SiftReading(queue: [.event(1_758_600_005_000), .event(1_758_600_000_000)])
        #expect(read.records.map { $0.time?.description } == ["2025-09-23T04:00:05.000Z"])
    }

    @Test("The newest device properties determine the app, even if their event is already sent")
    func app() {
        func properties(_ time: Int64, _ version: String) -> Archived {
            .event(
                time,
                [
                    "iosDeviceProperties": .object([
                        "app_name": .text("Larkspur"), "app_version": .text("1187"),
                        "app_version_short": .text(version),
                    ])
                ])
        }
        let sent = SiftArchiveBuilder.queue(
            [], ["lastEvent": properties(3, "8.4.0"), "lastUploadTimestamp": .integer(0)])
        let read = SiftReading(
            [
                (.uploader, SiftArchiveBuilder.uploader([[properties(2, "8.3.9")]])), queue([.event(9)], named: "a"),
                (.queue(identifier: "sift-devprops"), sent),
            ], applicationID: "com.example.larkspur")
        let app = App(id: "com.example.larkspur", name: "Larkspur", version: "8.4.0", build: "1187")
        #expect(read.records.map(\.app) == [app, app])
        #expect(SiftReading(queue: [.event(1)]).records.map(\.app) == [nil])
    }

    @Test("The id is the hash of the payload")
    func identity() throws {
        let record = try #require(SiftReading([Self.keys("a"), queue([.event(1)])]).records.first)
        #expect(record.id == PayloadHash.id(of: record.payload))
        #expect(record.source == Source(capture: "c", path: "queue(identifier: \"q\")", store: .siftQueue, index: 0))
    }

    @Test("The beacon key is not in records, reports or problems")
    func beaconKey() {
        let read = SiftReading([Self.keys("a"), queue([.event(1)])])
        #expect(!"\(read)".contains("f3b9demo01"))
    }

    @Test("An invalid last event is ignored")
    func invalidLastEvent() {
        let cycle = Archived.shared("c", .dictionary([(.text("s"), .shared("c", .none))]))
        for last in [Archived.text("x"), .none, .null, .event(5, ["iosDeviceProperties": cycle])] {
            let read = SiftReading([
                (
                    .queue(identifier: "q"),
                    SiftArchiveBuilder.queue([.event(1)], ["lastEvent": last, "lastUploadTimestamp": .integer(0)])
                )
            ])
            #expect(read.data == #"{"time":1}"#)
            #expect(read.problems.isEmpty && read.rejects.isEmpty)
        }
    }

    @Test(
        "Timestamps of another type are read as 0 and reported",
        arguments: [Archived.text("x"), .null, .real("inf"), .list([])])
    func wrongTimestamp(value: Archived) {
        let bytes = SiftArchiveBuilder.queue([.event(1)], ["lastUploadTimestamp": value])
        let read = SiftReading([(.queue(identifier: "sift-default"), bytes)])
        #expect(read.codes == ["bad-value"])
        #expect(read.queues.map(\.clockTime) == [0])
        #expect(read.records.count == 1)
    }

    @Test(
        "The SDK version in device properties determines the rules of versions 0.9",
        arguments: [("v0.9.2", SiftQueueRules.Era.second), ("v0.9.5", .third)])
    func eras(version: String, era: SiftQueueRules.Era) {
        let event = Archived.event(1, ["iosDeviceProperties": .object(["sdk_version": .text(version)])])
        let bytes = SiftArchiveBuilder.queue(
            [event], ["lastEvent": event, "lastEventTimestamp": .integer(1)])
        let read = SiftReading([(.queue(identifier: "sift-devprops"), bytes)])
        #expect(read.queues.map(\.era) == [era])
    }
}
