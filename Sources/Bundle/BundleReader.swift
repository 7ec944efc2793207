import Bytes
import Files
import Hashing
import JSONText
import Telemetry

/// A reader that provides the members of a bundle in any order.
///
/// The initializers read the manifest, which lists the other members. The header and the bytes of a member are compared
/// with the manifest when the member is read, so that damage in other members has no effect.
///
/// The type is an immutable class, so that several threads can share it.
///
/// ```swift
/// let bundle = try BundleReader(path: path, knowing: Systems.table)
/// for segment in bundle.manifest.segments {
///     _ = try bundle.forEachRecord(of: segment) { record, _, _ in ids.append(record.id) }
/// }
/// ```
public final class BundleReader: Sendable {
    /// The path that was passed to the initializer.
    public let path: String
    /// The manifest, with the counts and the hashes of all members.
    public let manifest: Manifest
    /// The members in file order.
    public let members: [ContainerReader.Member]
    /// The systems whose records the bundle may contain.
    public let systems: SystemTable
    /// The volumes of the bundle, or `nil` if the bundle is a single file.
    public let volumes: VolumeSet?
    /// The signer of the bundle, or `nil` if no signature was verified.
    public let signer: Signer?
    private let container: ContainerReader
    /// The indices of the members, keyed by name.
    private let memberIndices: [CapturedText: Int]
    /// The decoders for segments, which are reused because allocating their memory takes a noticeable time.
    private let decoders = ValuePool<DecoderBox, Never> { DecoderBox() }

    /// Opens the bundle at `path`, which is the path of the bundle or of its first volume.
    public convenience init(path: String, knowing systems: SystemTable) throws(BundleError) {
        try self.init(try BundleFile(path: path), knowing: systems)
    }

    /// Opens a bundle on disk and verifies its signature if `signers` is not `nil`.
    ///
    /// The signature is verified before any contents are read. If the signed bytes change later, reading them throws an
    /// error. `signature` is the path of the signature. If it is `nil`, the signature is located beside the bundle.
    public convenience init(
        _ file: BundleFile, knowing systems: SystemTable, signedBy signers: AllowedSigners? = nil,
        signature: String? = nil
    ) throws(BundleError) {
        try self.init(
            file.source, path: file.path, volumes: file.volumes, knowing: systems, signedBy: signers,
            signature: signature ?? AllowedSigners.signaturePath(of: file.bundlePath))
    }

    /// Opens a bundle, and verifies its signature at the path `signature` if `signers` is not `nil`.
    ///
    /// If the bundle is split, pass its volumes as `volumes`, so that error messages name them.
    public init(
        _ source: ByteSource, path: String, volumes: VolumeSet? = nil, knowing systems: SystemTable,
        signedBy signers: AllowedSigners? = nil, signature: String? = nil
    ) throws(BundleError) {
        let bytes: ByteSource
        do throws(SignatureError) {
            let signature = signature ?? AllowedSigners.signaturePath(of: path)
            (bytes, signer) = try signers?.verify(source, path: path, signature: signature) ?? (source, nil)
        } catch {
            throw .signature(error)
        }
        container = try Self.wrappingErrors(volumes) { () throws(ContainerError) in try ContainerReader(bytes) }
        let last: ContainerReader.Member
        (manifest, last) = try Self.readManifest(of: container, volumes)
        members = try Self.members(of: container, listedIn: manifest, volumes) + [last]
        memberIndices = Dictionary(members.enumerated().map { (CapturedText($1.name), $0) }) { first, _ in first }
        (self.path, self.volumes, self.systems) = (path, volumes, systems)
    }

    /// Returns the SHA-256 hashes of the files of the bundle.
    ///
    /// The result is the hash of the bundle file or, if the bundle is split, the hash of each volume in order.
    public func fileHashes() throws(FileError) -> [ContentHash] {
        let source = container.source
        if let volumes { return try volumes.hashes(in: source) }
        return [try RunningHash.hash(of: source)]
    }

    /// Returns a unique name for each file of the bundle, which is a single file or several volumes.
    ///
    /// `name` is the unique name of the bundle.
    public func fileNames(for name: String) -> [String] {
        let volumeNames = volumes?.names ?? []
        guard volumeNames.count > 1 else { return [name] }
        // The folder that distinguishes bundles of the same name also precedes the names of their volumes.
        let folder = Path.parent(of: name).map { "\($0)/" } ?? ""
        return volumeNames.map { folder + $0.name }
    }

