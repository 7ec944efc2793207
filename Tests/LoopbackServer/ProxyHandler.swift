import NIOCore
import NIOHTTP1
import NIOPosix

/// Takes one CONNECT request, opens the connection and then passes bytes both ways.
final class ProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let authorization: String?
    private let state: ServerState
    private let decoder: ByteToMessageHandler<HTTPRequestDecoder>
    private let encoder: HTTPResponseEncoder

    /// Makes the pipeline of a connection to a proxy.
    static func install(
        in pipeline: ChannelPipeline.SynchronousOperations, authorization: String?, state: ServerState
    ) throws {
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes))
        let encoder = HTTPResponseEncoder()
        try pipeline.addHandlers([
            encoder, decoder,
            ProxyHandler(authorization: authorization, state: state, decoder: decoder, encoder: encoder),
        ])
    }

    private init(
        authorization: String?, state: ServerState, decoder: ByteToMessageHandler<HTTPRequestDecoder>,
        encoder: HTTPResponseEncoder
    ) {
        self.authorization = authorization
        self.state = state
        self.decoder = decoder
        self.encoder = encoder
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        state.countConnection()
        if let authorization, head.headers.first(name: "Proxy-Authorization") != authorization {
            return refuse(.proxyAuthenticationRequired, context)
        }
        let parts = head.uri.split(separator: ":")
        guard head.method == .CONNECT, parts.count == 2, let port = Int(parts[1]) else {
            return refuse(.methodNotAllowed, context)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop).connect(host: String(parts[0]), port: port).whenComplete { result in
            let (handler, context) = bound.value
            switch result {
            case .success(let peer): handler.join(context, peer)
            case .failure: handler.refuse(.badGateway, context)
            }
        }
    }

    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: ["Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    private func join(_ context: ChannelHandlerContext, _ peer: any Channel) {
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        let pipeline = context.pipeline.syncOperations
        let channel = context.channel
        do {
            // Both channels run on one event loop, so that these are synchronous.
            try peer.pipeline.syncOperations.addHandler(TunnelHandler(to: channel))
            try pipeline.addHandler(TunnelHandler(to: peer))
        } catch {
            context.close(promise: nil)
        }
        pipeline.removeHandler(self, promise: nil)
        pipeline.removeHandler(decoder, promise: nil)
        pipeline.removeHandler(encoder, promise: nil)
    }
}

/// Passes what one connection receives on to another.
final class TunnelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let peer: any Channel

    init(to peer: any Channel) { self.peer = peer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        peer.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        peer.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
