/// Runs a piece of work for each number below a count, perhaps several at the same time, and returns when all are done.
///
/// How a transform uses more than one core without knowing of threads.
public typealias Spread = @Sendable (_ count: Int, _ work: @Sendable (Int) -> Void) -> Void

/// One number after another.
public let oneAfterAnother: Spread = { count, work in
    for number in 0..<count { work(number) }
}
