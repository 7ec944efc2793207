import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

/// A server on loopback that runs for as long as this lives.
final class LoopbackServer: Sendable {
    /// Where it listens.
    let port: Int
    private let program: RunningProgram
    private let scheme: String
    /// For orders and questions.
    private let control: HTTPClient
    private let heldPort = Mutex<HeldPort?>(nil)

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
        /// How many connections are open that had an answer and wait for the next request.
        let idle: Int
        /// The number of strays that have reached the client's system.
        let strays: Int
        let distinct: Int
        let receipts: [Receipt]?
        let requests: [Request]
    }

    /// Starts a server.
    /// - Parameter authority: The file of the authority that has signed the server's certificate, for orders and
    ///   questions.
    init(_ arguments: String..., authority: String? = nil) throws {
        let server = "\(repository)/Tests/Server/loopback_server.py"
        program = try RunningProgram(["python3", server, "--ends-with-parent"] + arguments)
        port = try #require(Int(program.firstLine()), "the server did not start")
        scheme = arguments.contains { $0.hasPrefix("--certificate=") } ? "https" : "http"
        var settings = HTTPSettings()
        settings.identity.authorities = try authority.map { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) }
        settings.connectTimeout = 600
        control = try HTTPClient(settings)
    }

    deinit {
        stop()
        Task { [control] in await control.close() }
    }

    /// Its address.
    var address: String { "\(scheme)://127.0.0.1:\(port)" }

    /// Ends it at once. Connections to its port are refused from then on.
    func stop() {
        program.send(SIGKILL)
        program.wait()
        heldPort.withLock { $0 = $0 ?? HeldPort(port) }
    }

    /// Sets what it does instead of answering as it should; keeps the first requests in full.
    func order(_ rules: String = "[]", keep: Int = 100) async throws {
        try await tell(#"{"rules":\#(rules),"keep":\#(keep)}"#)
    }

    /// Gives it orders.
    func tell(_ orders: String) async throws {
        let answer = try await request("POST", "orders", Array(orders.utf8))
        try #require(answer.status == 204)
    }

    /// What it received until now.
    func report() async throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(try await request("GET", "report", []).body))
    }

    /// A request of the test itself, which no rule concerns.
    private func request(_ method: String, _ name: String, _ body: [UInt8]) async throws -> (status: Int, body: [UInt8])
    {
        let collector = Collector()
        let request = HTTPRequest(method: method, target: "/-/\(name)", body: body)
        let end = await control.send(request, over: HTTPRoute(server: address), for: collector)
        try #require(end == .complete, "\(end)")
        return collector.answer
    }
}

/// Collects the whole of an answer.
private final class Collector: HTTPReceiver {
    private let state = Mutex((status: 0, body: [UInt8]()))
    private let start = ContinuousClock.now

    var answer: (status: Int, body: [UInt8]) { state.withLock { $0 } }
    /// Nothing is wrong with a machine that is busy.
    var end: ContinuousClock.Instant { start + .seconds(600) }

    func requestGoes(at instant: ContinuousClock.Instant) {}
    func headCame(_ head: HTTPHead, at instant: ContinuousClock.Instant) { state.withLock { $0.status = head.status } }
    func bodyCame(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            for index in part.indices { state.body.append(part[index]) }
            return true
        }
    }
}

/// A port of 127.0.0.1 on which nothing listens, and which no other server gets.
private final class HeldPort: Sendable {
    private let socket: Int32

    init?(_ port: Int) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return nil }
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
        }
        guard code == 0 else { return nil }
    }

    deinit { close(socket) }
}
