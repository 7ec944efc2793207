import Processes

/// What `ssh-keygen` prints, read for people: whether a signature is good is told by its exit status alone.
enum KeygenOutput {
    /// More of a message is no help.
    private static let maxReasonLength = 300

    /// The key of a good signature; nil for one that is not good.
    ///
    /// `Good "pingferry-bundle" signature for ines@example.org with ED25519 key SHA256:…`
    static func key(of result: ProgramResult, _ principal: String) -> String? {
        guard result.status == 0 else { return nil }
        let start = "Good \"\(Signers.namespace)\" signature for \(principal) with "
        return lines(result.output).first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }

    /// What is always said of a signature that is not good.
    private static let genericMessages = ["Could not verify signature.", "No principal matched."]

    /// Why a signature is not good, in the last words that say more than that; nil where there are none.
    static func reason(of result: ProgramResult) -> String? {
        let said = (lines(result.output) + lines(result.errors)).filter { !genericMessages.contains($0) }
        return said.last.map { String($0.prefix(maxReasonLength)) }
    }

    /// Returns the lines of an output. `find-principals` prints a name on each.
    static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }
}
