import ArgumentParser
import Bundle
import Capture
import Console
import JSONText
import Systems
import Telemetry

/// `verify`: reads all of a bundle and checks everything.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Prove that bundles are whole and well formed.",
        discussion: """
            Reads everything and checks every checksum, hash and count, the form of each record and each target. The digest \
            that it prints does not depend on compression: equal digests mean equal contents.
              pingferry verify monday.tar.zst
              ssh site cat monday.tar.zst | pingferry verify -

            Of a bundle in volumes, give the first: night.tar.zst.001. Each volume is compared with night.tar.zst.sha256, if that \
            lies beside it, and each that is missing, of the wrong length, swapped, doubled or damaged is named.
            """)

    @Argument(help: ArgumentHelp("Bundles; - is standard input.", valueName: "bundle"))
    var bundles: [String]

    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws { try InputOptions.checkStandardInput(in: bundles) }

    func run() async throws {
        var worst: ExitCode?
        var results: [[UInt8]] = []
        for path in bundles {
            do {
                results.append(try await verify(path))
            } catch {
                guard let failure = CommandError(error) else { throw error }
                failure.report(as: "pingferry")
                worst = worst ?? ExitCode(failure.status.rawValue)
                results.append(Self.json(of: failure, path, faults: VolumeReport.faults(in: error)))
            }
        }
        if common.json {
            var object = CanonicalObject()
            object.set("bundles", elements: results)
            try await reporting { try Terminal.print(object) }
        }
        if let worst { throw worst }
    }

    private func verify(_ path: String) async throws -> [UInt8] {
        let reader = try InputOpening.bundle(
            path, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder)
        var generator = SystemRandomNumberGenerator()
        let verifier = BundleVerifier(reader, limit: common.limit, secret: RunSecret(using: &generator))
        let hashed = reader.volumes?.hashedCount ?? 0
        let progress = ProgressLine("verifying", total: hashed + verifier.byteCount, isQuiet: common.quiet)
        defer { progress.clear() }
        do {
            try reader.volumes?.check { progress.add(bytes: $0) }
            try await verifier.verify { progress.add(bytes: $0) }
        } catch let error as BundleError {
            throw InputError.bundle(error, InputOpening.name(of: path))
        }
        progress.clear()
        let manifest = reader.manifest
        if !common.json, !common.quiet {
            let count = Summary.count(manifest.totals.records, "record")
            try Terminal.print("\(InputOpening.name(of: path)): good, \(count)\(Summary.details(of: manifest.totals))")
            if let volumes = reader.volumes { try Terminal.print(VolumeReport.sentence(on: volumes)) }
            try Terminal.print("digest \(manifest.digest)")
            if let key = manifest.pseudonymized { try Terminal.print("pseudonymized with the key \(key)") }
        }
        var object = CanonicalObject()
        object.set("digest", string: manifest.digest)
        object.set("good", boolean: true)
        object.set("path", string: path)
        object.set("pseudonymized", string: manifest.pseudonymized)
        object.set("totals", object: manifest.totals.json)
        if let volumes = reader.volumes { object.set("volumes", elements: VolumeReport.json(of: volumes)) }
        return object.bytes
    }

    /// What is said of a bundle that is not good: the exit status that it means, and why.
    private static func json(of failure: CommandError, _ path: String, faults: [[UInt8]]?) -> [UInt8] {
        var object = CanonicalObject()
        object.set("good", boolean: false)
        object.set("path", string: path)
        object.set("status", integer: Int(failure.status.rawValue))
        object.set("text", string: failure.message)
        if let faults { object.set("volumes", elements: faults) }
        return object.bytes
    }
}
