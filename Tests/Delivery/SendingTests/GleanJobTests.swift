import Bytes
import Foundation
import Glean
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests jobs of the program with Glean pings.
@Suite struct GleanJobTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let client = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"
    private static let other = "2b7e1f30-64c5-4a9d-8f12-9d0c3b5a7e68"

    private static func ping(
        _ number: Int, _ type: String = "baseline", client: String?, headers: [CapturedText: String] = [:],
        held: [Hold] = []
    ) -> Record {
        let id = String(format: "0b9c7a5e-6d21-4f7b-8f0c-%012d", number)
        return Record(
            system: .glean, type: type, id: id, client: client, time: Sample.time(number),
            target: Target(path: "/submit/org-mozilla-ios-firefox/\(type)/1/\(id)", headers: headers),
            payload: Array(#"{"metrics":{"counter":{"app.number":\#(number)}}}"#.utf8), source: Sample.source,
            held: held)
    }

    @Test("A request for deletion is sent first, and no other records of its client are sent")
    func deletionRequest() async throws {
        let server = try LoopbackServer()
        try await server.setRules()
        let records = [
            Self.ping(1, client: Self.client.uppercased()), Self.ping(2, client: Self.client),
            Self.ping(3, "usage-deletion-request", client: nil), Self.ping(4, "usage-reporting", client: nil),
            Self.ping(5, client: Self.other, headers: ["X-Debug-ID": "a-tag", "X-Source-Tags": "automation"]),
            Self.ping(9, "deletion-request", client: Self.client),
            Self.ping(10, "fx-suggest", client: nil, held: [Hold("capability", "ohttp")]),
        ]
        let bundle = try await Sample.bundle(records, at: folder("b.tar.zst"))
        let arguments = [
            "send", "--ledger", folder("ledger.sqlite"), "--endpoint", "glean=\(server.address)", "--json", bundle,
        ]
        let finished = try await Uploader(arguments).finish()
        #expect(finished.status == 0, "\(finished.errors)")
        let requests = try await server.report().requests
        let numbers = requests.compactMap { $0.path.split(separator: "/").last?.suffix(2) }
        #expect(numbers.sorted() == ["03", "04", "05", "09"])
        // Records without a client count as one client and are sent in order.
        #expect(numbers.filter { ["03", "04"].contains($0) } == ["03", "04"])
        let counts = try #require(try finished.json()["records"] as? [String: Any])
        #expect(counts["deletion-requested"] as? Int == 2, "\(counts)")

        // An older capture that arrives later does not change the result.
        let late = try await Sample.bundle([Self.ping(11, client: Self.client)], at: folder("late.tar.zst"))
        let next = try await Uploader(arguments.dropLast() + [late]).finish()
        #expect(next.status == 0, "\(next.errors)")
        #expect(try await server.report().total == 4)
    }

    @Test("A ping is sent compressed, with its tags and without data that only the phone has")
    func request() async throws {
        let server = try LoopbackServer()
        try await server.setRules()
        let record = Self.ping(5, client: Self.other, headers: ["X-Debug-ID": "a-tag", "X-Source-Tags": "automation"])
        let bundle = try await Sample.bundle([record], at: folder("b.tar.zst"))
        let finished = try await Uploader([
            "send", "--ledger", folder("ledger.sqlite"), "--endpoint", "glean=\(server.address)", bundle,
        ]).finish()
        #expect(finished.status == 0, "\(finished.errors)")
        let request = try #require(try await server.report().requests.first)
        #expect(request.method == "POST" && request.path == record.target?.path)
        let fields = Dictionary(request.headers.map { ($0[0].lowercased(), $0[1]) }) { first, _ in first }
        #expect(fields["x-debug-id"] == "a-tag" && fields["x-source-tags"] == "automation")
        #expect(fields["content-encoding"] == "gzip" && fields["content-type"] == "application/json; charset=utf-8")
        #expect(fields["date"] == nil && fields["x-telemetry-agent"] == nil)
        #expect(try tool(["gzip", "-dc"], input: Array(request.body)) == Data(record.payload))
    }
}
