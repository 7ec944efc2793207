import Telemetry

/// The part of a running job that sends the uploads of one client, one after another.
struct ClientRun {
    private let run: JobRun
    private let queue: ClientQueue
    private let settings: JobSettings
    private let system: SystemName
    /// Whether the client has an id.
    ///
    /// Records without a client id can belong to several clients, so an answer to one record does not end the others.
    private let hasID: Bool

    init(_ run: JobRun, _ queue: ClientQueue) {
        self.run = run
        self.queue = queue
        settings = run.job.settings
        let name = run.job.plan.names.clients[queue.clientIndex]
        system = name.system
        hasID = name.client != nil
    }

    /// Sends uploads until the queue is empty or the job may send nothing more for this client.
    func send() async throws {
        var answered: AnsweredUpload?
        var left = queue.sends[...]
        // The number of completely settled records, by type.
        var settled: [UInt32: Int] = [:]
        while let send = left.first {
            let (account, gate) = (run.account(of: send), run.gate(of: send))
            if let reason = blockingReason(for: account, gate) {
                run.addUndelivered(left.count, reason)
                break
            }
            if let reason = gate.closingReason {
                // The uploads of the client to other servers can still be sent.
                let server = run.server(of: send)
                let others = left.filter { run.server(of: $0) != server }
                run.addUndelivered(left.count - others.count, reason)
                left = others[...]
                continue
            }
            let record: Record
            do throws(UnusableBundleError) {
                record = try await run.job.source.loadRecord(of: send)
            } catch {
                // The uploads after this one have to wait, because the order must not change. The answered upload is
                // settled below.
                run.fail(error)
                run.addUndelivered(
                    left.count, undelivered(.bundleUnreadable, "cannot read \(error.path)"))
                break
            }
            let request: UploadRequest
            do throws(RequestError) {
                request = try self.request(for: record, account)
            } catch {
                // The server is not at fault, so the other records of the client can be sent. The remaining parts of
                // this record are skipped, because its last part would mark the whole record as settled.
                let others = left.drop { $0.record.key == send.record.key }
                run.addUndelivered(left.count - others.count, undelivered(.noRequest, error.description))
                left = others
                continue
            }
            let isMarked = try await commit(answered, marking: send)
            answered = nil
            guard isMarked else {
                run.addUndelivered(
                    left.count, undelivered(.dailyLimit, "the daily limit was reached while the job ran"))
                break
            }
            var answer = await answer(to: request, for: send, recordID: record.id, account)
            let outcome = answer.settlement.outcome
            guard answer.settlement.attempt != .none else {
                // The server or the job was stopped while the upload waited. The next iteration finds the reason.
                answered = answer
                continue
            }
            run.log(outcome, of: send, record)
            left.removeFirst()
            if outcome.isSettled, send.completesRecord { settled[send.record.typeIndex, default: 0] += 1 }
            let abortReason = answer.abortReason
            if hasID, answer.instructions.endsClient {
                let others = left.filter { run.job.plan.pool.takesPrecedence(typeIndex: $0.record.typeIndex) }
                answer.settlement.endsClient = true
                answer.abortReason = endedReason
                answer.end = (settled, withheldUploads: left.count - others.count)
                left = others[...]
            }
            answered = answer
            guard outcome.isSettled else {
                run.addUndelivered(
                    left.count,
                    abortReason ?? undelivered(.earlierUploadFailed, "an earlier upload of the client failed"))
                break
            }
            if let delay = answer.instructions.nextDelay, delay > 0, !left.isEmpty {
                guard delay <= settings.backoff.maximumDelay else {
                    run.addUndelivered(
                        left.count,
                        undelivered(.clientPaused, "the server requires a longer delay between uploads of a client"))
                    break
                }
                // The outcome is stored before the delay, so that it is not lost if the job is killed meanwhile.
                try await commit(answered, marking: nil)
                answered = nil
                // Cancellation ends the sleep. The next iteration finds the reason.
                try? await Task.sleep(for: .seconds(delay))
            }
        }
        if answered != nil { try await commit(answered, marking: nil) }
    }

    /// An upload that has an outcome, but is not settled in the ledger yet.
    private struct AnsweredUpload {
        var settlement: Settlement
        /// The reason why no further attempt was made, or `nil` if the outcome specifies the reason.
        var abortReason: UndeliveredReason?
        /// The instructions in the last answer.
        ///
        /// If an earlier answer ended the client, `endsClient` is `true` here as well.
        var instructions = AnswerInstructions()
        /// The number of records of each type that were settled before the answer ended the client, and the number of
        /// planned uploads that are not sent, or `nil` if the answer did not end the client.
        var end: (settled: [UInt32: Int], withheldUploads: Int)?
    }

