import Testing

@testable import Files

@Suite struct PackedNamesTests {
    private static let lists: [[String]] = [
        [],
        ["-t-1547466302.12148.json"],
        // Of even and of odd length, and one that is all the others have in common.
        ["-t-1547466302.12148.json", "-t-1547466303.1.json", "-t-154746.json", "-t-1547466302.121.json"],
        ["1547466302", "15", "1547466302-1", "15.", "15-"],
        ["a", "ab", "abc"], ["abc", "bc", "c"], ["aa", "a", "aaa"], ["", "1", "11"],
        ["0A1B.ping", "0A1C.ping", "ffff.ping"],
        ["-t-1.json", "-t-2.json.gz"], ["é1", "é2", "e3"],
        [String(repeating: "7", count: 4000), String(repeating: "7", count: 3999) + "x"],
        // More than one mark has to be passed.
        (0..<1000).map { "-t-\(1_547_466_302 + $0 * 37).\($0 * $0).json" },
        (0..<200).map { "file \($0)" },
    ]

    @Test("names come out as they went in, in the order that was asked for", arguments: lists)
    func names(list: [String]) {
        var entries = FolderEntries()
        for name in list { entries.append(name: name.utf8, kind: .file, inode: 1) }
        for order in [Array(list.indices), list.indices.reversed()] {
            let packed = PackedNames(of: entries, order: order)
            #expect(packed.count == list.count)
            #expect((0..<packed.count).map { packed[$0] } == order.map { Array(list[$0].utf8) })
        }
    }

    @Test("bytes that are no text are kept")
    func bytes() {
        var entries = FolderEntries()
        let names: [[UInt8]] = [[0xFF, 0x31, 0xFE], [0xFF, 0x32, 0x33, 0xFE], [0xFF, 0x00, 0xFE]]
        for name in names { entries.append(name: name, kind: .file, inode: 1) }
        let packed = PackedNames(of: entries, order: [2, 0, 1])
        #expect([0, 1, 2].map { packed[$0] } == [names[2], names[0], names[1]])
    }
}

extension PackedNames {
    /// The bytes of a name.
    fileprivate subscript(index: Int) -> [UInt8] {
        var name: [UInt8] = []
        append(index, to: &name)
        return name
    }
}
