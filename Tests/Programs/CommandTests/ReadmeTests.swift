import Foundation
import TestSupport
import Testing

/// Tests that the examples in the README and in articles print the documented output.
///
/// The examples of a document run in order in one folder with the samples.
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
    func examplesPrintDocumentedOutput(document: String) throws {
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
            #expect(finished.text == example.output, "\(example.command)")
        }
    }
}
