import Files
import Testing

@testable import Bundle

/// Tests of the format of signature files and of the output of `ssh-keygen`.
@Suite struct SignatureFormTests {
    private static let begin = "-----BEGIN SSH SIGNATURE-----\n"
    private static let end = "-----END SSH SIGNATURE-----"

    @Test(
        arguments: [
            ("\(begin)U1NIU0lH\nAAAA==\n\(end)\n", true), ("\(begin)U1NIU0lH\n\(end)", true),
            ("\(begin)U1NIU0lH\n\(end)\r\n\n", true),
            ("\(begin)U1NIU0lH\n\(end)\nmore\n", false), ("more\n\(begin)U1NIU0lH\n\(end)\n", false),
            ("\(begin)U1NI\n\(end)\n\(begin)U1NI\n\(end)\n", false), ("\(begin)\(end)\n", false),
            ("\(begin)U1 NI\n\(end)\n", false), ("\(begin)U1NIU0lH\n", false), ("", false), (end, false),
        ])
    func signatureMustBeSingle(text: String, isSingle: Bool) {
        #expect(SignatureArmor.isSingleSignature(Array(text.utf8)) == isSingle)
    }

    private func result(_ status: Int32, _ output: String, _ errors: String = "") -> ProgramResult {
        ProgramResult(status: status, output: Array(output.utf8), errors: Array(errors.utf8))
    }

    @Test func keygenOutputIsParsed() {
        let good = result(0, "Good \"pingferry-bundle\" signature for a b with ED25519 key SHA256:x\n")
        #expect(KeygenOutput.keyDescription(in: good, for: "a b") == "ED25519 key SHA256:x")
        #expect(KeygenOutput.keyDescription(in: good, for: "a") == nil)
        #expect(
            KeygenOutput.keyDescription(in: result(255, String(decoding: good.output, as: UTF8.self)), for: "a b")
                == nil)
        #expect(
            KeygenOutput.keyDescription(in: result(0, "Good \"other\" signature for a with key\n"), for: "a") == nil)
        #expect(ProgramResult.lines(of: result(0, "a\nb c\n").output) == ["a", "b c"])
        #expect(KeygenOutput.failureReason(in: result(255, "Could not verify signature.\n")) == nil)
        #expect(
            KeygenOutput.failureReason(in: result(255, "Could not verify signature.\n", "incorrect signature\r\n"))
                == "incorrect signature")
        #expect(KeygenOutput.failureReason(in: result(255, "", String(repeating: "x", count: 1000)))?.count == 300)
    }
}
