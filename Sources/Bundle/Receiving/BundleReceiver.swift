import Bytes
import CLibrary
import Files
import Hashing
import Telemetry

/// A receiver that copies bundles from a medium that is not trusted, and keeps only copies that it has verified.
///
/// Each file of the medium is opened once, without following links, and read once. The copy is verified, to which only
/// this user has access, so that a medium that changes meanwhile has no effect.
///
/// ```swift
/// let folder = try StagedFolder(path: path, for: BundleReceiver.stageName)
/// var receiver = try BundleReceiver(
///     from: Folder(pathWithoutLinks: medium), into: folder, signedBy: signers, knowing: Systems.table,
///     limit: JobLimit(jobs: 2), accepted: AcceptedBundles())
/// for bundle in receiver.offer.bundles {
///     let received = try await receiver.receive(bundle)
///     print(received.manifest.digest)
/// }
/// ```
///
/// Source: "Receiving bundles".
public struct BundleReceiver: ~Copyable {
    /// The name for the hidden folder with the copies.
    public static let stageName = "incoming"

    /// A bundle whose verified files are in the folder.
    public struct ReceivedBundle: Sendable {
        /// The manifest of the bundle.
        public let manifest: Manifest
        /// The signer of the bundle.
        public let signer: Signer?
        /// The names of its files in the folder.
        public let files: [String]
        /// Whether the folder contained the bundle already.
        public let wasPresent: Bool
        /// The number of blocks that were repaired, or `nil` if none had to be.
        public let repairedBlockCount: Int?
        /// The digests of parents that were not accepted before.
        public let missingParents: [String]
    }

    /// The treatment of damaged copies.
    public enum Repair: Sendable {
        /// Damaged copies are rejected.
        case none
        /// The program only states whether the copies could be repaired.
        case check(ParityProgram)
        /// The program repairs the copies.
        case repair(ParityProgram)

        fileprivate var program: ParityProgram? {
            switch self {
            case .none: nil
            case .check(let program), .repair(let program): program
            }
        }
    }

    /// The files on the medium.
    public let offer: MediumContents
    /// The bundles that were accepted, including those of this receiver.
    public private(set) var accepted: AcceptedBundles
    /// Whether a bundle is accepted although its digest was accepted under another name.
    public var acceptsOtherNames = false
    /// The treatment of damaged copies.
    public var repair = Repair.none

    private let medium: Folder
    private let folder: StagedFolder
    private let signers: AllowedSigners
    private let systems: SystemTable
    private let limit: JobLimit

    /// The maximum size, in bytes, of each file that is not part of the bundle itself.
    fileprivate static let smallFileLimit = 64 << 20
    /// The number of bytes that are replaced by zeros if they cannot be read and can be repaired.
    private static let unreadableSize = 4 << 10

    /// Lists the files of the medium.
    public init(
        from medium: consuming Folder, into folder: consuming StagedFolder, signedBy signers: AllowedSigners,
        knowing systems: SystemTable, limit: JobLimit, accepted: AcceptedBundles
    ) throws(FileError) {
        offer = try MediumContents(of: medium)
        self.medium = medium
        self.folder = folder
        self.signers = signers
        self.systems = systems
        self.limit = limit
        self.accepted = accepted
    }

    /// Returns the names of the entries of the folder that do not belong to bundles, in the order of their bytes.
    public func foreignNames() throws(FileError) -> [String] {
        try folder.names().filter { !$0.hasPrefix(".") && !OfferedBundle.isFileOfBundle($0) }
    }

    /// Copies a bundle of ``offer``, verifies the copy, and moves it into the folder.
    ///
    /// An interrupted copy is continued. If the bundle is not accepted, the copy is removed.
    ///
    /// - Parameters:
    ///   - bundle: The bundle.
    ///   - progress: Called with the number of bytes that were copied or verified.
    /// - Returns: The bundle, which can also have been received before.
    /// - Throws: ``ReceivingError`` or ``BundleError`` if the bundle is not accepted, and `FileError` if a file cannot be
    ///   read or written.
    public mutating func receive(
        _ bundle: OfferedBundle, progress: (Int) -> Void = { _ in }
    ) async throws -> ReceivedBundle {
        try bundle.requireRegularFiles()
        guard !bundle.dataNames.isEmpty else { throw ReceivingError.missing(bundle.name) }
        let present = try folder.names().filter(bundle.owns)
        if present.contains(where: { CapturedText($0) == bundle.firstName }) { return try presentBundle(bundle) }
        // An interrupted run can have left these files. Receipts of an older bundle with this name are kept.
        for name in present {
            let isOlder = try bundle.hasCompanion(name) && !medium.hasFile(name, equalTo: folder.path(of: name))
            if !isOlder { try folder.withdraw([name]) }
        }
        let copied: CopiedBundle
        do {
            copied = try await copy(bundle, progress)
            if let other = accepted.otherName(of: copied.reader.manifest.digest, than: bundle.name), !acceptsOtherNames
            {
                throw ReceivingError.acceptedAs(other, digest: copied.reader.manifest.digest)
            }
        } catch {
            if !(error is FileError) { try folder.discard(stagedNames(of: bundle)) }
            throw error
        }
        let names = Self.names(of: copied.reader, bundle)
        try folder.discard(stagedNames(of: bundle).filter { name in !names.contains { CapturedText($0) == name } })
        try folder.publish(names)
        return accept(copied.reader, bundle, wasPresent: false, copied.repairedBlockCount)
    }

