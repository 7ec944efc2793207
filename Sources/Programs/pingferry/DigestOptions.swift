import ArgumentParser
import Bundle
import Console
import Files
import Hashing

/// The digests that bundles have to have.
struct DigestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The bundle has to have this digest, which came another way than the bundle.", valueName: "hex"))
    var digest: String?

    @Option(
        help: ArgumentHelp(
            """
            The digests that the bundles have to have: a line for each, the digest and the name of the bundle; a digest \
            alone where there is one bundle.
            """, valueName: "file"), completion: .file())
    var digestFile: String?

    func validate() throws {
        guard digest == nil || digestFile == nil else {
            throw ValidationError("--digest and --digest-file both say which digest it has to be")
        }
        if let digest, ContentHash(hex: digest.lowercased()) == nil {
            throw ValidationError("--digest takes the 64 hexadecimal digits that verify prints")
        }
    }

    /// The digest that each bundle has to have; nil where none is asked for.
    /// - Throws: ``CommandError`` for a file that is no list of digests, or that has none for a bundle.
    func expected(of bundles: [String]) throws -> [String]? {
        if let digest {
            guard bundles.count == 1 else {
                throw ValidationError("--digest is for one bundle; --digest-file has digests for several")
            }
            return [digest.lowercased()]
        }
        guard let path = digestFile else { return nil }
        let list = try Self.list(path)
        return try bundles.map { bundle in
            // Of volumes, the list has the name of the bundle.
            let name = VolumeName(path: bundle)?.bundle ?? bundle
            guard let digest = list.digest(of: name, isOnlyOne: bundles.count == 1) else {
                throw CommandError(
                    status: .badData, message: "\(path): no digest for \(bundle)",
                    remedy: "a line there has the digest, two spaces, and the name of the bundle")
            }
            return digest
        }
    }

    private static func list(_ path: String) throws -> DigestList {
        let bytes = try InputFile(path: path).contents(limit: DigestList.longest)
        do throws(DigestListError) {
            return try DigestList(bytes)
        } catch {
            throw CommandError(status: .badData, message: "\(path): \(error)")
        }
    }
}
