import Bundle
import Bytes
import Files
import Hashing
import Telemetry

/// A damaged bundle, whose readable parts are recovered sequentially.
public final class SalvagedBundle: Sendable {
    /// The path of the bundle, as specified by the caller.
    public let path: String
    /// The label of the bundle in problem reports.
    public let label: String
    let source: ByteSource
    let systems: SystemTable
    let volumeFaults: [String]

    /// Opens a damaged bundle.
    ///
    /// - Throws: `FileError` if the file cannot be opened.
    public convenience init(path: String, label: String, systems: SystemTable) throws(FileError) {
        self.init(ByteSource(try InputFile(path: path)), path: path, label: label, systems: systems)
    }

    /// Creates a damaged bundle from its bytes and from descriptions of its volume faults, which are reported first.
    public init(
        _ source: ByteSource, path: String, label: String, systems: SystemTable, volumeFaults: [String] = []
    ) {
        self.volumeFaults = volumeFaults
        self.systems = systems
        self.path = path
        self.label = label
        self.source = source
    }
}

private enum OpenedMember {
    case segment(RecordLines, name: String, isProven: Bool)
    case details(ListLines, list: String)
}

/// The nonempty lines of a list, such as the quarantine.
private struct ListLines {
    private let contents: [UInt8]
    private var cursor = LineCursor()

    init(_ contents: [UInt8]) {
        self.contents = contents
    }

    mutating func next() -> [UInt8]? {
        let contents = contents
        while let line = cursor.next(in: contents.span) {
            if !line.range.isEmpty { return Array(contents[line.range]) }
        }
        return nil
    }
}

/// A reader of a damaged bundle.
final class SalvageScan {
    private var scanner: FrameScanner
    private let bundle: SalvagedBundle
    private var hasStarted = false
    /// The member whose lines are being read, or `nil` between members.
    ///
    /// A member may have more lines than fit in one output.
    private var currentMember: OpenedMember?
    /// The number of records that were read from each segment, by name.
    private var recordCounts: [CapturedText: Int] = [:]
    private var manifest: Manifest?

    init(_ bundle: SalvagedBundle) throws(BundleError) {
        do {
            scanner = try FrameScanner(bundle.source, memberSizeLimit: BundleLayout.memberSizeLimit)
        } catch {
            throw .container(error)
        }
        self.bundle = bundle
    }

    /// Reads a line or a frame, and returns whether there may be more to read.
    func read(into output: inout ScanOutput) throws -> Bool {
        if !hasStarted {
            for fault in bundle.volumeFaults { report(fault, to: &output) }
            hasStarted = true
        }
        if try readLine(to: &output) { return true }
        do throws(ContainerError) {
            if let finding = try scanner.next() {
                add(finding, to: &output)
                return true
            }
        } catch {
            throw BundleError.container(error)
        }
        finish(&output)
        return false
    }

    private func add(_ finding: FrameScanner.Finding, to output: inout ScanOutput) {
        switch finding {
        case .member(let member):
            readVersionedMember(member.name, member.contents, to: &output)
            open(member.name, member.contents, isProven: true, to: &output)
        case .part(let part):
            // Only complete lines are read.
            let end = part.contents.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            open(part.name, Array(part.contents[..<end]), isProven: false, to: &output)
        case .tooLarge(let name, let size, let offset):
            report("\(name) at byte \(offset): \(size) bytes are more than the limit", at: offset, to: &output)
        case .gap(let offset, let length, let reason):
            let error = ContainerError(at: offset, reason)
            report("\(error); \(length.counted("byte")) lost", at: offset, to: &output)
        }
    }

    /// Reads the member `name` if it is the marker or the manifest, and reports a version that is not supported.
    ///
    /// Other errors are not reported here, because the bundle is known to be damaged.
    private func readVersionedMember(_ name: String, _ contents: [UInt8], to output: inout ScanOutput) {
        do throws(BundleError) {
            switch name {
            case BundleLayout.marker: try BundleReader.checkMarker(contents)
            case BundleLayout.manifest where manifest == nil: manifest = try Manifest(contents)
            default: return
            }
        } catch {
            guard case .unsupportedVersion = error else { return }
            report("\(name): \(error); the records may be incomplete", to: &output)
        }
    }

