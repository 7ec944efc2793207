import Bytes

/// The head of a response.
public struct HTTPResponseHead: Sendable, Equatable {
    /// The status code.
    public var status: Int
    /// The first value of each field in ``HTTPSettings/responseFields`` that the response contains, by lowercase name.
    public var fields: [CapturedText: String]

    /// Creates a head.
    public init(status: Int, fields: [CapturedText: String] = [:]) {
        self.status = status
        self.fields = fields
    }
}

/// An object that processes a response as it arrives and determines the deadline for the rest of the response.
///
/// The methods are called on the thread of the client and must return quickly. The protocol requires a class, because
/// the client and the sender of the request share the object.
public protocol HTTPReceiver: AnyObject, Sendable {
    /// Called when the client starts to send the request.
    ///
    /// Before this call, the server cannot have received any part of the request. If the deadline passes while a long
    /// body is still being sent, the method is called again, and may extend the deadline.
    func didStartSending(at instant: ContinuousClock.Instant)

    /// Called at most once, when the head of the response has arrived.
    func didReceiveHead(_ head: HTTPResponseHead, at instant: ContinuousClock.Instant)

    /// Called when a part of the response body has arrived, and returns whether to continue.
    ///
    /// If the method returns `false`, the connection is closed. The bytes are valid only during the call.
    func didReceiveBody(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool

    /// The current deadline for the response.
    ///
    /// If the deadline becomes earlier outside of the methods of this protocol, call `HTTPClient.deadlinesChanged()`.
    var end: ContinuousClock.Instant { get }
}

/// The reason why a request ended.
public enum HTTPOutcome: Sendable, Equatable {
    /// The complete response arrived.
    case complete
    /// The receiver stopped the response.
    case enough
    /// The deadline of the receiver passed.
    case late
    /// An error occurred.
    case failed(HTTPError)
}
