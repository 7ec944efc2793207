import Foundation
import NIOCore
import NIOHTTP1

/// Answers the requests of one connection.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let state: ServerState
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var isBusy = false

    init(state: ServerState) { self.state = state }

    func channelActive(context: ChannelHandlerContext) {
        state.countConnection()
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            if !isBusy { context.close(promise: nil) }
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isBusy = true
            self.head = head
            body.clear()
            if state.takesCutBeforeBody(of: head.uri) {
                // What arrived with the head is still passed on.
                self.head = nil
                context.close(promise: nil)
            }
        case .body(var part): body.writeBuffer(&part)
        case .end: respond(context)
        }
    }

    private func respond(_ context: ChannelHandlerContext) {
        guard let head else { return }
        self.head = nil
        let bytes = Data(body.readableBytesView)
        if head.uri.hasPrefix("/-/") { return control(head, bytes, context) }
        let request = ReceivedRequest(
            method: head.method.rawValue, path: head.uri, headers: head.headers.map { [$0.name, $0.value] },
            body: bytes)
        if let murder = state.takeMurder() {
            context.eventLoop.scheduleTask(in: .microseconds(murder.microseconds)) { kill(murder.process, SIGKILL) }
        }
        let rule = state.rule(for: request)
        if rule?.cut == "after" {
            state.record(request, accepted: false)
            context.close(promise: nil)
            return
        }
        if let rule, let raw = rule.raw {
            state.record(request, accepted: raw.hasPrefix("HTTP/1.1 2"))
            return write(raw: raw, rule, context)
        }
        let answer = rule?.answer ?? EdgeAnswer(to: request)
        state.record(request, accepted: (200..<300).contains(answer.status))
        let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
        let write: @Sendable () -> Void = {
            let (handler, context) = bound.value
            handler.write(answer, keepAlive: head.isKeepAlive, context)
        }
        if rule?.hold == true {
            state.hold { loop.execute(write) }
        } else if let stall = rule?.stall {
            loop.scheduleTask(in: .milliseconds(Int64(stall)), write)
        } else {
            write()
        }
    }

    /// Writes bytes past the encoder; then closes, drips, or says nothing more.
    private func write(raw: String, _ rule: Rule, _ context: ChannelHandlerContext) {
        guard let below = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self) else {
            return context.close(promise: nil)
        }
        let channel = NIOLoopBound((context, below), eventLoop: context.eventLoop)
        let put: @Sendable (String) -> Void = { text in
            let bytes = IOData.byteBuffer(ByteBuffer(string: text))
            channel.value.1.writeAndFlush(NIOAny(bytes), promise: nil)
        }
        put(raw)
        if rule.cut == "answer" { return context.close(promise: nil) }
        guard let drip = rule.drip else { return }
        let gap = TimeAmount.milliseconds(Int64(drip))
        context.eventLoop.scheduleRepeatedTask(initialDelay: gap, delay: gap) { task in
            guard channel.value.0.channel.isActive else { return task.cancel() }
            put("x")
        }
    }

    /// Orders and questions of the test itself.
    private func control(_ head: HTTPRequestHead, _ body: Data, _ context: ChannelHandlerContext) {
        let answer: EdgeAnswer
        switch head.uri {
        case "/-/orders": answer = EdgeAnswer(status: state.obey([UInt8](body)) ? 204 : 400)
        case "/-/report": answer = EdgeAnswer(status: 200, body: state.report(receipts: true))
        case "/-/totals": answer = EdgeAnswer(status: 200, body: state.report(receipts: false))
        default: answer = EdgeAnswer(status: 404)
        }
        write(answer, keepAlive: head.isKeepAlive, context)
    }

    private func write(_ answer: EdgeAnswer, keepAlive: Bool, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders(answer.headers.map { ($0.key, $0.value) })
        if !answer.isChunked { headers.add(name: "Content-Length", value: "\(answer.body.count)") }
        context.write(
            wrapOutboundOut(
                .head(HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status), headers: headers))),
            promise: nil)
        if !answer.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        }
        isBusy = false
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        guard !keepAlive else { return }
        // Not before: what is not written by then would be dropped.
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        written.whenComplete { _ in bound.value.close(promise: nil) }
    }
}

/// An answer of one of the servers.
struct EdgeAnswer {
    var status: Int
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// Mozilla's edge sends its empty 200 in chunks, with no length.
    var isChunked = false

    init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// What the server that knows the path answers.
    init(to request: ReceivedRequest) {
        let parts = request.path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if request.path.hasPrefix("/submit") {
            self.init(edge: request, path: parts[0].utf8.count, query: parts.count == 2 ? parts[1].utf8.count : 0)
        } else if request.path == "/api" {
            self.init(status: 200, body: Array(#"{"response":[{"success":true}]}"#.utf8))
        } else if request.path == "/v3/links/ping-centre" || request.path.hasPrefix("/v3/accounts/") {
            self.init(status: 200)
        } else {
            self.init(status: 404)
        }
    }

    private init(edge request: ReceivedRequest, path: Int, query: Int) {
        let recorded = ["user-agent", "date", "x-debug-id"]
        let hasLongHeader = request.headers.contains {
            $0[1].utf8.count > 1024 && recorded.contains($0[0].lowercased())
        }
        if request.method != "POST", request.method != "PUT" {
            self.init(status: 405)
        } else if request.body.count >= 10_000_000 {
            self.init(status: 413, body: Array("payload too large".utf8))
        } else if path > 1024 || query > 1024 || hasLongHeader {
            self.init(status: 431, body: Array("header too large".utf8))
        } else {
            self.init(status: 200)
            isChunked = true
        }
    }
}

extension Rule {
    /// What the rule answers; nil if it leaves that to the server.
    var answer: EdgeAnswer? {
        status.map { EdgeAnswer(status: $0, headers: headers ?? [:], body: Array((text ?? "").utf8)) }
    }
}
