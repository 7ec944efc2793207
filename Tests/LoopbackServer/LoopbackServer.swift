import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A server on 127.0.0.1 for tests and measurements, which behaves like the servers that uploads go to, counts what it
/// received, and fails as it is told to. It prints its port when it is ready and runs until it is killed.
///
/// Source of its behaviour: "Mozilla's HTTP edge server: behaviour measured on loopback".
@main
struct LoopbackServer {
    static func main() async throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        if options.endsWithParent { endWithParent(in: group.next()) }
        let tls = try options.tls.map { try NIOSSLContext(configuration: $0) }
        let state = ServerState()
        let server = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    if options.isProxy {
                        try ProxyHandler.install(in: pipeline, authorization: options.proxyAuthorization, state: state)
                    } else {
                        try pipeline.configureHTTPServerPipeline()
                        try pipeline.addHandler(IdleStateHandler(allTimeout: options.idleLimit))
                        try pipeline.addHandler(RequestHandler(state: state))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: options.port).get()
        // One write, and at once: the test waits for this line.
        var line = ByteBuffer(string: "\(server.localAddress?.port ?? 0)\n")
        _ = line.readWithUnsafeReadableBytes { write(1, $0.baseAddress, $0.count) }
        try await server.closeFuture.get()
    }

    /// Tests that crash leave nothing behind.
    private static func endWithParent(in loop: any EventLoop) {
        let parent = getppid()
        loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            if getppid() != parent { exit(0) }
        }
    }
}

/// What the server is told at its start.
struct Options {
    var port = 0
    var idleLimit = TimeAmount.seconds(2)
    var endsWithParent = false
    var isProxy = false
    var proxyAuthorization: String?
    var tls: TLSConfiguration?

    init(_ arguments: some Sequence<String>) throws {
        var values: [String: String] = [:]
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            values[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
        }
        port = values["--port"].flatMap { Int($0) } ?? 0
        idleLimit = .milliseconds(values["--idle-ms"].flatMap { Int64($0) } ?? 2000)
        endsWithParent = values["--ends-with-parent"] != nil
        isProxy = values["--proxy"] != nil
        proxyAuthorization = values["--proxy-authorization"]
        guard let certificate = values["--certificate"], let key = values["--key"] else { return }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        if let authority = values["--client-authority"] {
            configuration.trustRoots = .file(authority)
            configuration.certificateVerification = .noHostnameVerification
        }
        tls = configuration
    }
}
