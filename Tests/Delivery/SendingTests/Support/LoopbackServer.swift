import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

/// A server on loopback that runs until the object is deinitialized.
final class LoopbackServer: Sendable {
    /// The port of the server.
    let port: Int
    private let program: RunningProgram
    private let scheme: String
    /// The client for requests that control the server.
    private let control: HTTPClient
    private let reservedPort = Mutex<ReservedPort?>(nil)

    /// An upload that arrived, with its repetitions.
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

    /// The requests and connections of the server so far.
    struct Report: Decodable {
        let total: Int
        let connections: Int
        /// The number of open connections that wait for their next request.
        let idle: Int
        /// The number of stray transmissions that have reached the client's system.
        let strays: Int
        let distinct: Int
        let receipts: [Receipt]?
        let requests: [Request]
    }

    /// Starts a server.
    ///
    /// `authority` is the path of the authority that signed its certificate, if it has one.
    init(_ arguments: String..., authority: String? = nil) throws {
        // The server needs only the standard library. Without the other packages, Python starts in half the time.
        let server = "\(repository)/Tests/Server/loopback_server.py"
        program = try RunningProgram(["python3", "-I", "-S", server, "--ends-with-parent"] + arguments)
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

    /// The address of the server.
    var address: String { "\(scheme)://127.0.0.1:\(port)" }

    /// Ends the server immediately.
    ///
    /// New connections to its port are refused.
    func stop() {
        program.send(SIGKILL)
        program.wait()
        reservedPort.withLock { $0 = $0 ?? ReservedPort(port) }
    }

    /// Sets the rules for answers, and the number of requests that are kept in full.
    func setRules(_ rules: String = "[]", keep: Int = 100) async throws {
        try await configure(#"{"rules":\#(rules),"keep":\#(keep)}"#)
    }

    /// Sends a JSON object that configures the server.
    func configure(_ orders: String) async throws {
        let answer = try await request("POST", "orders", Array(orders.utf8))
        try #require(answer.status == 204)
    }

    /// Returns the requests and connections so far.
    func report() async throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(try await request("GET", "report", []).body))
    }

    /// Sends a control request, to which no rules apply.
    private func request(_ method: String, _ name: String, _ body: [UInt8]) async throws -> (status: Int, body: [UInt8])
    {
        let collector = Collector()
        let request = HTTPRequest(method: method, target: "/-/\(name)", body: body)
        let end = await control.send(request, over: HTTPRoute(server: address), for: collector)
        try #require(end == .complete, "\(end)")
        return collector.answer
    }
}

/// Collects a complete answer.
private final class Collector: HTTPReceiver {
    private let state = Mutex((status: 0, body: [UInt8]()))
    private let start = ContinuousClock.now

    var answer: (status: Int, body: [UInt8]) { state.withLock { $0 } }
    /// The time limit is long, because the machine may be busy.
    var end: ContinuousClock.Instant { start + .seconds(600) }

    func didStartSending(at instant: ContinuousClock.Instant) {}
    func didReceiveHead(_ head: HTTPResponseHead, at instant: ContinuousClock.Instant) {
        state.withLock { $0.status = head.status }
    }
    func didReceiveBody(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            for index in part.indices { state.body.append(part[index]) }
            return true
        }
    }
}

/// A port of 127.0.0.1 that is reserved without a listener, so that no other server uses it.
private final class ReservedPort: Sendable {
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
