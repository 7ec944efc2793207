import Bundle
import Testing

/// Tests of lists of expected digests.
@Suite struct DigestListTests {
    private static let (a, b) = (String(repeating: "a1", count: 32), String(repeating: "b2", count: 32))

    private func digest(_ text: String, of path: String, isOnlyBundle: Bool = false) throws -> String? {
        try DigestList(Array(text.utf8)).digest(of: path, isOnlyBundle: isOnlyBundle)
    }

    @Test(
        arguments: [
            ("\(a)  x.tar.zst\n\(b) *y.tar.zst\n", "x.tar.zst", false, a),
            ("\(a)  x.tar.zst\n\(b) *y.tar.zst", "in/y.tar.zst", false, b),
            ("# a comment\r\n\n\(a.uppercased())  in/x.tar.zst\r\n", "in/x.tar.zst", true, a),
            ("\(a)\n", "x", true, a), ("digest \(a)\n", "x", true, a), ("\(a)\n\(a)", "x", true, a),
            ("\(a)  name with spaces.tar.zst", "name with spaces.tar.zst", false, a),
            ("\(a)\n", "x", false, nil), ("\(a)\n\(b)\n", "x", true, nil), ("\(a)  y\n", "x", true, nil),
            ("\(a)  x\n\(b)  x\n", "x", true, nil), ("", "x", true, nil), ("\(b)\n\(a)  x\n", "x", true, a),
        ] as [(String, String, Bool, String?)])
    func found(text: String, path: String, isOnlyBundle: Bool, expected: String?) throws {
        #expect(try digest(text, of: path, isOnlyBundle: isOnlyBundle) == expected)
    }

    @Test(
        arguments: [
            ("\(a)\nnone\n", 2), (String(a.dropLast()), 1), ("\(a)0  x", 1), ("\n\n\u{0}", 3), ("digest \n", 1),
            ("\(a)   \n", 1),
        ])
    func malformedLineIsReported(text: String, line: Int) {
        #expect(throws: DigestListError.self) { try DigestList(Array(text.utf8)) }
        do { _ = try DigestList(Array(text.utf8)) } catch { #expect(error.line == line) }
    }
}
