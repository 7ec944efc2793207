import Foundation
import TestSupport
import Testing

/// Tests of the input labels in records.
@Suite struct LabelTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a", "b"] {
            try folder.makeFolder(name)
            try folder.copySample(name == "a" ? "focus" : "webxr", to: "\(name)/AppData")
        }
    }

    /// Returns the labels of the records that `convert` writes when it runs in the folder, each once and in order.
    private func labels(_ words: String) throws -> [String] {
        let finished = try shell(#"cd "$1" && eval "\"$0\" convert -q -o - $2""#, [folder.path, words])
        #expect(finished.errors == "" || finished.status == 1, "\(finished.errors)")
        var labels: [String] = []
        for line in finished.lines {
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let label = (record?["source"] as? [String: Any])?["capture"] as? String ?? ""
            if !labels.contains(label) { labels.append(label) }
        }
        return labels
    }

    @Test(
        "Inputs with the same last path component have unique labels",
        arguments: [
            ("a/AppData b/AppData", ["a/AppData", "b/AppData"]),
            ("a/AppData/ ./b/AppData//", ["a/AppData", "b/AppData"]),
            ("a/AppData b", ["AppData", "b"]), ("a/AppData/. b/../b", ["AppData", "b"]),
            ("--label x --label y a/AppData b/AppData", ["x", "y"]), ("--label x a/AppData", ["x"]),
        ])
    func uniqueLabels(words: String, expected: [String]) throws {
        #expect(try labels(words) == expected)
    }

    @Test("The current folder is labeled with its name, and standard input with stdin")
    func namelessPaths() throws {
        let cases = [
            ("cd a/AppData; \"$0\" scan --json .", "AppData"),
            ("cd a; \"$0\" scan --json AppData/Documents/..", "AppData"),
        ]
        for (command, expected) in cases {
            let finished = try shell("cd \"$1\"; \(command)", [folder.path])
            let stores = try #require(finished.json()["stores"] as? [[String: Any]])
            #expect(Set(stores.compactMap { $0["capture"] as? String }) == [expected])
        }
        let piped = try shell(#"cd "$1"; tar c a | "$0" scan --json -"#, [folder.path])
        let stores = try #require(piped.json()["stores"] as? [[String: Any]])
        #expect(Set(stores.compactMap { $0["capture"] as? String }) == ["stdin"])
    }

    @Test("A ping is recognized from inside its folder")
    func insidePingFolder() throws {
        let script = #"cd "$1/a/AppData/Documents/MozTelemetry-Default-core"; "$0" scan --json ."#
        let finished = try shell(script, [folder.path])
        #expect(finished.status == 0)
        let stores = try #require(finished.json()["stores"] as? [[String: Any]])
        #expect(stores.map { $0["records"] as? Int } == [3])
    }

    @Test("A bundle keeps the labels of its records")
    func bundles() throws {
        #expect(try shell(#"cd "$1"; "$0" bundle -q -o x.tar.zst --label one a/AppData"#, [folder.path]).status == 1)
        #expect(try labels("x.tar.zst b/AppData") == ["one", "AppData"])
    }

    @Test("Labels must be unique and as numerous as the inputs")
    func usage() throws {
        let wrong = [
            (
                ["--label", "x", "a", "b"],
                "1 label for 2 paths: use --label once for each path in the same order, or not at all"
            ),
            (["--label", "x", "--label", "y", "a"], "2 labels for 1 path: use --label once for each path"),
            (["--label", "x", "--label", "x", "a", "b"], "--label x is repeated: labels must be unique"),
        ]
        for (words, message) in wrong {
            let finished = try shell(#""$0" "$@""#, ["scan"] + words)
            #expect(finished.status == 64)
            #expect(finished.errors.contains(message), "\(finished.errors)")
        }
    }
}
