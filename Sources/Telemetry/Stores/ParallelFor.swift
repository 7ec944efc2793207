/// A function that calls `work` with each number below `count`, possibly in parallel, and returns when all calls have
/// returned.
///
/// It allows readers to use several cores without depending on threads.
public typealias ParallelFor = @Sendable (_ count: Int, _ work: @Sendable (Int) -> Void) -> Void

/// Calls `work` with one number after another.
public let sequentialFor: ParallelFor = { count, work in
    for number in 0..<count { work(number) }
}
