import Foundation
import TestSupport
import Testing

/// Tests that the examples in the README and in articles print the documented facts and have the documented exit status.
///
/// The examples of a document run in order in one folder with the samples. ``facts(in:)`` defines what is compared.
@Suite struct ReadmeTests {
    /// A command, and its output on both streams as a terminal shows it.
    private struct Example {
        let command: String
        var output = ""
    }

    private static let documents = [
        "README.md", "Sources/Bundle/Bundle.docc/Bundle.md", "Sources/Bundle/Bundle.docc/ChainOfEvidence.md",
        "Sources/Bundle/Bundle.docc/Increments.md", "Sources/Bundle/Bundle.docc/Receipts.md",
        "Sources/Capture/Capture.docc/Capture.md",
    ]

    /// The exit statuses of the examples that do not exit with 0, by the beginning of their commands.
    private static let statuses: [String: Int32] = [
        "pingferry scan samples/damaged": 1, "pingferry bundle -o phone.tar.zst": 1,
        "pingferry report -o report.html": 1, "pingferry convert -o study.ndjson": 1,
        "pingferry bundle -o night.tar.zst": 1, "pingferry bundle --label phone --volume-size": 1,
        "pingferry verify -q --chain 2.tar.zst": 65,
    ]

    private func examples(of document: String) throws -> [Example] {
        let text = try String(contentsOfFile: "\(repository)/\(document)", encoding: .utf8)
        var examples: [Example] = []
        for block in text.components(separatedBy: "```console\n").dropFirst() {
            for line in block.components(separatedBy: "```")[0].split(separator: "\n", omittingEmptySubsequences: false)
            {
                if line.hasPrefix("$ ") {
                    examples.append(Example(command: String(line.dropFirst(2))))
                } else if let last = examples.indices.last, !line.isEmpty {
                    examples[last].output += "\(line)\n"
                }
            }
        }
        return examples
    }

    /// Returns the commands in the blocks of all documents that run `pingferry-upload` or `pingferry upload`.
    private func uploads() throws -> [String] {
        let list = try tool(
            "find", "\(repository)/README.md", "\(repository)/Sources", "\(repository)/Tests", "\(repository)/samples",
            "-name", "*.md")
        return try list.split(separator: "\n").flatMap { document in
            let text = try String(contentsOfFile: String(document), encoding: .utf8)
            let blocks = text.replacing("\\\n", with: "").components(separatedBy: "```")
            return blocks.indices.filter { $0 % 2 == 1 }.flatMap { blocks[$0].split(separator: "\n") }
                .filter { $0.contains("pingferry-upload") || $0.contains("pingferry upload") }.map { String($0) }
        }
    }

    @Test("No command of a document sends made-up records to a real server")
    func documentsSendNothing() throws {
        // Other commands than `send` send nothing.
        let harmless = ["status", "retry", "release", "forget", "receipt", "prune", "ledger"]
        let safe = ["--dry-run", "--endpoint http://127.0.0.1", "accept.py"]
        let uploads = try uploads()
        #expect(uploads.count > 20)
        for command in uploads {
            let isCommand = command.contains("pingferry-upload ") || command.contains("pingferry upload ")
            let isHarmless = harmless.contains { command.contains("pingferry-upload \($0)") }
            guard isCommand, !isHarmless, !command.contains("sudo -u") else { continue }
            #expect(safe.contains { command.contains($0) }, "\(command)")
        }
    }

    @Test(arguments: documents)
    func examplesPrintDocumentedFacts(document: String) throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder("samples"), withDestinationPath: "\(repository)/samples")
        let programs = (pingferryPath as NSString).deletingLastPathComponent
        let environment = ["HOME": folder.path, "PATH": "\(programs):\(searchPath)", "LC_ALL": "C.UTF-8"]
        let examples = try examples(of: document)
        #expect(!examples.isEmpty)
        for example in examples {
            let command = ["env", "-C", folder.path, "bash", "-c", "\(example.command) 2>&1"]
            let finished = try RunningProgram(command, environment: environment).finish()
            let status = Self.statuses.first { example.command.hasPrefix($0.key) }?.value ?? 0
            #expect(finished.status == status, "\(example.command)")
            #expect(facts(in: finished.text) == facts(in: example.output), "\(example.command)\n\(finished.text)")
        }
    }

    @Test(
        "Changed facts are detected, and changed words are not",
        arguments: [
            ("wrote a.zst: 7 records (6 uploadable)", "a.zst contains 7 records, 6 uploadable.", true),
            ("the inputs:\n  a/b  2 files\n", "- a/b: 2\r\nno more inputs", true),
            ("App came to the front|3", "App was opened|3", true),
            ("7 records", "8 records", false), ("7 records (6 uploadable)", "6 records (7 uploadable)", false),
            ("7 records", "7 records\n7 records", false), ("7 records\n1 problem", "7 records", false),
            ("1 of a.zst\n2 of b.zst", "2 of b.zst\n1 of a.zst", false), ("1 2", "1\n2", false),
            ("wrote a.zst", "wrote b.zst", false), ("read samples/shop", "read samples/focus", false),
            ("digest 86acff59", "digest 86acff58", false), ("digest deadbeef", "digest deadbeee", false),
            ("@1584000000123 #2", "@1584000000123 #3", false),
            ("(exit status 1)", "(exit status 65)", false), (#"{"status":200}"#, #"{"status":400}"#, false),
            (#"  "bucket": {"#, #"  "basket": {"#, false), ("held: no-target 1", "held: schema 1", false),
            ("a.zst: good", "a.zst: damaged", false), ("a.zst: good", "a.zst", false),
            ("hint: pass --force", "hint: pass --quiet", false), ("signed by ines@example.org", "signed", false),
        ])
    func comparisonOfFacts(documented: String, printed: String, areEqual: Bool) {
        #expect((facts(in: documented) == facts(in: printed)) == areEqual)
    }
}

/// Returns the facts in each line of an output, without the lines that contain none.
///
/// Facts are the words that scripts depend on and that readers compare: paths, numbers, digests, ids, codes, options, strings in
/// quotation marks, and the states of records and checks. All other words are wording, which may change without a change of the
/// documents. Punctuation around a fact is omitted.
private func facts(in output: String) -> [[String]] {
    output.split(whereSeparator: \.isNewline).map { line in
        line.split { $0.isWhitespace || $0 == "|" }.compactMap { fact(in: $0) }
    }
    .filter { !$0.isEmpty }
}

/// Returns a word without the punctuation around it, or `nil` if the word is not a fact.
private func fact(in word: Substring) -> String? {
    let states = [
        "complete", "damaged", "delivered", "failed", "good", "held", "incomplete", "ok", "quarantined", "refused",
        "uploadable",
    ]
    let text = word.trimmingCharacters(in: CharacterSet(charactersIn: ".,:;()[]{}'\"…"))
    guard text.contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
    let isName = text.contains { $0.isNumber || "/._-@".contains($0) } || word.contains("\"")
    let isHexadecimal = text.count >= 8 && text.allSatisfy(\.isHexDigit)
    return isName || isHexadecimal || states.contains(text.lowercased()) ? text : nil
}