    private func undelivered(_ code: UndeliveredCode, _ text: String) -> UndeliveredReason {
        UndeliveredReason(system, code, text)
    }

    private var endedReason: UndeliveredReason {
        undelivered(.deletionRequested, "the server accepts nothing more of this client")
    }

    /// Settles an answered upload, marks `send` as in flight, and counts the outcome.
    ///
    /// Returns whether `send` may be sent.
    @discardableResult
    private func commit(_ answered: AnsweredUpload?, marking send: PlannedUpload?) async throws -> Bool {
        let settlement = answered?.settlement
        do {
            let isMarked = try await run.job.ledger.commit(settling: settlement, marking: send, at: settings.now())
            if let settlement, settlement.attempt != .none { run.count(settlement, answered?.abortReason) }
            if let end = answered?.end {
                run.end(client: queue.clientIndex, settled: end.settled)
                run.addUndelivered(end.withheldUploads, endedReason)
            }
            return isMarked
        } catch {
            if let settlement, settlement.attempt != .none {
                let reason = "the ledger could not record the answer, so that it is still in flight"
                run.count(
                    Settlement(send: settlement.send, recordID: settlement.recordID, outcome: .unknown(reason: reason)),
                    nil)
            }
            throw error
        }
    }

    /// Returns the reason why nothing more is sent for the client, or `nil` if uploads may be sent.
    private func blockingReason(for account: Account, _ gate: Gate) -> UndeliveredReason? {
        if Task.isCancelled { return gate.jobStoppedReason }
        guard run.isStopped(account) else { return nil }
        return undelivered(.credentialRefused, "the credential of \(account.label) was not accepted")
    }

    private func request(for record: Record, _ account: Account) throws(RequestError) -> UploadRequest {
        guard let credential = settings.credentials.credential(for: account) else {
            throw .noCredential(settings.credentials.settingHint(for: account))
        }
        guard let format = format(of: account) else { throw .noTarget }
        return try UploadRequest(
            format, target: record.target, payload: record.payload, credential: credential,
            secrets: run.mask(of: account, credential), now: settings.now(), agent: settings.sender.agent)
    }

    private func format(of account: Account) -> (any UploadFormat)? {
        settings.credentials.systems[account.system]?.uploads
    }

    /// Sends a request, retrying if possible, and returns the result of all attempts.
    private func answer(
        to request: UploadRequest, for send: PlannedUpload, recordID: String, _ account: Account
    ) async -> AnsweredUpload {
        var result = AnsweredUpload(
            settlement: Settlement(
                send: send, recordID: recordID,
                outcome: .retryLater(reason: "no system is called \(account.system)")))
        guard let format = format(of: account), let server = run.server(of: send) else { return result }
        let gate = run.gate(of: send)
        var attempts = Attempts(of: format, backoff: settings.backoff)
        result.settlement.attempt = .none
        while true {
            if let reason = await gate.waitUntilOpen() {
                result.settlement.outcome = attempts.outcomeWithoutRetry(reason.phrase)
                if result.settlement.attempt != .complete { result.abortReason = reason }
                return result
            }
            if let pace = run.pace {
                await pace.wait()
                // The server or the job may have been stopped meanwhile. The gate then returns the reason.
                if Task.isCancelled || gate.closingReason != nil {
                    gate.repeatLater()
                    continue
                }
            }
            result.settlement.attempt = .complete
            let step: AttemptStep
            do throws(SendError) {
                let answer = try await run.sender.send(request, to: server)
                let hasEnded = result.instructions.endsClient
                result.instructions = format.instructions(in: answer)
                if hasEnded { result.instructions.endsClient = true }
                if let seconds = Attempts.requestedPause(in: answer) {
                    gate.pause(seconds: min(seconds, Int(settings.backoff.maximumDelay)))
                    result.settlement.pause = Pause(
                        endpoint: server.endpoint.address, seconds: seconds, now: settings.now())
                }
                step = attempts.step(after: answer, result.instructions, jitter: settings.jitter())
            } catch {
                // A request that was cut off, because the job was stopped, does not show that the server failed.
                if Task.isCancelled { result.settlement.attempt = .cutOff }
                step = attempts.step(after: error, jitter: settings.jitter())
            }
            switch step {
            case .retry(let delay):
                gate.repeatLater()
                // Cancellation ends the sleep. The gate then returns the reason.
                if delay > 0 { try? await Task.sleep(for: .seconds(delay)) }
            case .finished(let outcome, let impact):
                gate.report(outcome, impact)
                if impact == .credentialRejected { run.stop(account) }
                result.settlement.outcome = outcome
                if outcome.isSettled { result.settlement.pause = nil }
                if result.settlement.attempt == .cutOff { result.abortReason = gate.jobStoppedReason }
                return result
            }
        }
    }
}