    private func open(_ name: String, _ contents: [UInt8], isProven: Bool, to output: inout ScanOutput) {
        guard !contents.isEmpty else { return }
        if BundleLayout.isSegment(name) {
            recordCounts[name, default: 0] += 0
            if !isProven {
                report("\(name): nothing proves its records right; they are held as unproven", to: &output)
            }
            output.bytesRead += contents.count
            currentMember = .segment(RecordLines(contents, knowing: bundle.systems), name: name, isProven: isProven)
        } else if let list = BundleLayout.listName(ofMember: name) {
            currentMember = .details(ListLines(contents), list: list)
            if !isProven { report("\(name): nothing proves its lines right", to: &output) }
        }
    }

    /// Reads the next line of the current member, and returns whether there was a line.
    private func readLine(to output: inout ScanOutput) throws -> Bool {
        switch currentMember {
        case .segment(var lines, let name, let isProven):
            // Removed from the property so that the lines are not copied.
            currentMember = nil
            guard try readRecord(of: &lines, named: name, isProven: isProven, to: &output) else { return false }
            currentMember = .segment(lines, name: name, isProven: isProven)
            return true
        case .details(var lines, let list):
            currentMember = nil
            guard let line = lines.next() else { return false }
            add(line, of: list, to: &output)
            currentMember = .details(lines, list: list)
            return true
        case nil: return false
        }
    }

    private func readRecord(
        of lines: inout RecordLines, named name: String, isProven: Bool, to output: inout ScanOutput
    ) throws -> Bool {
        var record: Record
        do throws(RecordError) {
            guard let next = try lines.next() else { return false }
            record = next.record
        } catch {
            report("\(name) line \(lines.lineNumber): \(error)", to: &output)
            return true
        }
        recordCounts[name, default: 0] += 1
        if !isProven { record.markUnproven() }
        try output.add(record)
        return true
    }

    private func add(_ line: [UInt8], of list: String, to output: inout ScanOutput) {
        switch list {
        case BundleLayout.quarantine:
            guard let item = QuarantineEntry(json: line, knowing: bundle.systems) else { return }
            output.quarantine(item)
        case BundleLayout.problems:
            guard let problem = LocatedProblem(json: line, knowing: bundle.systems) else { return }
            output.report(problem)
        case BundleLayout.withdrawals:
            guard let withdrawal = Withdrawal(json: line, knowing: bundle.systems) else { return }
            output.report(withdrawal)
        default: return
        }
    }

    /// Reports the number of records that are listed in the manifest, but were not read.
    private func reportMissing(to output: inout ScanOutput) {
        for segment in manifest?.segments ?? [] {
            let count = recordCounts[segment.path]
            let lost = segment.records - (count ?? 0)
            if lost > 0 {
                report(
                    "\(segment.path) is \(count == nil ? "missing" : "incomplete"); records lost: \(lost)", to: &output)
            }
        }
    }

    private func finish(_ output: inout ScanOutput) {
        reportMissing(to: &output)
        if !scanner.hasFoundEnd { report("the end of the bundle is missing; records may be lost there", to: &output) }
    }

    private func report(_ text: String, at offset: Int? = nil, to output: inout ScanOutput) {
        output.report(Problem("damaged", text, at: offset), path: bundle.path)
    }
}

extension Record {
    private static let unprovenNote = "unproven"

    /// Adds a note and a hold, because the bytes of the record could not be verified.
    fileprivate mutating func markUnproven() {
        if !notes.contains(Self.unprovenNote) { notes.append(Self.unprovenNote) }
        if !held.contains(.unproven) { held.append(.unproven) }
    }
}
