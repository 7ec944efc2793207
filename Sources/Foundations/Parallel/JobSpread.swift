import Dispatch
import Synchronization

extension JobLimit {
    /// Runs a piece of work for each number below a count, on this thread and on as many others as there are free places;
    /// returns when all are done. The caller has a place already.
    public func spread(_ count: Int, _ work: @Sendable (Int) -> Void) {
        let others = takeFree(upTo: count - 1)
        guard others > 0 else {
            for number in 0..<count { work(number) }
            return
        }
        defer { for _ in 0..<others { leave() } }
        let next = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: others + 1) { _ in
            while true {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < count else { return }
                work(number)
            }
        }
    }

    /// Occupies places that are free now.
    private func takeFree(upTo count: Int) -> Int {
        state.withLock { state in
            let taken = max(0, min(state.free, count))
            state.free -= taken
            return taken
        }
    }
}
