import ArgumentParser
import Bundle
import Console
import Files
import Hashing

/// The options that specify the expected digests of bundles.
struct DigestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The expected digest of the bundle, or of the last one with --chain, received separately from the bundle.",
            valueName: "hex"))
    var digest: String?

    @Option(
        help: ArgumentHelp(
            """
            A file with the expected digests: one line for each bundle with the digest and the name of the bundle. For \
            a single bundle, the digest alone is sufficient.
            """, valueName: "file"), completion: .file())
    var digestFile: String?

    func validate() throws {
        guard digest == nil || digestFile == nil else {
            throw ValidationError("--digest and --digest-file cannot be used together")
        }
        if let digest, ContentHash(hex: digest.lowercased()) == nil {
            throw ValidationError("--digest requires the 64 hexadecimal digits that verify prints")
        }
    }

    /// Returns the expected digest of each bundle, or `nil` if no digests were given.
    ///
    /// In a chain, `--digest` applies to the last bundle, and the elements for the other bundles are `nil`.
    func expectedDigests(of bundles: [String], inChain isChain: Bool) throws -> [String?]? {
        if let digest {
            guard bundles.count == 1 || isChain else {
                throw ValidationError("--digest accepts only one bundle; use --digest-file for several")
            }
            return bundles.dropLast().map { _ in nil } + [digest.lowercased()]
        }
        guard let path = digestFile else { return nil }
        let list = try Self.digestList(at: path)
        return try bundles.map { bundle in
            // For a bundle in volumes, the list of digests contains the name of the bundle.
            let name = VolumeName(path: bundle)?.bundlePath ?? bundle
            guard let digest = list.digest(of: name, isOnlyBundle: bundles.count == 1) else {
                throw CommandError(
                    status: .badData, message: "\(path): contains no digest for \(bundle)",
                    remedy: "add a line with the digest, two spaces, and the name of the bundle")
            }
            return digest
        }
    }

    private static func digestList(at path: String) throws -> DigestList {
        let bytes = try InputFile(path: path).contents(limit: DigestList.maxSize)
        do throws(DigestListError) {
            return try DigestList(bytes)
        } catch {
            throw CommandError(status: .badData, message: "\(path): \(error)")
        }
    }
}
