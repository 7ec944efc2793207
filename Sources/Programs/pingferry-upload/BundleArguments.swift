import ArgumentParser

/// The bundles that a command was given.
enum BundleArguments {
    /// Refuses the standard input: a job, and the jobs of the nights after it, read a bundle again and again.
    static func check(_ bundles: [String]) throws {
        guard !bundles.contains("-") else {
            throw ValidationError("a bundle comes from a file here, not from standard input: store it first")
        }
    }
}