    /// Returns the names of the files that are kept, the first part of the bundle last.
    private static func names(of reader: BundleReader, _ bundle: OfferedBundle) -> [String] {
        // A repair can add volumes that are missing on the medium.
        let dataNames = reader.volumes?.names.map(\.name) ?? [bundle.name]
        return bundle.accompanyingNames + dataNames.reversed()
    }

    private mutating func accept(
        _ reader: BundleReader, _ bundle: OfferedBundle, wasPresent: Bool, _ repairedBlockCount: Int?
    ) -> ReceivedBundle {
        let manifest = reader.manifest
        let missing = manifest.parents.filter { !accepted.contains($0) }
        accepted.insert(manifest.digest, named: bundle.name)
        return ReceivedBundle(
            manifest: manifest, signer: reader.signer, files: Self.names(of: reader, bundle), wasPresent: wasPresent,
            repairedBlockCount: repairedBlockCount, missingParents: missing)
    }

    /// Returns a bundle that is in the folder already, if the medium has the same files.
    private mutating func presentBundle(_ bundle: OfferedBundle) throws -> ReceivedBundle {
        // With the same signature, it is the same bundle, even if it is damaged on the medium.
        let isSame = try medium.hasFile(bundle.signatureName, equalTo: folder.path(of: bundle.signatureName))
        for name in isSame ? [] : bundle.dataNames {
            let copy = try RunningHash.hash(of: ByteSource(InputFile(path: folder.path(of: name))))
            guard try RunningHash.hash(of: medium.source(Array(name.utf8))) == copy else {
                throw ReceivingError.otherContents(name, in: folder.path)
            }
        }
        let file = try BundleFile(path: folder.path(of: bundle.firstName))
        let reader = try BundleReader(file, knowing: systems, signedBy: signers)
        return accept(reader, bundle, wasPresent: true, nil)
    }

    // MARK: Copies

    private struct CopiedBundle {
        let reader: BundleReader
        let repairedBlockCount: Int?
    }

    /// Copies the files of a bundle, and verifies the copies.
    private func copy(_ bundle: OfferedBundle, _ progress: (Int) -> Void) async throws -> CopiedBundle {
        let continued = try copyFiles(of: bundle, progress)
        do {
            return CopiedBundle(reader: try await verifiedCopy(of: bundle, progress), repairedBlockCount: nil)
        } catch let error as BundleError {
            // The part that was copied before can belong to another bundle.
            if continued {
                try folder.discard(stagedNames(of: bundle))
                return try await copy(bundle, progress)
            }
            return try await repairedCopy(of: bundle, after: error, progress)
        }
    }

    /// Copies the files of a bundle, and returns whether earlier copies were continued.
    private func copyFiles(of bundle: OfferedBundle, _ progress: (Int) -> Void) throws -> Bool {
        let dataNames = bundle.dataNames
        try folder.discard(
            stagedNames(of: bundle).filter { name in !dataNames.contains { CapturedText($0) == name } })
        for name in bundle.accompanyingNames { _ = try copy(name, isSmall: true, replacesUnreadable: false, progress) }
        let isRepairable = repair.program != nil && !bundle.parityNames.isEmpty
        var isContinued = false
        for name in dataNames {
            if try copy(name, isSmall: false, replacesUnreadable: isRepairable, progress) {
                isContinued = true
            }
        }
        return isContinued
    }

    /// Copies a file of the medium, and returns whether an earlier copy was continued.
    private func copy(
        _ name: String, isSmall: Bool, replacesUnreadable: Bool, _ progress: (Int) -> Void
    ) throws -> Bool {
        let source = try medium.source(Array(name.utf8))
        guard !isSmall || source.count <= Self.smallFileLimit else { throw FileError(.read, name, code: EFBIG) }
        var copy = try folder.open(name)
        if copy.size > source.count { try copy.truncate(to: 0) }
        let start = copy.size
        progress(start)
        guard try folder.freeByteCount() >= source.count - start else {
            throw FileError(.write, folder.path, code: ENOSPC)
        }
        while copy.size < source.count {
            let count = min(1 << 20, source.count - copy.size)
            let bytes = try Self.bytes(of: source, at: copy.size, count: count, replacesUnreadable: replacesUnreadable)
            guard !bytes.isEmpty else { throw FileError(changedFileAt: name) }
            try copy.append(bytes.span)
            progress(bytes.count)
        }
        try copy.sync()
        return start > 0
    }

