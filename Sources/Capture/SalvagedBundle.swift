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
}

/// The state of salvaging: a scan that stops when a batch is full.
final class SalvageScan {
    private var scanner: FrameScanner
    private let bundle: SalvagedBundle
    private let input: Int
    private let options: HarvestOptions
    private var isAtEnd = false
    private var segments: Set<String> = []

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
                add(finding, to: &batch)
            }
        } catch {
            throw .container(error)
        }
        return batch
    }

    private func add(_ finding: FrameScanner.Finding, to batch: inout Batch) {
        switch finding {
        case .member(let member) where BundleLayout.isSegment(member.name):
            segments.insert(member.name)
            add(member, to: &batch)
        case .member(let member) where member.name == BundleLayout.manifest: reportMissing(member, to: &batch)
        case .member(let member) where member.name == BundleLayout.quarantine:
            batch.quarantined += details(of: member).map { Batch.QuarantineEntry(input: input, item: $0) }
        case .member(let member) where member.name == BundleLayout.problems: batch.problems += details(of: member)
        case .member: break
        case .tooLarge(let name, let size, let offset):
            report("\(name) at byte \(offset): \(size) bytes are more than the limit", to: &batch)
        case .gap(let offset, let length, let reason):
            let error = ContainerError(at: offset, reason)
            report("\(error); \(length) bytes lost", to: &batch)
        }
    }

    private func add(_ segment: FrameScanner.Member, to batch: inout Batch) {
        batch.bytesRead += segment.contents.count
        var lines = RecordLines(segment.contents)
        while true {
            do throws(RecordError) {
                guard let (record, _) = try lines.next() else { return }
                if let contradiction = record.contradiction { throw RecordError(contradiction) }
                guard options.filter.passes(record) else { continue }
                batch.append(record, key: RecordKey(record, secret: options.secret), input: input, place: nil)
            } catch {
                report("\(segment.name) line \(lines.line): \(error)", to: &batch)
            }
        }
    }

    /// The lines of a list that can still be read.
    private func details<Entry: BundleDetail>(of member: FrameScanner.Member) -> [Entry] {
        member.contents.split(separator: UInt8(ascii: "\n")).compactMap { Entry(json: Array($0)) }
    }

    /// Names the segments that the manifest lists and nothing was left of; the manifest is behind all of them.
    private func reportMissing(_ manifest: FrameScanner.Member, to batch: inout Batch) {
        guard let manifest = try? Manifest(manifest.contents) else { return }
        for segment in manifest.segments where !segments.contains(segment.path) {
            report("\(segment.path) is missing; records lost: \(segment.records)", to: &batch)
        }
    }

    private func finish(_ batch: inout Batch) {
        isAtEnd = true
        if !scanner.sawEnd { report("the end of the bundle is missing; records may be lost there", to: &batch) }
    }

    private func report(_ text: String, to batch: inout Batch) {
        batch.problems.append(
            PlacedProblem(capture: bundle.label, path: bundle.path, problem: Problem("damaged", text)))
    }
}
