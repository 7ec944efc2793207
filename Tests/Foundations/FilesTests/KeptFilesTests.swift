import Foundation
import TestSupport
import Testing

@testable import Files

/// Bytes that were read to see what a file is, and that nobody reads again.
@Suite struct KeptFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var tree: FileTree { get throws { FileTree(try Folder(path: folder.path)) } }

    private func contents(of name: [UInt8], in path: String = "", _ tree: FileTree, limit: Int = 1 << 20) throws
        -> [UInt8]
    {
        var contents: [UInt8] = [7, 7, 7]
        try tree.folder(at: path).read(name, limit: limit, into: &contents)
        return contents
    }

    private func kept(_ count: Int, _ name: String, in files: KeptFiles) -> Bool {
        files.keep([UInt8](repeating: 1, count: count), of: Array(name.utf8), inFolder: "f")
        return files.files(inFolder: "f")[Array(name.utf8)]?.count == count
    }

    @Test func aKeptFileIsNotOpenedAgain() throws {
        try folder.put("changed since", "a/x.json")
        let tree = try tree
        tree.keep(Array("as it was".utf8), of: Array("x.json".utf8), inFolder: "a")
        tree.keep(Array("gone".utf8), of: Array("y.json".utf8), inFolder: "a")
        #expect(try contents(of: Array("x.json".utf8), in: "a", tree) == Array("as it was".utf8))
        #expect(try contents(of: Array("y.json".utf8), in: "a", tree) == Array("gone".utf8))
    }

    @Test func aFileThatIsNotKeptIsRead() throws {
        try folder.put("one", "a/x.json")
        try folder.put("two", "b/x.json")
        let tree = try tree
        tree.keep(Array("kept".utf8), of: Array("y.json".utf8), inFolder: "a")
        tree.keep(Array("kept".utf8), of: Array("x.json".utf8), inFolder: "b")
        #expect(try contents(of: Array("x.json".utf8), in: "a", tree) == Array("one".utf8))
        #expect(throws: FileError.self) { try contents(of: Array("z.json".utf8), in: "a", tree) }
    }

    @Test func theLimitOfAReaderHoldsForKeptFilesToo() throws {
        try folder.put("0123456789", "x.json")
        let tree = try tree
        tree.keep(Array("0123456789".utf8), of: Array("x.json".utf8), inFolder: "")
        #expect(try contents(of: Array("x.json".utf8), tree, limit: 10).count == 10)
        let error = #expect(throws: FileError.self) { try contents(of: Array("x.json".utf8), tree, limit: 9) }
        #expect(error?.isTooLarge == true)
    }

    @Test func theFirstBytesOfAFileStay() {
        let files = KeptFiles()
        files.keep([1], of: [2], inFolder: "f")
        files.keep([3], of: [2], inFolder: "f")
        #expect(files.files(inFolder: "f") == [[2]: [1]])
    }

    @Test func theAllowanceHoldsHoweverManyFilesThereAre() {
        let files = KeptFiles()
        for number in 0..<100 {
            files.keep(
                [UInt8](repeating: 1, count: KeptFiles.allowance / 40), of: [UInt8(number)], inFolder: "\(number % 7)")
        }
        let sizes = (0..<7).flatMap { files.files(inFolder: "\($0)").values.map(\.count) }
        #expect(sizes.count == 39)
        #expect(sizes.reduce(0, +) < KeptFiles.allowance)
    }

    @Test func whatWasMadeOfAFileTakesRoomFromOthers() {
        let files = KeptFiles()
        #expect(files.keep([1, 2], of: [7], inFolder: "f") == [1, 2])
        #expect(files.takeRoom(KeptFiles.allowance / 2))
        #expect(!files.takeRoom(KeptFiles.allowance / 2))
        #expect(!kept(KeptFiles.allowance / 2, "half", in: files))
        #expect(kept(10, "small", in: files))
    }

    @Test func emptyFilesUseUpTheAllowanceToo() {
        let files = KeptFiles()
        let count = KeptFiles.allowance / 100
        for number in 0..<count { files.keep([], of: Array("\(number)".utf8), inFolder: "f") }
        let kept = files.files(inFolder: "f").count
        #expect(kept > 1000 && kept < count)
    }

    @Test func whatIsTooLargeIsNotKeptAndCostsTheOthersNothing() {
        let files = KeptFiles()
        #expect(!kept(KeptFiles.allowance, "large", in: files))
        #expect(kept(KeptFiles.allowance / 2, "half", in: files))
        #expect(!kept(KeptFiles.allowance / 2, "other half", in: files))
        #expect(kept(10, "small", in: files))
    }

    @Test func namesThatAreNotUTF8StayApart() throws {
        let names: [[UInt8]] = [[0x61, 0xFF], [0x61, 0xFE], Array("a\u{FFFD}".utf8)]
        let tree = try tree
        for (number, name) in names.enumerated() { tree.keep([UInt8(number)], of: name, inFolder: "") }
        for (number, name) in names.enumerated() {
            #expect(try contents(of: name, tree) == [UInt8(number)])
        }
    }

    /// Swift takes texts for equal that differ in their bytes, which to the system are two names.
    @Test func namesOfOneLookStayApart() throws {
        let spellings = ["caf\u{E9}", "cafe\u{301}"]
        for (number, spelling) in spellings.enumerated() { try folder.put("\(number)", "\(spelling)/x") }
        let tree = try tree
        tree.keep([9], of: Array("x".utf8), inFolder: spellings[0])
        #expect(try contents(of: Array("x".utf8), in: spellings[0], tree) == [9])
        #expect(try contents(of: Array("x".utf8), in: spellings[1], tree) == Array("1".utf8))
    }
}
