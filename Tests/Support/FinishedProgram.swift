import Foundation

/// What a program left when it ended.
public struct FinishedProgram: Sendable {
    /// The exit status; of a signal, its number and 128, as a shell has it.
    public let status: Int32
    /// What it printed.
    public let output: Data
    /// What it printed to standard error.
    public let errors: String

    /// What it printed, as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// The lines that it printed.
    public var lines: [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
    /// The words that it printed, separated by single spaces, for text that the program wraps.
    public var unwrapped: String { text.split { $0.isWhitespace }.joined(separator: " ") }
    /// The lines that it printed to standard error.
    public var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

    /// The output as an object of JSON, as another implementation reads it.
    public func json() throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: output) as? [String: Any] else {
            throw CocoaError(.propertyListReadCorrupt)
        }
        return object
    }
}

extension RunningProgram {
    /// Waits for its end.
    public func finish() throws -> FinishedProgram {
        let status = wait()
        return FinishedProgram(
            status: status, output: Data(try printed), errors: String(decoding: try complaints, as: UTF8.self))
    }
}

/// A tool that a test needs and that ended with another status than 0.
public struct ToolFailure: Error {
    /// Its path or name, and its arguments.
    public let command: [String]
    /// What it printed to standard error.
    public let errors: String
}

/// Runs a tool that has to succeed; its output.
@discardableResult
public func tool(_ command: [String], statuses: Set<Int32> = [0], input: [UInt8] = []) throws -> Data {
    let finished = try RunningProgram(command, input: input).finish()
    guard statuses.contains(finished.status) else { throw ToolFailure(command: command, errors: finished.errors) }
    return finished.output
}

/// Runs a tool that has to succeed; its output.
@discardableResult
public func tool(_ command: String...) throws -> String {
    String(decoding: try tool(command), as: UTF8.self)
}

/// Reasons of a summary for machines: how many records each has, by its words. One with a code that is no code is left out.
public func reasons(_ list: Any?) -> [String: Int] {
    var counts: [String: Int] = [:]
    for reason in list as? [[String: Any]] ?? [] {
        let isCode = (reason["code"] as? String)?.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } ?? false
        guard isCode, let text = reason["text"] as? String else { continue }
        counts[text] = reason["records"] as? Int
    }
    return counts
}
