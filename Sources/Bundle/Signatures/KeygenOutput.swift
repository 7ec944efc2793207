import Files

/// A parser for the output of `ssh-keygen`.
///
/// The output is used to describe keys and errors. A signature is valid only if the exit status is 0.
enum KeygenOutput {
    /// The maximum length, in characters, of a reason in messages.
    private static let maxReasonLength = 300

    /// Returns the description of the key of a valid signature, or `nil` if `ssh-keygen` does not report the signature
    /// of `principal` as good.
    ///
    /// An example of the parsed line is `Good "pingferry-bundle" signature for ines@example.org with ED25519 key
    /// SHA256:…`.
    static func keyDescription(in result: ProgramResult, for principal: String) -> String? {
        guard result.status == 0 else { return nil }
        let start = "Good \"\(AllowedSigners.namespace)\" signature for \(principal) with "
        return ProgramResult.lines(of: result.output).first { $0.hasPrefix(start) }.map {
            String($0.dropFirst(start.count))
        }
    }

    /// The messages of `ssh-keygen` that do not state why a signature is invalid.
    private static let genericMessages = ["Could not verify signature.", "No principal matched."]

    /// Returns the most specific reason why a signature is invalid, or `nil` if `ssh-keygen` reports no reason.
    static func failureReason(in result: ProgramResult) -> String? {
        let messages = (ProgramResult.lines(of: result.output) + ProgramResult.lines(of: result.errors)).filter {
            !genericMessages.contains($0)
        }
        return messages.last.map { String($0.prefix(maxReasonLength)) }
    }
}