    /// Returns whether the files have not changed since they were opened.
    public func isUnchanged() throws(FileError) -> Bool { try container.source.isUnchanged() }

    /// Returns the contents of the member `name` after checking them against the hash in the manifest.
    public func contents(of name: String, with decoder: inout FrameDecoder) throws(BundleError) -> [UInt8] {
        guard let index = memberIndices[name], let sha256 = manifest.sha256(ofMemberAt: index) else {
            throw .memberMissing(name)
        }
        let contents = try Self.wrappingErrors(volumes) { () throws(ContainerError) in
            let member = members[index]
            let limit = BundleLayout.contentLimit(ofMember: name, compressedSize: member.compressedSize)
            return try container.read(member, with: &decoder, byteLimit: limit)
        }
        guard ContentHash(of: contents) == sha256 else { throw .changed(member: name) }
        return contents
    }

    /// Checks the contents of the member `name` against the hash in the manifest, without keeping them in memory.
    public func verifyContents(of name: String, with decoder: inout FrameDecoder) throws(BundleError) {
        guard let index = memberIndices[name], let sha256 = manifest.sha256(ofMemberAt: index) else {
            throw .memberMissing(name)
        }
        var hash = SHA256()
        try Self.wrappingErrors(volumes) { () throws(ContainerError) in
            try container.forEachChunk(of: members[index], with: &decoder) { hash.update($0) }
        }
        guard hash.finalize() == sha256 else { throw .changed(member: name) }
    }
}

// MARK: - Opening

extension BundleReader {
    /// Returns the manifest and its member after checking the first member.
    private static func readManifest(of container: ContainerReader, _ volumes: VolumeSet?) throws(BundleError)
        -> (Manifest, ContainerReader.Member)
    {
        guard container.memberCount > 0 else { throw .notABundle }
        var decoder = FrameDecoder()
        let (marker, last) = try wrappingErrors(volumes) { () throws(ContainerError) in
            (
                try container.member(at: 0, with: &decoder),
                try container.member(at: container.memberCount - 1, with: &decoder)
            )
        }
        guard marker.name == BundleLayout.marker else { throw .notABundle }
        guard last.name == BundleLayout.manifest else { throw .memberMissing(BundleLayout.manifest) }
        let (markerBytes, manifestBytes) = try wrappingErrors(volumes) { () throws(ContainerError) in
            (
                try container.read(marker, with: &decoder, byteLimit: 4096),
                try container.read(
                    last, with: &decoder,
                    byteLimit: BundleLayout.contentLimit(ofMember: last.name, compressedSize: last.compressedSize))
            )
        }
        try checkMarker(markerBytes)
        let manifest = try Manifest(manifestBytes)
        guard manifest.bytes == manifestBytes else { throw .badManifest("not in canonical form") }
        return (manifest, last)
    }

    /// Returns the members that the manifest lists, after checking their kinds, their order and their sizes.
    private static func members(
        of container: ContainerReader, listedIn manifest: Manifest, _ volumes: VolumeSet?
    ) throws(BundleError) -> [ContainerReader.Member] {
        let listed = manifest.allMembers
        guard listed.count == container.memberCount - 1 else {
            throw .badManifest(
                "it lists \(listed.count.counted("member")), but the bundle has \(container.memberCount - 1)")
        }
        try checkOrder(of: manifest)
        return try wrappingErrors(volumes) { () throws(ContainerError) in
            var members: [ContainerReader.Member] = []
            members.reserveCapacity(listed.count + 1)
            for (index, member) in listed.enumerated() {
                members.append(try container.member(at: index, named: member.path, size: member.bytes))
            }
            return members
        }
    }

    /// Checks the contents of the first member.
    ///
    /// - Throws: `BundleError.notABundle`, or `BundleError.unsupportedVersion` if the version is not supported.
    public static func checkMarker(_ bytes: [UInt8]) throws(BundleError) {
        guard let fields = try? JSONFields(bytes), fields.text("format") == BundleLayout.format else {
            throw .notABundle
        }
        guard fields.integer("version") == BundleLayout.version else {
            throw .unsupportedVersion(fields.integer("version"))
        }
    }

