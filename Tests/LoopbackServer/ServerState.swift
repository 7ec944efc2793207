import Crypto
import Foundation
import Synchronization

/// What the server was told to do and what it received: shared by its connections.
final class ServerState: Sendable {
    private let contents = Mutex(Contents())

    private struct Contents {
        var rules: [Rule] = []
        var receipts: [String: Receipt] = [:]
        var requests: [ReceivedRequest] = []
        var keep = 0
        var total = 0
        var connections = 0
        var epoch = 0
        var murder: Murder?
        /// The answers that are held back.
        var held: [@Sendable () -> Void] = []
    }

    /// An upload that arrived: one path and body.
    struct Receipt: Codable {
        var path: String
        var sha256: String
        var client: String?
        /// How often the whole request arrived.
        var times = 0
        /// How often it was answered with 2xx.
        var accepted = 0
        /// The epoch in which it arrived last.
        var epoch = 0
    }

    /// What a test may ask for.
    struct Report: Codable {
        var total: Int
        var connections: Int
        var distinct: Int
        var receipts: [Receipt]?
        var requests: [ReceivedRequest]
    }

    /// Orders of a test.
    struct Orders: Codable {
        var rules: [Rule]?
        /// How many requests to keep in full.
        var keep: Int?
        /// Begins an epoch.
        var epoch: Int?
        /// The process to kill.
        var murder: Murder?
        /// Whether to let the answers go that are held back.
        var release: Bool?
    }

    /// A process that is to be killed some time after a number of requests.
    struct Murder: Codable {
        var process: Int32
        var requests: Int
        var microseconds: Int64
    }

    func obey(_ body: [UInt8]) -> Bool {
        guard let orders = try? JSONDecoder().decode(Orders.self, from: Data(body)) else { return false }
        let released = contents.withLock {
            if let rules = orders.rules { $0.rules = rules }
            if let keep = orders.keep { $0.keep = keep }
            if let epoch = orders.epoch { $0.epoch = epoch }
            if let murder = orders.murder { $0.murder = murder }
            let held = orders.release == true ? $0.held : []
            $0.held.removeFirst(held.count)
            return held
        }
        for answer in released { answer() }
        return true
    }

    func report(receipts: Bool) -> [UInt8] {
        let report = contents.withLock {
            Report(
                total: $0.total, connections: $0.connections, distinct: $0.receipts.count,
                receipts: receipts ? Array($0.receipts.values) : nil, requests: $0.requests)
        }
        return (try? JSONEncoder().encode(report)).map(Array.init) ?? []
    }

    /// Takes an answer that has to wait for an order to be given.
    func hold(_ answer: @escaping @Sendable () -> Void) { contents.withLock { $0.held.append(answer) } }

    func countConnection() { contents.withLock { $0.connections += 1 } }

    /// The first rule that applies to a request, used up by that.
    func rule(for request: ReceivedRequest) -> Rule? {
        contents.withLock { contents in
            guard let index = contents.rules.firstIndex(where: { $0.applies(to: request) }) else { return nil }
            let rule = contents.rules[index]
            if let times = rule.times { contents.rules[index].times = times - 1 }
            return rule
        }
    }

    /// Whether a rule cuts a request off when its head has arrived; it is used up by that.
    func takesCutBeforeBody(of path: String) -> Bool {
        contents.withLock { contents in
            guard let index = contents.rules.firstIndex(where: { $0.cut == "before" && $0.applies(toHead: path) })
            else { return false }
            if let times = contents.rules[index].times { contents.rules[index].times = times - 1 }
            return true
        }
    }

    /// Whom to kill now, if the number of requests for that was reached.
    func takeMurder() -> Murder? {
        contents.withLock { contents in
            guard var murder = contents.murder else { return nil }
            murder.requests -= 1
            contents.murder = murder.requests > 0 ? murder : nil
            return murder.requests > 0 ? nil : murder
        }
    }

    /// Counts a request whose body arrived.
    func record(_ request: ReceivedRequest, accepted: Bool) {
        let digest = SHA256.hash(data: request.identity).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        let hash = digest.joined()
        let client = request.clientID
        contents.withLock { contents in
            contents.total += 1
            let key = request.path + hash
            contents.receipts[key, default: Receipt(path: request.path, sha256: hash, client: client)].times += 1
            contents.receipts[key]?.epoch = contents.epoch
            if accepted { contents.receipts[key]?.accepted += 1 }
            if contents.requests.count < contents.keep { contents.requests.append(request) }
        }
    }
}

/// What the server does instead of answering as it should.
struct Rule: Codable {
    /// What the path has to start with.
    var path: String?
    /// What has to stand in the body.
    var contains: String?
    /// How many requests it still applies to; without it, all.
    var times: Int?
    var status: Int?
    var headers: [String: String]?
    var text: String?
    /// Milliseconds before the answer.
    var stall: Int?
    /// Whether the answer waits until the test lets it go.
    var hold: Bool?
    /// `before` the body was read, or `after`: closes the connection without an answer. `answer`: closes it after `raw`.
    var cut: String?
    /// Bytes that are written in the place of an answer, whatever they say: an answer that is cut, or none at all.
    var raw: String?
    /// After `raw`, milliseconds between bytes that come without end.
    var drip: Int?

    func applies(toHead path: String) -> Bool {
        (times ?? 1) > 0 && !path.hasPrefix("/-/") && path.hasPrefix(self.path ?? "")
    }

    func applies(to request: ReceivedRequest) -> Bool {
        guard cut != "before", applies(toHead: request.path) else { return false }
        guard let contains else { return true }
        return request.body.range(of: Data(contains.utf8)) != nil
    }
}

/// A request as it arrived.
struct ReceivedRequest: Codable {
    var method: String
    var path: String
    var headers: [[String]]
    var body: Data

    /// What tells uploads of one path apart: the body, without the time in a Leanplum form.
    var identity: Data {
        guard path == "/api", let time = body.range(of: Data("&time=".utf8), options: .backwards) else { return body }
        return body[..<time.lowerBound]
    }

    /// The client id in a Mozilla ping.
    var clientID: String? {
        let key = Data(#""clientId":""#.utf8)
        guard let start = body.range(of: key)?.upperBound,
            let end = body[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return String(decoding: body[start..<end], as: UTF8.self)
    }
}
