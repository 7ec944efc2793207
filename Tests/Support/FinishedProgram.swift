import Console
import Foundation

/// The exit status and the output of a finished program.
public struct FinishedProgram: Sendable {
    /// The exit status, or 128 plus the number of the signal that ended the program.
    public let status: Int32
    /// The bytes that were written to standard output.
    public let output: Data
    /// The text that was written to standard error.
    public let errors: String

    /// The text that was written to standard output.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// The lines that were written to standard output.
    public var lines: [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
    /// The words on standard output, separated by single spaces, so that wrapped text can be compared.
    public var unwrapped: String { text.split { $0.isWhitespace }.joined(separator: " ") }
    /// The lines that were written to standard error.
    public var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

    /// Returns the JSON object on standard output, parsed by Foundation.
    ///
    /// Throws an error if the object names a form that it does not have.
    public func json() throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: output) as? [String: Any] else {
            throw CocoaError(.propertyListReadCorrupt)
        }
        if let form = JSONForm.all.first(where: { $0.name == object["format"] as? String }) {
            let mismatches = form.mismatches(in: object)
            guard mismatches.isEmpty else { throw FormError(form: form.name, mismatches: mismatches) }
        }
        return object
    }
}

extension RunningProgram {
    /// Waits for the end of the program, and returns its status and output.
    public func finish() throws -> FinishedProgram {
        let status = wait()
        return FinishedProgram(
            status: status, output: Data(try printed), errors: String(decoding: try errorOutput, as: UTF8.self))
    }
}

/// An error that reports that a result does not have its form.
public struct FormError: Error {
    /// The name of the form.
    public let form: String
    /// The paths of the members that differ.
    public let mismatches: [String]
}

/// An error that reports that a tool ended with an unexpected status.
public struct ToolFailure: Error {
    /// The path or name of the tool, and its arguments.
    public let command: [String]
    /// The text that the tool wrote to standard error.
    public let errors: String
}

/// Runs a tool that must end with one of `statuses`, and returns its output.
@discardableResult
public func tool(_ command: [String], statuses: Set<Int32> = [0], input: [UInt8] = []) throws -> Data {
    let finished = try RunningProgram(command, input: input).finish()
    guard statuses.contains(finished.status) else { throw ToolFailure(command: command, errors: finished.errors) }
    return finished.output
}

/// Runs a tool that must succeed, and returns its output as a string.
@discardableResult
public func tool(_ command: String...) throws -> String {
    String(decoding: try tool(command), as: UTF8.self)
}

/// Returns whether a program is installed that supports the option `--version`.
public func isInstalled(_ program: String) -> Bool {
    (try? RunningProgram([program, "--version"]).finish().status) == 0
}

/// Returns the version that the programs state, such as `0.1.0`.
public func programVersion() throws -> String {
    let description = try tool(builtProgram("pingferry"), "--version")
    return String(description.dropFirst("pingferry ".count).prefix { $0 != " " && $0 != "\n" })
}

/// Returns the number of records for each reason in a list of a JSON summary, by the text of the reason.
///
/// Reasons with an invalid code are omitted.
public func reasons(_ list: Any?) -> [String: Int] {
    var counts: [String: Int] = [:]
    for reason in list as? [[String: Any]] ?? [] {
        let isCode = (reason["code"] as? String)?.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } ?? false
        guard isCode, let text = reason["text"] as? String else { continue }
        counts[text] = reason["records"] as? Int
    }
    return counts
}
