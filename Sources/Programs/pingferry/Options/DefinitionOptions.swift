import ArgumentParser
import Bytes
import Console
import Files
import Systems
import Telemetry

/// The options for definitions of events and metrics.
struct DefinitionOptions: ParsableArguments {
    @Option(
        name: .customLong(EventDefinitions.optionName),
        help: ArgumentHelp(
            """
            Read the meanings of events and the units of metrics from a file that \(EventDefinitions.command) wrote. \
            (repeatable)
            """, valueName: "file"), completion: .file())
    var paths: [String] = []

    /// The maximum number of invalid definitions of a file that are reported.
    private static let maximumReportedCount = 10

    /// Returns the known systems with the definitions in all files.
    ///
    /// Invalid definitions are reported on standard error.
    func systems() throws -> SystemTable {
        guard !paths.isEmpty else { return Systems.table }
        var definitions = EventDefinitions()
        for path in paths {
            let faults = try read(path, into: &definitions)
            for fault in faults.prefix(Self.maximumReportedCount) {
                StandardError.write("pingferry: \(path): definition ignored: \(fault)")
            }
            let count = faults.count - Self.maximumReportedCount
            if count > 0 {
                StandardError.write("pingferry: \(path): and \(count.counted("more ignored definition"))")
            }
        }
        return Systems.table(with: definitions)
    }

    private func read(_ path: String, into definitions: inout EventDefinitions) throws -> [DefinitionsError] {
        let file = try InputFile(path: path)
        guard file.size <= EventDefinitions.maximumFileSize else {
            throw CommandError(
                status: .badData,
                message: """
                    \(path): larger than \(EventDefinitions.maximumFileSize >> 20) MiB, which is too large for definitions
                    """,
                remedy: Self.remedy)
        }
        let bytes = try file.contents(limit: EventDefinitions.maximumFileSize)
        do throws(DefinitionsError) {
            return try definitions.read(bytes)
        } catch {
            throw CommandError(status: .badData, message: "\(path): \(error)", remedy: Self.remedy)
        }
    }

    private static let remedy = "pass the output of \(EventDefinitions.command)"
}
