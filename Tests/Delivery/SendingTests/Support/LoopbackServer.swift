import AsyncHTTPClient
import Foundation
import NIOCore
import TestSupport
import Testing

/// A `loopback-server` that runs for as long as this lives.
final class LoopbackServer: Sendable {
    /// Where it listens.
    let port: Int
    private let program: RunningProgram
    private let scheme: String

    /// An upload that arrived.
    struct Receipt: Decodable {
        let path: String
        let sha256: String
        let client: String?
        let times: Int
        let accepted: Int
        let epoch: Int
    }

    /// A request as it arrived.
    struct Request: Decodable {
        let method: String
        let path: String
        let headers: [[String]]
        let body: Data

        func header(_ name: String) -> String? {
            headers.first { $0[0].lowercased() == name.lowercased() }?[1]
        }
    }

    /// What it received.
    struct Report: Decodable {
        let total: Int
        let connections: Int
        let distinct: Int
        let receipts: [Receipt]?
        let requests: [Request]
    }

    /// Starts a server.
    init(_ arguments: String...) throws {
        program = try RunningProgram([builtProgram("loopback-server"), "--ends-with-parent"] + arguments)
        port = try #require(Int(program.firstLine()), "the server did not start")
        scheme = arguments.contains { $0.hasPrefix("--certificate=") } ? "https" : "http"
    }

    deinit { stop() }

    /// Its address.
    var address: String { "\(scheme)://127.0.0.1:\(port)" }

    /// Ends it at once.
    func stop() {
        program.send(SIGKILL)
        program.wait()
    }

    /// Sets what it does instead of answering as it should; keeps the first requests in full.
    func order(_ rules: String = "[]", keep: Int = 100) async throws {
        try await tell(#"{"rules":\#(rules),"keep":\#(keep)}"#)
    }

    /// A request of the test itself, on a connection of its own: the server may just be about to close an idle one.
    private func request(_ name: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(address)/-/\(name)")
        request.headers.add(name: "Connection", value: "close")
        return request
    }

    /// Gives it orders.
    func tell(_ orders: String) async throws {
        var request = request("orders")
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: orders))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        try #require(response.status.code == 204)
    }

    /// What it received until now.
    func report() async throws -> Report {
        let response = try await HTTPClient.shared.execute(request("report"), timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 28)
        return try JSONDecoder().decode(Report.self, from: Data(body.readableBytesView))
    }
}