    /// Reads a part of a file, with zeros in place of the blocks that cannot be read if `replacesUnreadable` is `true`.
    static func bytes(
        of source: ByteSource, at offset: Int, count: Int, replacesUnreadable: Bool
    ) throws(FileError) -> [UInt8] {
        do throws(FileError) {
            return try source.bytes(at: offset, count: count)
        } catch {
            guard error.code == EIO, replacesUnreadable else { throw error }
            guard count > unreadableSize else { return [UInt8](repeating: 0, count: count) }
        }
        var bytes: [UInt8] = []
        while bytes.count < count {
            let size = min(unreadableSize, count - bytes.count)
            bytes += try Self.bytes(of: source, at: offset + bytes.count, count: size, replacesUnreadable: true)
        }
        return bytes
    }

    /// The names of all copies of the bundle in the hidden folder.
    private func stagedNames(of bundle: OfferedBundle) throws(FileError) -> [String] {
        try folder.stagedNames().filter { name in
            bundle.owns(name)
        }
    }

    /// Verifies the copies of the files of a bundle.
    private func verifiedCopy(of bundle: OfferedBundle, _ progress: (Int) -> Void) async throws -> BundleReader {
        let file = try BundleFile(path: folder.stagedPath(of: bundle.firstName))
        let reader = try BundleReader(file, knowing: systems, signedBy: signers)
        try reader.volumes?.verifyHashes(progress: progress)
        try await BundleVerifier(reader, limit: limit).verify(progress: progress)
        return reader
    }

    // MARK: Repair

    /// Repairs the copies after `error`, and verifies them.
    ///
    /// - Throws: `error`, or ``ReceivingError`` with it if repair blocks exist.
    private func repairedCopy(
        of bundle: OfferedBundle, after error: BundleError, _ progress: (Int) -> Void
    ) async throws -> CopiedBundle {
        guard let par2 = repair.program, let first = bundle.parityNames.first else { throw error }
        for name in bundle.parityNames {
            _ = try copy(name, isSmall: false, replacesUnreadable: true, progress)
        }
        let path = folder.stagedPath(of: first)
        let state: ParityProgram.State
        do {
            state = try par2.state(of: path)
            // Other damage than that of blocks cannot be repaired, such as a signature of someone else.
            guard !state.isIntact else { throw error }
            guard case .repair = repair, state.isRepairable else { throw ReceivingError.damaged(error, state) }
            try par2.repair(with: path)
        } catch let failure as ParityError {
            throw ReceivingError.notRepaired(error, failure)
        }
        return CopiedBundle(
            reader: try await verifiedCopy(of: bundle, progress), repairedBlockCount: state.damagedCount)
    }
}

extension Folder {
    /// Returns whether the small file `name` has the contents of the file at `path`, or `false` if one does not exist.
    fileprivate func hasFile(_ name: String, equalTo path: String) throws(FileError) -> Bool {
        do throws(FileError) {
            let copy = try InputFile(path: path).contents(limit: BundleReceiver.smallFileLimit)
            return try source(Array(name.utf8)).bytes(at: 0, count: copy.count + 1) == copy
        } catch {
            guard error.isNotFound || error.isTooLarge else { throw error }
            return false
        }
    }
}

/// The reason why a bundle on a medium is not accepted.
public enum ReceivingError: Error, CustomStringConvertible {
    /// Files of the bundle with the given name exist, but not the bundle.
    case missing(String)
    /// The entry with the given name is not a regular file.
    case irregular(String, isLink: Bool)
    /// The bundle exists both as one file and in volumes.
    case ambiguous(String)
    /// The folder at the given path contains a file with the given name and other contents.
    case otherContents(String, in: String)
    /// A bundle with the same digest was accepted under the given name.
    case acceptedAs(String, digest: String)
    /// The bundle is damaged, and has the given repair blocks.
    case damaged(BundleError, ParityProgram.State)
    /// The bundle is damaged, and could not be repaired for the given reason.
    case notRepaired(BundleError, ParityError)

    /// A description in one line without a full stop.
    public var description: String {
        switch self {
        case .missing(let name): "\(name) is missing, although other files of it exist"
        case .irregular(let name, let isLink):
            "\(name) is \(isLink ? "a symbolic link" : "not a regular file"), so it is not opened"
        case .ambiguous(let name): "\(name) exists as one file and in volumes"
        case .otherContents(let name, let folder): "\(folder) contains another \(name)"
        case .acceptedAs(let name, let digest):
            "it has the contents of \(name), which was accepted before: digest \(digest)"
        case .damaged(let error, let state): "\(error); \(state.description)"
        case .notRepaired(let error, let failure): "\(error); it cannot be repaired: \(failure)"
        }
    }

    /// A hint on how to resolve the error.
    public var remedy: String {
        switch self {
        case .missing: "ask the courier for the rest of the files"
        case .irregular: "do not trust this medium; ask the packer for another copy"
        case .ambiguous: "ask the packer which of them is the bundle, and remove the other"
        case .otherContents: "ask the packer which of them is the bundle, or choose another folder"
        case .acceptedAs: "ask the packer whether anything was new; if not, nothing is lost, and --again accepts it"
        case .damaged(_, let state):
            state.isRepairable ? "pass --repair to repair the copy" : "ask the packer for another copy"
        case .notRepaired: "ask the packer for another copy"
        }
    }
}
