import Synchronization
import Telemetry

/// The head of an answer: what is above its body.
struct AnswerHead: Sendable, Equatable {
    /// The status code.
    var status: Int
    /// The field `Retry-After`.
    var retryAfter: String?
    /// The field `Location`.
    var location: String?
}

/// One request and what comes back of its answer, bounded in time and size.
///
/// A library that speaks HTTP tells it what arrives. When the exchange is over is decided here, whatever the library does:
/// a server that gives a byte now and then must not hold up a job.
///
/// A class, because the library, the clock and the sender share it.
final class Exchange: Sendable {
    /// Why an exchange is over.
    enum End: Sendable, Equatable {
        /// The whole answer came.
        case complete
        /// More of the body came than anybody reads.
        case enough
        /// The library gave up.
        case failed(SendFailure)
        /// The time was up.
        case late
        /// The job was told to stop, and the time that is left to answers then was up.
        case stopped
    }

    private struct State {
        var pace: ExchangePace
        var head: AnswerHead?
        var body: [UInt8] = []
        var length = 0
    }

    private let state: Mutex<State>
    private let end = FirstValue<End>()
    /// Given when the head came, or never will: from then on less time may be left than before.
    private let headOrEnd = FirstValue<Void>()

    /// How long answers may still take once the job was told to stop. The job has to end within 5 seconds: what is left
    /// of them is for the ledger.
    static let stopPatience = Duration.seconds(3)
    /// How much of a body is read, so that its connection can be used again.
    private static let readingLimit = 16 * Answer.bodyLimit

    /// Begins now.
    init(whole: Duration, patience: Duration) {
        state = Mutex(State(pace: ExchangePace(start: .now, whole: whole, patience: patience)))
    }

    // MARK: What a library tells

    /// The head of the answer came: from now on it is known what became of the request.
    func headCame(_ head: AnswerHead) {
        state.withLock { state in
            state.head = head
            state.pace.headCame(at: .now)
        }
        headOrEnd.give(())
    }

    /// A part of the body came.
    /// - Returns: whether more of it is wanted.
    func bodyCame(_ part: some Collection<UInt8>) -> Bool {
        let isEnough = state.withLock { state in
            state.length += part.count
            state.pace.bodyCame(part.count)
            if state.body.count < Answer.bodyLimit {
                state.body.append(contentsOf: part.prefix(Answer.bodyLimit - state.body.count))
            }
            return state.length > Self.readingLimit
        }
        if isEnough { end.give(.enough) }
        return !isEnough
    }

    // MARK: Running

    /// Runs a library's part until the exchange is over. The library's task is cancelled then, and not waited for.
    func run(_ library: @escaping @Sendable (Exchange) async throws(SendFailure) -> Void) async -> End {
        let work = Task {
            do throws(SendFailure) {
                try await library(self)
                end.give(.complete)
            } catch {
                end.give(.failed(error))
            }
        }
        let watch = Task { await watchClock() }
        let bodyWatch = Task {
            await headOrEnd.value()
            await watchClock()
        }
        defer {
            work.cancel()
            watch.cancel()
            bodyWatch.cancel()
            headOrEnd.give(())
        }
        return await withTaskCancellationHandler {
            await end.value()
        } onCancel: {
            Task {
                try? await Task.sleep(for: Self.stopPatience)
                end.give(.stopped)
            }
        }
    }

    /// The end moves away while a body comes at a good pace.
    private func watchClock() async {
        while !Task.isCancelled {
            let due = state.withLock { $0.pace.end }
            guard due > .now else { return end.give(.late) }
            try? await Task.sleep(until: due, clock: .continuous)
        }
    }

    /// What came of the answer; nil if not even its head did.
    /// - Parameter end: why the exchange is over.
    func answer(_ end: End) -> (head: AnswerHead, body: [UInt8], isWhole: Bool)? {
        state.withLock { state in
            guard let head = state.head else { return nil }
            return (head, state.body, end == .complete && state.length == state.body.count)
        }
    }
}
