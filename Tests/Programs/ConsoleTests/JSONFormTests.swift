import Foundation
import TestSupport
import Testing

@testable import Console

/// Tests of the declared forms of results in JSON.
@Suite struct JSONFormTests {
    private static let path = "\(repository)/Sources/Telemetry/Telemetry.docc/JSONOutput.md"

    private static var article: String {
        var lines = [
            "# JSON output", "", "The results that commands print with `--json`, and the lines of `--log-json`.", "",
            "## Overview", "",
            "With `--json`, a command prints one JSON object on one line of standard output, also if it fails. `list` prints one for",
            "each bundle. Messages are on standard error. If a signal ends the program or standard output cannot be written, there is",
            "no result.", "",
            "Each result has a member `format`, the name of its form, and a member `version`, the version of the form. A later program",
            "can add members to a form. If a member is removed or its meaning changes, the version changes. In `--version --json`,",
            "`version` is the version of the program.", "",
            "`pingferry json-schema FORM` prints the JSON Schema of a form. Releases contain the schemas in",
            "`share/pingferry/schemas`. Members that are not in every result are marked \"optional\". Lists of problems and of",
            "quarantined items contain the first 1000; their numbers are in `problemCounts` and `quarantineCounts`.",
        ]
        for form in JSONForm.all {
            lines += [
                "", "## \(form.name)", "", "\(form.meaning.prefix(1).uppercased())\(form.meaning.dropFirst()).", "",
            ]
            lines += ["| member | type | meaning |", "| --- | --- | --- |"] + rows(of: form.members, below: "")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func rows(of members: [JSONMember], below path: String) -> [String] {
        members.sorted { $0.key < $1.key }.flatMap { member in
            let path = path + member.key
            let optional = member.isRequired ? "" : ", optional"
            return ["| `\(path)` | \(member.shape.typeName)\(optional) | \(member.meaning) |"]
                + rows(of: member.shape.members, below: path + ".")
        }
    }

    @Test func articleMatchesForms() throws { try expectArticle(Self.article, at: Self.path) }

    @Test("Names of forms and keys of members are unique")
    func uniqueNames() {
        #expect(Set(JSONForm.all.map(\.name)).count == JSONForm.all.count)
        func check(_ members: [JSONMember], in form: String) {
            let repeated = Dictionary(grouping: members, by: \.key).filter { $1.count > 1 }.keys
            #expect(repeated.isEmpty, "\(form)")
            for member in members { check(member.shape.members, in: form) }
        }
        for form in JSONForm.all { check(form.members, in: form.name) }
    }

    @Test("A result with a missing, unknown or malformed member does not have its form")
    func mismatches() {
        let good: [String: Any] = ["format": "prune", "version": 1, "pruned": 3, "dryRun": false]
        #expect(JSONForm.prune.mismatches(in: good) == [])
        for (key, value) in [("pruned", "3"), ("dryRun", 1), ("version", 2), ("format", "edit"), ("other", 1)]
            as [(String, Any)]
        {
            var bad = good
            bad[key] = value
            #expect(JSONForm.prune.mismatches(in: bad).count == 1, "\(key)")
        }
        #expect(
            JSONForm.prune.mismatches(in: ["format": "prune", "version": 1, "pruned": 3]) == ["prune.dryRun: missing"])
    }

    @Test("A schema describes members, types and nested objects")
    func schema() throws {
        let bytes = Data(JSONForm.receive.schema.bytes)
        let schema = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect(schema["required"] as? [String] == ["bundles", "format", "others", "version"])
        let properties = try #require(schema["properties"] as? [String: [String: Any]])
        #expect(properties["format"]?["const"] as? String == "receive")
        let items = try #require(properties["bundles"]?["items"] as? [String: Any])
        #expect(items["required"] as? [String] == ["good", "name"])
        let filters = (items["properties"] as? [String: [String: Any]])?["filters"]
        #expect((filters?["anyOf"] as? [[String: Any]])?.map { $0["type"] as? String } == ["object", "null"])
    }

    // MARK: Help

    @Test("The short help has a line for each option, and no discussion")
    func shortHelp() {
        let help = """
            OVERVIEW: Do it.

            Much more
              pingferry do x

            USAGE: pingferry do [--long-option-name <value>] <path>

            ARGUMENTS:
              <path>                  The path. It can
                                      be long.

            OPTIONS:
              --exactly-23-xx <value> Does this and that, in so many words that they do not fit
                                      on the line. (repeatable)
              --long-option-name <value>
                                      The value.
              -h, --help              Show help information.

            """
        #expect(
            ShortHelp.text(of: help) == """
                OVERVIEW: Do it.

                USAGE: pingferry do [--long-option-name <value>] <path>

                ARGUMENTS:
                  <path>                  The path.

                OPTIONS:
                  --exactly-23-xx <value>  Does this and that, in so many words that they do ...
                  --long-option-name <value>  The value.
                  -h, --help              Show help information.

                --help describes each option, and has examples.
                """)
    }
}
