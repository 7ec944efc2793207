import JSONText
import Leanplum
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests that a captured list with several clients is held, because it would count only against the limits of the first one.
///
/// Clients are compared without letter case, as they are for limits and in stores.
@Suite struct MixedClientsTests {
    /// The systems with lists, and the key of the client in an event.
    private static let lists: [(SystemName, String)] = [(.sift, "installation_id"), (.leanplum, "deviceId")]

    private func record(_ system: SystemName, _ clientKey: String, _ clients: [String?]) throws -> Record {
        let format = try #require(Systems.table[system]).requests
        let items = clients.map { client in
            let member = client.map { ",\"\(clientKey)\":\"\($0)\"" } ?? ""
            return "{\"action\":\"track\",\"time\":1\(member)}"
        }
        var document = try JSONDocument(Array("{\"data\":[\(items.joined(separator: ","))]}".utf8))
        let source = Source(capture: "c", path: "p", store: .ndjsonLine, index: 0)
        return try CapturedUpload(route: nil, time: nil, source: source).record(by: format, in: &document)
    }

    private func isMixed(_ record: Record) -> Bool { record.heldCodes.contains("several-clients") }

    @Test("Ids that differ only in letter case are one client.", arguments: lists)
    func oneClient(system: SystemName, key: String) throws {
        let record = try record(system, key, [nil, "4f8E2d6A", "4F8E2D6A", "4f8e2d6a"])
        #expect(record.client == "4f8E2d6A")
        #expect(!isMixed(record))
    }

    @Test("An item without a client is ignored.", arguments: lists)
    func noClient(system: SystemName, key: String) throws {
        #expect(try !isMixed(record(system, key, ["A", nil, "a"])))
        let record = try record(system, key, [nil, nil])
        #expect(record.client == nil && !isMixed(record))
    }

    @Test("A record with several clients is held.", arguments: lists)
    func severalClients(system: SystemName, key: String) throws {
        for clients in [["A", "B"], ["A", "a", "B"], ["A", "B", "a"], ["A", nil, "AA"]] as [[String?]] {
            let record = try record(system, key, clients)
            #expect(record.client == "A")
            #expect(isMixed(record), "\(clients)")
        }
    }

    @Test("The tally keeps the first client and remembers that there were others.")
    func tally() {
        var tally = ClientTally()
        tally.count(nil)
        #expect(tally.first == nil && tally.hold == nil)
        for client in ["É1a", "É1A", nil] as [String?] { tally.count(client) }
        #expect(tally.first == "É1a" && tally.hold == nil)
        // Only the case of ASCII letters is ignored.
        tally.count("é1a")
        tally.count("É1a")
        #expect(tally.first == "É1a" && tally.hold == .severalClients)
    }
}