    /// Checks that the members have the kinds and the order that the format requires, and that the digest matches them.
    private static func checkOrder(of manifest: Manifest) throws(BundleError) {
        let others = manifest.otherMembers
        guard others.first?.path == BundleLayout.marker else {
            throw .badManifest("its first member is not \(BundleLayout.marker)")
        }
        for (number, segment) in manifest.segments.enumerated() {
            guard segment.path == BundleLayout.segmentName(number + 1) else {
                throw .badManifest("segment \(number + 1) is named \(segment.path)")
            }
            guard segment.records > 0 else { throw .badManifest("\(segment.path) has no records") }
        }
        var rest = others.dropFirst().drop { $0.path.hasPrefix(BundleLayout.quarantineFolder) }
        let quarantined = others.dropFirst().dropLast(rest.count)
        for other in quarantined where other.path != BundleLayout.quarantineMemberName(sha256: other.sha256.hex) {
            throw .badManifest("\(other.path) is not named after its hash")
        }
        for (other, next) in zip(quarantined, quarantined.dropFirst()) where other.sha256.hex >= next.sha256.hex {
            throw .badManifest("\(next.path) is not in the order of the hashes")
        }
        for list in BundleLayout.listNames {
            var number = 1
            while rest.first?.path == BundleLayout.listMemberName(of: list, number: number) {
                rest.removeFirst()
                number += 1
            }
            guard number > 1 || list == BundleLayout.withdrawals else {
                throw .badManifest("the list members of the bundle are missing or out of order")
            }
        }
        guard rest.isEmpty else { throw .badManifest("the list members of the bundle are missing or out of order") }
        guard manifest.hasMatchingDigest else { throw .badManifest("the digest does not match the members") }
    }

    private static func wrappingErrors<Value>(
        _ volumes: VolumeSet?, _ body: () throws(ContainerError) -> Value
    ) throws(BundleError) -> Value {
        do throws(ContainerError) {
            return try body()
        } catch {
            throw volumes?.bundleError(for: error) ?? .container(error)
        }
    }
}

// MARK: - Records

/// A reader that parses the records of a segment line by line.
public struct RecordLines {
    let contents: [UInt8]
    private var cursor = LineCursor()
    private let systems: SystemTable
    private var memory = RecordMemory()
    /// The number of the last line that was read, starting at 1, or 0 if no line was read.
    public var lineNumber: Int { cursor.count }

    /// Creates a reader of the contents of a segment.
    public init(_ contents: [UInt8], knowing systems: SystemTable) {
        self.contents = contents
        self.systems = systems
    }

    /// The layout of the most recently read record, as offsets in `contents`.
    var recordLayout: RecordLineLayout { memory.written }

    /// Returns the next record and the range of its line, including the line feed, or `nil` after the last record.
    ///
    /// After an error, reading can continue with the next line.
    public mutating func next() throws(RecordError) -> (record: Record, range: Range<Int>)? {
        let contents = contents
        guard let line = cursor.next(in: contents.span) else { return nil }
        guard line.isTerminated else { throw RecordError("no line feed at the end") }
        let record = try Record(lineAt: line.range, of: contents, using: &memory, knowing: systems)
        if let contradiction = record.contradiction(knowing: systems) { throw RecordError(contradiction) }
        return (record, line.range.lowerBound..<line.range.upperBound + 1)
    }
}

extension BundleReader {
    /// Reads the records of a segment, and returns the contents of the segment.
    ///
    /// `body` is called with each record, the range of the record's line including the line feed, and the positions of
    /// the parts of the record in the contents.
    ///
    /// - Throws: ``BundleError`` if the segment cannot be read, and the errors of `body`.
    public func forEachRecord(
        of segment: Manifest.Segment, _ body: (borrowing Record, Range<Int>, RecordLineLayout) throws -> Void
    ) throws -> [UInt8] {
        let box = decoders.take()
        defer { decoders.recycle(box) }
        let contents = try contents(of: segment.path, with: &box.decoder)
        var lines = RecordLines(contents, knowing: systems)
        do {
            while let (record, range) = try lines.next() { try body(record, range, lines.recordLayout) }
        } catch let error as RecordError {
            let (line, reason) = (lines.lineNumber, error.description)
            throw error.isUnknownName
                ? BundleError.unknownName(member: segment.path, line: line, reason: reason)
                : BundleError.badRecord(member: segment.path, line: line, reason: reason)
        }
        guard lines.lineNumber == segment.records else {
            throw BundleError.countMismatch("the number of records of \(segment.path)")
        }
        return contents
    }
}

