import Bytes
import Telemetry

/// The reason why a planned upload was not delivered in a job: a stable code and a message.
public struct UndeliveredReason: Sendable, Hashable {
    /// The system of the upload.
    public let system: SystemName
    /// The stable code, such as `no-answer` or `status-503`.
    @CapturedText public private(set) var code: String
    /// The HTTP status of the answer, or `nil` if the reason is not an answer.
    public let status: Int?
    /// The message, which may contain text from the server.
    @CapturedText public private(set) var text: String

    /// The codes of reasons other than an HTTP status.
    enum Code: String {
        /// The server may have received the upload, but its answer is missing.
        case perhapsDelivered = "perhaps-delivered"
        /// No connection was made, or the request did not reach the server.
        case noAnswer = "no-answer"
        case credentialRefused = "credential-refused"
        /// No more requests are sent to the server in this job.
        case serverStopped = "server-left-alone"
        /// The server sent the same refusal too often in this job.
        case refusalLimit = "refusal-limit"
        case jobStopped = "job-stopped"
        case earlierUploadFailed = "earlier-upload-failed"
        /// The server requested a long delay before the next upload of the client.
        case clientPaused = "client-paused"
        /// The server accepts no more uploads of the client, so that later jobs do not send them either.
        case deletionRequested = "deletion-requested"
        case dailyLimit = "daily-limit"
        case bundleUnreadable = "bundle-unreadable"
        /// No request can be created from the record.
        case noRequest = "no-request"
    }

    init(_ system: SystemName, _ code: Code, _ text: String, status: Int? = nil) {
        self.system = system
        self.code = code.rawValue
        self.status = status
        self.text = text
    }

    /// Creates a reason from the HTTP status of an answer, or from a missing answer if `status` is `nil`.
    init(_ system: SystemName, status: Int?, _ text: String) {
        self.system = system
        code = status.map { "status-\($0)" } ?? Code.noAnswer.rawValue
        self.status = status
        self.text = text
    }

    /// The message, preceded by the status if there is one, such as `503 the server is busy or failing`.
    ///
    /// For uploads that were not attempted, because a server had failed, `not tried after` precedes both.
    public var phrase: String {
        let answer = status.map { "\($0) \(text)" } ?? text
        return code == Code.serverStopped.rawValue ? "not tried after \(answer)" : answer
    }
}
