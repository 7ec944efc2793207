import Foundation
import TestSupport
import Testing

/// Tests of the options `--digest` and `--digest-file` of `verify`.
@Suite struct DigestTests {
    private let folder: TemporaryFolder
    private let bundle: String
    private let digest: String

    init() throws {
        folder = try TemporaryFolder()
        bundle = folder("a.tar.zst")
        let made = try pingferry("bundle", "-o", bundle, sample("webxr"))
        digest = try #require(made.lines.last.map { String($0.dropFirst("digest ".count)) })
    }

    @Test func expectedDigest() throws {
        let finished = try pingferry("verify", "--digest", digest.uppercased(), bundle)
        #expect(finished.status == 0)
        #expect(
            finished.lines.suffix(2) == [
                "digest \(digest), as expected",
                "the contents match the given digest, which does not show who packed them",
            ])
        let other = String(repeating: "0", count: 64)
        let refused = try pingferry("verify", "--digest", other, bundle)
        #expect(refused.status == 65)
        #expect(
            refused.errorLines == [
                "pingferry: \(bundle): its digest is \(digest), not \(other)",
                "hint: do not use this bundle; it is not the expected one",
            ])
        #expect(refused.text == "")
    }

    @Test func digestFile() throws {
        try FileManager.default.copyItem(atPath: bundle, toPath: folder("b.tar.zst"))
        let list = try folder.put("\(digest)  a.tar.zst\n\(digest)  b.tar.zst\n", "digests")
        #expect(try pingferry("verify", "--digest-file", list, bundle, folder("b.tar.zst")).status == 0)
        try folder.put("\(digest)  a.tar.zst\n", "digests")
        let missing = try pingferry("verify", "--digest-file", list, bundle, folder("b.tar.zst"))
        #expect(missing.status == 65)
        #expect(missing.errors.contains("\(list): contains no digest for \(folder("b.tar.zst"))"))
        // The digest line that `bundle` prints is also a list.
        try folder.put("digest \(digest)\n", "digests")
        #expect(try pingferry("verify", "--digest-file", list, bundle).status == 0)
        try folder.put("no digest\n", "digests")
        #expect(
            try pingferry("verify", "--digest-file", list, bundle).errors.contains(
                "\(list): line 1 does not start with a digest"))
    }

    @Test(
        arguments: [
            ["--digest", "61af"], ["--digest", String(repeating: "g", count: 64)],
            ["--digest", String(repeating: "0", count: 64), "--digest-file", "x"], ["--signature", "x", "other"],
            ["--digest", String(repeating: "0", count: 64), "other"],
        ])
    func usage(options: [String]) throws {
        #expect(try shell(#""$0" verify "$1" "${@:2}""#, [bundle] + options).status == 64)
    }
}
