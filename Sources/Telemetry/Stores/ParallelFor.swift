/// A function that calls `work` with each number in `0..<count`, possibly in parallel.
///
/// The function returns after all calls have returned. It allows readers to use several cores without depending on
/// threads.
public typealias ParallelFor = @Sendable (_ count: Int, _ work: @Sendable (Int) -> Void) -> Void

/// Calls `work` with each number in order, without parallelism.
public let sequentialFor: ParallelFor = { count, work in
    for number in 0..<count { work(number) }
}
