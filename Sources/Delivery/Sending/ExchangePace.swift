/// How long an exchange may go on: a request, and the whole of its answer.
///
/// A value without a clock: it is told what happens, and says until when to wait.
struct ExchangePace {
    private let deadline: ContinuousClock.Instant
    private let patience: Duration
    private var headCame: ContinuousClock.Instant?
    private var bytes = 0

    /// The slowest body that is waited for, in bytes a second on average, after as long as a server may say nothing.
    ///
    /// Answers are a few hundred bytes, so that no honest server is near this: one that gives a byte now and then would
    /// hold up a job otherwise.
    static let slowestBody = 1000

    /// - Parameters:
    ///   - start: when the exchange began.
    ///   - whole: how long all of it may take.
    ///   - patience: how long a server may say nothing.
    init(start: ContinuousClock.Instant, whole: Duration, patience: Duration) {
        deadline = start + whole
        self.patience = patience
    }

    /// The head of the answer came.
    mutating func headCame(at instant: ContinuousClock.Instant) { headCame = headCame ?? instant }

    /// Some of the body came.
    mutating func bodyCame(_ count: Int) { bytes += count }

    /// When the exchange is over, unless more comes before that.
    var end: ContinuousClock.Instant {
        guard let headCame else { return deadline }
        return min(deadline, headCame + patience + .milliseconds(bytes * 1000 / Self.slowestBody))
    }
}
