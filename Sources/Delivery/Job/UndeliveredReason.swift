import Telemetry

/// Why an upload that was planned is left for another job: a code that stays the same, and the words for it.
public struct UndeliveredReason: Sendable, Hashable {
    /// The system whose upload it is.
    public let system: SystemName
    /// The code: `no-answer`, `status-503`, ….
    public let code: String
    /// The status of the answer that is the reason; `nil` if there was none.
    public let status: Int?
    /// The reason in words; a server may have given them.
    public let text: String

    /// What can keep an upload from being tried, or from having its outcome.
    enum Code: String {
        /// The server may have it, but did not say so.
        case perhapsDelivered = "perhaps-delivered"
        /// No connection, or no answer to a request that did not arrive.
        case noAnswer = "no-answer"
        /// The server does not accept the credential.
        case credentialRefused = "credential-refused"
        /// The server was left alone for the rest of the job.
        case serverLeftAlone = "server-left-alone"
        /// The server gave the same refusal too many times in this job.
        case refusalLimit = "refusal-limit"
        /// The job was told to stop.
        case jobStopped = "job-stopped"
        /// An upload of the client that goes before it failed.
        case earlierUploadFailed = "earlier-upload-failed"
        /// The daily limit was reached while the job ran.
        case dailyLimit = "daily-limit"
        /// Its bundle cannot be read any more.
        case bundleUnreadable = "bundle-unreadable"
        /// No request can be made of it.
        case noRequest = "no-request"
    }

    /// A reason of this program.
    init(_ system: SystemName, _ code: Code, _ text: String, status: Int? = nil) {
        self.system = system
        self.code = code.rawValue
        self.status = status
        self.text = text
    }

    /// An answer that asks for another attempt, or none.
    init(_ system: SystemName, status: Int?, _ text: String) {
        self.system = system
        code = status.map { "status-\($0)" } ?? Code.noAnswer.rawValue
        self.status = status
        self.text = text
    }

    /// The status, if there is one, and the reason in words: `503 the server is busy or failing`.
    public var phrase: String { status.map { "\($0) \(text)" } ?? text }
}
