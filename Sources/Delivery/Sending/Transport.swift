/// What a sender needs of a library that speaks HTTP: connections to one endpoint, and no rule of ours.
protocol Transport: Sendable {
    /// Sends a request once, follows nothing, and tells the exchange what comes back, as it comes. Returns when all of the
    /// answer has come, or no more is wanted.
    ///
    /// When its task is cancelled, the connection is closed.
    func send(_ request: UploadRequest, _ exchange: Exchange) async throws(SendFailure)

    /// Closes all connections.
    func shutdown() async
}

/// How a server is reached, in words for messages.
struct Route: Sendable {
    let endpoint: Endpoint
    /// What connections are made through.
    let proxy: Proxy?

    var server: String { "\(endpoint.host):\(endpoint.port)" }
    /// The machine that is connected to.
    var firstStop: String { proxy.map { "the proxy \($0)" } ?? server }
    /// What follows the word connection.
    var way: String { proxy.map { " through the proxy \($0)" } ?? "" }
}
