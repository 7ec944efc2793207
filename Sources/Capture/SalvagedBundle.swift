import Bundle
import Files
import Telemetry

/// What can still be read of a damaged bundle, front to back.
public final class SalvagedBundle: Sendable {
    /// The path as given.
    public let path: String
    /// What problems name the capture.
    public let label: String
    let source: ByteSource

    /// Opens a file to be salvaged.
    /// - Throws: `FileError`.
    public convenience init(path: String, label: String) throws(FileError) {
        self.init(ByteSource(try InputFile(path: path)), path: path, label: label)
    }

    /// Takes bytes to be salvaged.
    /// - Parameter path: what messages call them.
    public init(_ source: ByteSource, path: String, label: String) {
        self.path = path
        self.label = label
        self.source = source
    }

    /// Whether an archive is an unpacked bundle that somebody packed again: it has a member that tells so.
    /// - Throws: ``BundleError`` if it cannot be read.
    public static func isPacked(in source: ByteSource) throws(BundleError) -> Bool {
        do throws(ContainerError) {
            var scanner = try FrameScanner(source, memberLimit: BundleLayout.memberLimit)
            while let finding = try scanner.next() {
                guard case .member(let member) = finding else { continue }
                switch BundleLayout.member(atPath: member.name) {
                case BundleLayout.marker?: return true
                case BundleLayout.manifest? where (try? Manifest(member.contents)) != nil: return true
                default: continue
                }
            }
            return false
        } catch {
            throw .container(error)
        }
    }
}

/// The state of salvaging: a scan that stops when a batch is full.
final class SalvageScan {
    private var scanner: FrameScanner
    private let bundle: SalvagedBundle
    private let input: Int
    private let options: HarvestOptions
    private var isAtEnd = false
    private var segments: Set<String> = []
    private var manifest: Manifest?
    /// The hashes that the manifest lists, once they matter; none if there is no manifest that proves itself.
    private var hashes: [String: String]?

    init(_ bundle: SalvagedBundle, input: Int, _ options: HarvestOptions) throws(BundleError) {
        do {
            scanner = try FrameScanner(bundle.source, memberLimit: BundleLayout.memberLimit)
        } catch {
            throw .container(error)
        }
        self.bundle = bundle
        self.input = input
        self.options = options
    }

    /// The next batch; nil at the end.
    func next() throws(BundleError) -> Batch? {
        guard !isAtEnd else { return nil }
        var batch = Batch()
        do throws(ContainerError) {
            while !batch.isFull {
                guard let finding = try scanner.next() else {
                    finish(&batch)
                    break
                }
                try add(finding, to: &batch)
            }
        } catch {
            throw .container(error)
        }
        return batch
    }

    private func add(_ finding: FrameScanner.Finding, to batch: inout Batch) throws(ContainerError) {
        switch finding {
        case .member(let member):
            guard let name = BundleLayout.member(atPath: member.name) else { return }
            try add(member, named: name, to: &batch)
        case .tooLarge(let name, let size, let offset):
            report("\(name) at byte \(offset): \(size) bytes are more than the limit", to: &batch)
        case .gap(let offset, let length, let reason):
            let error = ContainerError(at: offset, reason)
            report("\(error); \(length) bytes lost", to: &batch)
        }
    }

    private func add(
        _ member: FrameScanner.Member, named name: String, to batch: inout Batch
    ) throws(ContainerError) {
        if BundleLayout.isSegment(name) {
            segments.insert(name)
            let isProven = try proves(member, named: name)
            if !isProven { report("\(name): nothing proves its records right; they are held as unproven", to: &batch) }
            return add(member, named: name, isProven: isProven, to: &batch)
        }
        if name == BundleLayout.manifest { manifest = manifest ?? (try? Manifest(member.contents)) }
        switch BundleLayout.list(of: name) {
        case BundleLayout.quarantine?:
            batch.quarantined += details(of: member).map { Batch.QuarantineEntry(input: input, item: $0) }
        case BundleLayout.problems?: batch.problems += details(of: member)
        default: return
        }
        if try !proves(member, named: name) { report("\(name): nothing proves its lines right", to: &batch) }
    }

    /// Whether a checksum or the manifest proves that the bytes of a member are those that were packed.
    private func proves(_ member: FrameScanner.Member, named name: String) throws(ContainerError) -> Bool {
        if member.isChecked { return true }
        let known: [String: String]
        if let hashes { known = hashes } else { known = try manifestAhead()?.hashes ?? [:] }
        hashes = known
        guard let hash = known[name] else { return false }
        return PayloadHash.hex(of: member.contents) == hash
    }

    /// The first manifest of the file whose digest is that of the hashes that it lists.
    private func manifestAhead() throws(ContainerError) -> Manifest? {
        var ahead = try FrameScanner(bundle.source, memberLimit: BundleLayout.memberLimit)
        while let finding = try ahead.next() {
            guard case .member(let member) = finding,
                BundleLayout.member(atPath: member.name) == BundleLayout.manifest,
                let manifest = try? Manifest(member.contents), manifest.provesItself
            else { continue }
            return manifest
        }
        return nil
    }

    private func add(_ segment: FrameScanner.Member, named name: String, isProven: Bool, to batch: inout Batch) {
        batch.bytesRead += segment.contents.count
        var lines = RecordLines(segment.contents)
        while true {
            do throws(RecordError) {
                guard var (record, _) = try lines.next() else { return }
                if let contradiction = record.contradiction { throw RecordError(contradiction) }
                if !isProven { record.markUnproven() }
                guard options.filter.passes(record) else { continue }
                batch.append(record, key: RecordKey(record, secret: options.secret), input: input, place: nil)
            } catch {
                report("\(name) line \(lines.line): \(error)", to: &batch)
            }
        }
    }

    /// The lines of a list that can still be read.
    private func details<Entry: BundleDetail>(of member: FrameScanner.Member) -> [Entry] {
        member.contents.split(separator: UInt8(ascii: "\n")).compactMap { Entry(json: Array($0)) }
    }

    /// Names the segments that the manifest lists and nothing was left of.
    private func reportMissing(to batch: inout Batch) {
        for segment in manifest?.segments ?? [] where !segments.contains(segment.path) {
            report("\(segment.path) is missing; records lost: \(segment.records)", to: &batch)
        }
    }

    private func finish(_ batch: inout Batch) {
        isAtEnd = true
        reportMissing(to: &batch)
        if !scanner.sawEnd { report("the end of the bundle is missing; records may be lost there", to: &batch) }
    }

    private func report(_ text: String, to batch: inout Batch) {
        batch.problems.append(
            PlacedProblem(capture: bundle.label, path: bundle.path, problem: Problem("damaged", text)))
    }
}

extension Record {
    private static let unprovenNote = "unproven"

    /// Notes that nothing proves the record's bytes right, and holds it for that.
    fileprivate mutating func markUnproven() {
        if !notes.contains(Self.unprovenNote) { notes.append(Self.unprovenNote) }
        if !held.contains(.unproven) { held.append(.unproven) }
    }
}
