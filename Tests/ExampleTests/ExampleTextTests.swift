import Foundation
import Testing

/// Tests that the examples in documentation comments equal the examples that are compiled and run.
@Suite struct ExampleTextTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    /// The files with the most important types, as paths below `Sources` without extension.
    private static let entryPoints = [
        "Foundations/Bytes/CivilDate", "Foundations/Files/AtomicOutput", "Formats/JSONText/JSONDocument",
        "Formats/PropertyList/PropertyListDocument", "Telemetry/Record/Record", "Telemetry/Systems/TelemetrySystem",
        "Telemetry/Uploads/CapturedUpload", "Bundle/BundleReader", "Bundle/BundleAssembler",
        "Bundle/Container/BundleFile", "Bundle/Container/VolumeWriter", "Bundle/Evidence/AllowedSigners",
        "Capture/Inputs/InputOpener", "Capture/Intake/Intake", "Delivery/Plan/Planner", "Export/Tables/TableExport",
    ]

    /// Returns the lines of each example in the documentation comments of `source`.
    private func examples(in source: String) -> [[String]] {
        var examples: [[String]] = []
        var example: [String]?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("///") else { continue }
            let content = String(text.dropFirst(text.hasPrefix("/// ") ? 4 : 3))
            switch (content, example) {
            case ("```swift", _): example = []
            case ("```", let lines?):
                examples.append(lines)
                example = nil
            default: example?.append(content)
            }
        }
        return examples
    }

    /// Returns whether `text` contains the lines of `example` in sequence with the same indentation.
    private func holds(_ text: [String], _ example: [String]) -> Bool {
        guard !example.isEmpty, text.count >= example.count else { return false }
        return (0...text.count - example.count).contains { start in
            let indent = text[start].prefix { $0 == " " }
            return zip(text[start...], example).allSatisfy { $0 == ($1.isEmpty ? "" : indent + $1) }
        }
    }

    @Test("Each example in a comment is also compiled, without differences")
    func texts() throws {
        let compiled = try String(
            contentsOf: Self.root.appending(path: "Tests/ExampleTests/Examples.swift"), encoding: .utf8
        )
        .components(separatedBy: "\n")
        let sources = Self.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            for example in examples(in: try String(contentsOf: file, encoding: .utf8)) {
                count += 1
                // The value is computed outside of the macro, which would otherwise print all compiled examples.
                let isCompiled = holds(compiled, example)
                #expect(isCompiled, "\(file.lastPathComponent): \(example.joined(separator: "\n"))")
            }
        }
        #expect(count >= Self.entryPoints.count)
    }

    @Test("The most important types have an example", arguments: entryPoints)
    func entryPoint(name: String) throws {
        let file = Self.root.appending(path: "Sources/\(name).swift")
        #expect(try !examples(in: String(contentsOf: file, encoding: .utf8)).isEmpty)
    }
}
