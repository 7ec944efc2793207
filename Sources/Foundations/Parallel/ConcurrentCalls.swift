import Dispatch
import Synchronization

extension JobLimit {
    /// Calls `work` for each number from 0 to `count - 1` and waits for all calls.
    ///
    /// The calls run on this thread, which already occupies a slot, and on one additional thread for each free slot.
    public func concurrentPerform(_ count: Int, _ work: @Sendable (Int) -> Void) {
        let others = acquireFreeSlots(upTo: count - 1)
        guard others > 0 else {
            for number in 0..<count { work(number) }
            return
        }
        defer { for _ in 0..<others { releaseSlot() } }
        let next = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: others + 1) { _ in
            while true {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < count else { return }
                work(number)
            }
        }
    }

    /// Acquires at most `count` slots without waiting, and returns the number of acquired slots.
    private func acquireFreeSlots(upTo count: Int) -> Int {
        state.withLock { state in
            let acquired = max(0, min(state.freeSlots, count))
            state.freeSlots -= acquired
            return acquired
        }
    }
}
