import Hashing
import TestSupport
import Testing

@testable import Bundle

/// Tests of names, sizes and lists of volumes.
@Suite struct VolumeTextTests {
    @Test(
        "The path of a volume ends with a dot and three digits",
        arguments: [
            ("a.tar.zst.001", "a.tar.zst", 1), ("a.tar.zst.999", "a.tar.zst", 999), ("/x/y.010", "/x/y", 10),
            ("a b.\u{e9}.123", "a b.\u{e9}", 123), (".x.002", ".x", 2),
        ] as [(String, String, Int)])
    func names(path: String, bundle: String, number: Int) {
        let name = VolumeName(path: path)
        #expect(name == VolumeName(of: bundle, number: number))
        #expect(name?.path == path)
    }

    @Test(
        "Other paths are not paths of volumes",
        arguments: [
            "", "001", ".001", "a/.001", "a001", "a.01", "a.0001", "a.000", "a.1", "a.12x", "a.001/", "a.001 ", "a.-01",
            "a.٠٠١", "a.tar.zst", "a.tar.zst.sha256",
        ])
    func otherNames(path: String) {
        #expect(VolumeName(path: path) == nil)
    }

    @Test(
        "A size is a number with an optional unit, or a medium",
        arguments: [
            ("4096", 4096), ("4K", 4096), ("5000", 5000), ("1M", 1_048_576), ("2G", 2_147_483_648),
            ("cd", 734_003_200), ("dvd", 4_697_620_480), ("fat", 4_290_772_992), ("00004096", 4096),
        ])
    func sizes(text: String, bytes: Int) {
        #expect(VolumeSize(text: text)?.byteCount == bytes)
    }

    @Test(
        "Other sizes are rejected",
        arguments: [
            "", "0", "4095", "3K", "-4096", "+4096", "4096B", "4k", "4KB", "4 K", "K", "1.5G", "1T", "CD", "0x1000",
            "9223372036854775808", "9007199254740992K", "99999999999G", "４０９６", "bd",
        ])
    func otherSizes(text: String) {
        #expect(VolumeSize(text: text) == nil)
    }

    private static let hashes = ["", "abc"].map { ContentHash(of: Array($0.utf8)) }
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    private static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test("A list has the format of sha256sum")
    func list() throws {
        let list = VolumeList(Self.hashes)
        let text = "\(Self.empty)  a.001\n\(Self.abc)  a.002\n"
        #expect(String(decoding: list.bytes(forBundleAt: "/x/a"), as: UTF8.self) == text)
        #expect(try VolumeList.parse(Array(text.utf8), forBundleAt: "y/a") == list)
        let binary = text.replacing("  ", with: " *")
        #expect(try VolumeList.parse(Array(binary.utf8), forBundleAt: "a") == list)
    }

    @Test(
        "Names are escaped like sha256sum escapes them",
        arguments: ["a\\b", "a\nb", "a\\\n", "\\", " *a", "a\rb"])
    func oddNames(name: String) throws {
        let folder = try TemporaryFolder()
        try folder.put("", "\(name).001")
        try folder.put("abc", "\(name).002")
        let bytes = VolumeList(Self.hashes).bytes(forBundleAt: folder(name))
        try folder.put(String(decoding: bytes, as: UTF8.self), "list")
        try tool("env", "-C", folder.path, "sha256sum", "-c", "--strict", "list")
        #expect(try VolumeList.parse(bytes, forBundleAt: folder(name)) == VolumeList(Self.hashes))
    }

    @Test(
        "Lists in other formats are rejected",
        arguments: [
            ("", "no line feed at its end"), ("\(empty)  a.001", "no line feed at its end"),
            ("\n", "line 1: no SHA-256"), ("\(empty)  a.001\n\n", "line 2: no SHA-256"),
            ("\(empty.dropLast())  a.001\n", "line 1: no SHA-256"),
            ("\(empty.uppercased())  a.001\n", "line 1: no SHA-256"),
            ("\(empty)  b.001\n", "line 1: it does not name a.001"),
            ("\(empty) a.001\n", "line 1: it does not name a.001"),
            ("\(empty)  a.002\n", "line 1: it does not name a.001"),
            ("\(empty)  a\n", "line 1: it does not name a.001"),
            ("\(empty)  a.001\n\(abc)  a.001\n", "line 2: it does not name a.002"),
            ("\(empty)  a.001\r\n", "line 1: it does not name a.001"),
            ("\\\(empty)  a.001\n", "line 1: it does not name a.001"), ("#\n", "line 1: no SHA-256"),
        ])
    func otherLists(text: String, reason: String) {
        #expect(throws: VolumeList.Fault(reason: reason)) { try VolumeList.parse(Array(text.utf8), forBundleAt: "a") }
    }

    @Test("A list cannot have more lines than the maximum number of volumes")
    func longLists() throws {
        let hashes = [ContentHash](repeating: Self.hashes[0], count: 1000)
        let most = VolumeList(Array(hashes.dropLast()))
        #expect(try VolumeList.parse(most.bytes(forBundleAt: "a"), forBundleAt: "a") == most)
        #expect(throws: VolumeList.Fault(reason: "line 1000: too many lines")) {
            try VolumeList.parse(VolumeList(hashes).bytes(forBundleAt: "a"), forBundleAt: "a")
        }
    }
}
