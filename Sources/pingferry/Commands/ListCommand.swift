import ArgumentParser
import Bundle
import Console
import JSONText
import Telemetry

/// `list`: what a bundle holds, from its manifest and its details.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show what a bundle holds.",
        discussion: """
            Members, counts, clients, what is held and why, what was quarantined, and problems. Reads the manifest and the \
            details, not the records; verify reads those too.
              pingferry list monday.tar.zst
            """)

    @Argument(help: ArgumentHelp("A bundle; - is standard input.", valueName: "bundle"))
    var bundle: String

    @OptionGroup(title: "Common options") var common: CommonOptions

    func run() async throws {
        try await reporting {
            let reader = try InputOpening.bundle(bundle)
            let contents = try InputOpening.naming(InputOpening.name(of: bundle)) { try BundleContents(reader) }
            if common.json {
                try Terminal.print(contents.json)
            } else if !common.quiet {
                try contents.printTables()
            }
        }
    }
}

/// The manifest and the details of a bundle.
private struct BundleContents {
    let manifest: Manifest
    let members: [ContainerReader.Member]
    let clients: [ClientSummary]
    let quarantined: [Quarantined]
    let problems: [PlacedProblem]

    init(_ reader: BundleReader) throws(BundleError) {
        var decoder = try BundleReader.makeDecoder()
        manifest = reader.manifest
        members = reader.members
        clients = try reader.details(of: BundleLayout.clients, with: &decoder)
        quarantined = try reader.details(of: BundleLayout.quarantine, with: &decoder)
        problems = try reader.details(of: BundleLayout.problems, with: &decoder)
    }

    func printTables() throws {
        try Terminal.print("format version \(BundleLayout.version), written by pingferry \(manifest.tool)")
        try Terminal.print("digest \(manifest.digest)")
        let totals = manifest.totals
        try Terminal.print("\(Summary.count(totals.records, "record"))\(Summary.details(of: totals))")
        if manifest.duplicates > 0 { try Terminal.print("\(Summary.count(manifest.duplicates, "duplicate")) left out") }
        try section("members", ["member", "bytes", "compressed", "records"], memberRows)
        try section(
            "types", ["type", "records"], totals.types.sorted { $0.key < $1.key }.map { [$0.key, "\($0.value)"] })
        try section(
            "held", ["reason", "records"], totals.holds.sorted { $0.key < $1.key }.map { [$0.key, "\($0.value)"] })
        try section("clients", ["client", "system", "app", "records", "uploadable", "first", "last"], clientRows)
        try section(
            "quarantine", ["path", "bytes", "reason"],
            quarantined.map {
                ["\($0.capture): \($0.path)", "\($0.size)", $0.reject.reason + ($0.isStored ? "" : " (listed only)")]
            })
        try section(
            "problems", ["path", "problem"],
            problems.map { ["\($0.capture): \($0.path)", "\($0.problem.code): \($0.problem.text)"] })
    }

    private var memberRows: [[String]] {
        let counts = Dictionary(uniqueKeysWithValues: manifest.segments.map { ($0.path, "\($0.records)") })
        return members.map { [$0.name, "\($0.size)", "\($0.compressedSize)", counts[$0.name] ?? ""] }
    }

    private var clientRows: [[String]] {
        clients.map { client in
            [
                client.client ?? "(none)", client.system, client.apps.sorted().joined(separator: ","),
                "\(client.records)", "\(client.uploadable)", client.first?.description ?? "",
                client.last?.description ?? "",
            ]
        }
    }

    private func section(_ title: String, _ header: [String], _ rows: [[String]]) throws {
        guard !rows.isEmpty else { return }
        try Terminal.print("")
        try Terminal.print("\(title):")
        for line in TextTable(header: header, rows: rows).lines { try Terminal.print("  " + line) }
    }

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("clients", elements: clients.map(\.json.bytes))
        object.set("digest", string: manifest.digest)
        object.set("duplicates", integer: manifest.duplicates)
        object.set(
            "members",
            elements: members.map { member in
                var object = CanonicalObject()
                object.set("bytes", integer: member.size)
                object.set("compressed", integer: member.compressedSize)
                object.set("path", string: member.name)
                return object.bytes
            })
        object.set("problems", elements: problems.map(\.json.bytes))
        object.set("quarantined", elements: quarantined.map(\.json.bytes))
        object.set("tool", string: manifest.tool)
        object.set("totals", object: manifest.totals.json)
        object.set("version", integer: BundleLayout.version)
        return object
    }
}
