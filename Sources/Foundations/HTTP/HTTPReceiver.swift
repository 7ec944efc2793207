/// The head of an answer.
public struct HTTPHead: Sendable, Equatable {
    /// The status code.
    public var status: Int
    /// Those fields that are wanted, by their names in lower case; of one that comes twice, the first.
    public var fields: [String: String]

    /// Makes a head.
    public init(status: Int, fields: [String: String] = [:]) {
        self.status = status
        self.fields = fields
    }
}

/// Takes an answer as it comes, and says how long to wait for more of it. It is called on the thread of the client, and must
/// not take long.
///
/// A class, because a client and whoever waits for the answer share it.
public protocol HTTPReceiver: AnyObject, Sendable {
    /// The request goes out: until this is called the server cannot know anything of it. Called again at times while a long
    /// body is still on its way.
    func requestGoes(at instant: ContinuousClock.Instant)

    /// The head of the answer came; at most once.
    func headCame(_ head: HTTPHead, at instant: ContinuousClock.Instant)

    /// A part of the body came.
    /// - Returns: whether more of it is wanted.
    func bodyCame(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool

    /// Until when to wait, as far as is known now. Where it moves nearer while nothing comes, `HTTPClient.lookAtClocks()` has
    /// to be called.
    var end: ContinuousClock.Instant { get }
}

/// Why a request is over.
public enum HTTPEnd: Sendable, Equatable {
    /// The whole answer came.
    case complete
    /// Its receiver wanted no more.
    case enough
    /// The receiver's end was reached.
    case late
    /// There will be no more of an answer.
    case failed(HTTPError)
}