// Sendable, because only one job at a time uses the decoder.
/// A reference to a decoder, so that a pool can hold it.
private final class DecoderBox: @unchecked Sendable {
    var decoder = FrameDecoder()
}

// MARK: - Errors

/// The reason why a bundle is invalid or cannot be read.
public enum BundleError: Error, Sendable, CustomStringConvertible {
    /// The container cannot be read.
    case container(ContainerError)
    /// The volumes of the bundle cannot be read as one file.
    case volumes([VolumeFault])
    /// The opened volume is not the first volume of its bundle. The value is the path of the first volume.
    case notFirstVolume(String)
    /// There is no file at the path of the bundle, but its volumes exist. The value is the path of the first volume.
    case split(String)
    /// The first member does not identify the file as a bundle.
    case notABundle
    /// The version of the format is not supported.
    ///
    /// The value is `nil` if the version is not an integer.
    case unsupportedVersion(Int?)
    /// The required member with the given name is missing.
    case memberMissing(String)
    /// The manifest is malformed or does not match the members. The value is the reason.
    case badManifest(String)
    /// The bytes of a member do not match the hash in the manifest.
    case changed(member: String)
    /// The line of `member` with the number `line`, starting at 1, is malformed.
    case badRecord(member: String, line: Int, reason: String)
    /// The line of `member` with the number `line`, starting at 1, contains an unknown system or an unknown kind of
    /// store.
    case unknownName(member: String, line: Int, reason: String)
    /// The bundle has no valid signature of an allowed signer.
    case signature(SignatureError)
    /// The named count or list does not match the contents of the bundle.
    case countMismatch(String)

    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .container(let error): error.description
        case .volumes(let faults): faults.map(\.text).joined(separator: "; ")
        case .notFirstVolume(let first): "it is not the first volume of a bundle; pass \(first)"
        case .split(let first): "there is no such file, but the bundle is split into volumes; pass \(first)"
        case .notABundle: "not a bundle: the first member is not \(BundleLayout.marker)"
        case .unsupportedVersion(let version):
            "bundle format version \(version.map(String.init) ?? "unknown") is not supported"
        case .memberMissing(let name): "\(name) is missing"
        case .badManifest(let reason): "\(BundleLayout.manifest): \(reason)"
        case .changed(let member): "\(member): its contents do not match the hash in the manifest"
        case .badRecord(let member, let line, let reason), .unknownName(let member, let line, let reason):
            "\(member) line \(line): \(reason)"
        case .signature(let error): error.description
        case .countMismatch(let what): "\(BundleLayout.manifest): \(what) does not match the contents of the bundle"
        }
    }

    /// A hint on how to resolve the error, or `nil` if no hint is available.
    public var remedy: String? {
        switch self {
        case .container(let error): error.remedy
        case .signature(let error): error.remedy
        case .volumes(let faults) where faults.contains { $0.code == "bad-list" }:
            "use another copy of the list, or remove the list, because it is optional"
        case .volumes where lacksFiles: "put all volumes of the bundle into one folder"
        case .volumes:
            "use other copies of these volumes, or read what is left of the bundle with convert --salvage"
        case .unsupportedVersion: FormatVersion.remedy
        case .unknownName: "use a newer version of this program"
        case .notABundle, .notFirstVolume, .split: nil
        case .memberMissing, .badManifest, .changed, .badRecord, .countMismatch:
            "use another copy of the bundle, or read what is left of this one with convert --salvage"
        }
    }

    /// Whether files are missing, and nothing else is wrong.
    public var lacksFiles: Bool {
        switch self {
        case .volumes(let faults): faults.allSatisfy { $0.kind == .missing }
        case .split: true
        default: false
        }
    }
}
