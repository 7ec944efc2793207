import Testing

@testable import Console

/// Tests of the names of users in a receipt.
@Suite struct PasswdFileTests {
    @Test(
        "The name of a user is taken from the first line with the number",
        arguments: [
            ("root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/:\nalias:x:1000:1:::\n", 1000, "ada"),
            ("ada:x:1000:1000::/:", 1000, "ada"), ("ada:x:1000:1000::/:", 100, nil), ("", 0, nil),
            (":x:5:5:::\n", 5, nil), ("ada:x:5\n", 5, nil), ("ada:5:6:7:8\n", 5, nil),
            ("#\n\nb:*:05:1::\nc:*:5:1::", 5, "c"),
        ] as [(String, UInt32, String?)])
    func userName(list: String, number: UInt32, name: String?) {
        #expect(PasswdFile(bytes: Array(list.utf8)).name(of: number) == name)
    }
}
