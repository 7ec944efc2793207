import Testing

@testable import Files

/// Tests of the labels that identify the inputs of a command.
@Suite struct PathLabelsTests {
    /// The real paths of paths that do not end with a name.
    private static let real = [
        ".": "/home/op/phone", "./": "/home/op/phone", "..": "/home/op", "a/..": "/home/op/phone",
        "a/b/../..": "/home/op/phone",
        "/": "/", "": "/home/op/phone",
    ]

    @Test(
        "Labels consist of as many trailing components as are needed to distinguish the paths",
        arguments: [
            (["/a/b"], ["b"]), (["b"], ["b"]), (["/a/b//"], ["b"]), (["/a/b/."], ["b"]), (["./b"], ["b"]),
            (["-"], ["stdin"]),
            (["."], ["phone"]), (["./"], ["phone"]), ([".."], ["op"]), (["a/.."], ["phone"]),
            (["a/b/../.."], ["phone"]),
            (["/"], ["/"]), (["../b"], ["b"]),
            (["a/AppData", "b/AppData"], ["a/AppData", "b/AppData"]),
            (["x/a/AppData", "x/b/AppData", "c"], ["a/AppData", "b/AppData", "c"]),
            (["a/x/d", "b/x/d", "b/y/d"], ["a/x/d", "b/x/d", "y/d"]),
            (["d", "a/d"], ["d", "a/d"]), (["/d", "d"], ["/d", "d"]), (["a/d", "/a/d"], ["a/d", "/a/d"]),
            ([".", "phone"], ["op/phone", "phone"]), ([".", "/tmp/phone"], ["op/phone", "tmp/phone"]),
            (["../d", "d"], ["../d", "d"]), (["-", "stdin"], ["stdin", "stdin#2"]),
            (["a", "a"], ["a", "a#2"]), (["a", "a/", "./a"], ["a", "a#2", "a#3"]),
            (["a", "a", "a#2"], ["a", "a#3", "a#2"]),
            (["x/a", "x/a"], ["a", "a#2"]), ([".", "."], ["phone", "phone#2"]), ([".", "a/.."], ["phone", "phone#2"]),
            (["x/a", "y/a", "x/a"], ["x/a", "y/a", "x/a#2"]),
        ])
    func labels(paths: [String], labels: [String]) {
        let found = PathLabels.labels(ofPaths: paths) { Self.real[$0] }
        #expect(found == labels)
        #expect(Set(found).count == paths.count)
    }

    @Test("The label of a path that cannot be resolved is the path itself")
    func unresolved() {
        #expect(PathLabels.labels(ofPaths: [".", "a/.."]) { _ in nil } == [".", ".."])
    }
}
