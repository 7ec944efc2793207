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

    /// Returns whether an archive contains an unpacked bundle, which is identified by its marker or its manifest.
    ///
    /// - Throws: `BundleError` if the archive cannot be read.
    public static func isPacked(in source: ByteSource) throws(BundleError) -> Bool {
        do throws(ContainerError) {
            var scanner = try FrameScanner(source, memberSizeLimit: BundleLayout.memberSizeLimit)
            while let finding = try scanner.next() {
                guard case .member(let member) = finding else { continue }
                switch BundleLayout.memberName(atPath: member.name) {
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

private enum OpenedMember {
    /// A segment, and its name if the name is known.
    case segment(RecordLines, name: String?, isProven: Bool)
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

/// A scan of a damaged bundle, which can be interrupted when an output is full.
final class SalvageScan {
    private var scanner: FrameScanner
    private let bundle: SalvagedBundle
    private var hasStarted = false
    private var isAtEnd = false
    /// The member whose lines are being read, or `nil` between members.
    ///
    /// A member may have more lines than fit in one output.
    private var currentMember: OpenedMember?
    /// The number of records that were read from each segment with a known name, by name.
    private var recordCounts: [CapturedText: Int] = [:]
    /// The number of records that were read from segments without a known name.
    private var unnamedRecordCount = 0
    private var manifest: Manifest?
    /// The hashes of the members from the first manifest with a matching digest, or `nil` before they are needed.
    private var memberHashes: [CapturedText: ContentHash]?

    init(_ bundle: SalvagedBundle) throws(BundleError) {
        do {
            scanner = try FrameScanner(bundle.source, memberSizeLimit: BundleLayout.memberSizeLimit)
        } catch {
            throw .container(error)
        }
        self.bundle = bundle
    }

    /// Reads until the output is full or the bundle ends, and returns whether there may be more to read.
    func read(into output: inout ScanOutput) throws(BundleError) -> Bool {
        if !hasStarted {
            for fault in bundle.volumeFaults { report(fault, to: &output) }
            hasStarted = true
        }
        do throws(ContainerError) {
            while !output.isFull {
                if readLine(to: &output) { continue }
                guard let finding = try scanner.next() else {
                    finish(&output)
                    break
                }
                try add(finding, to: &output)
            }
        } catch {
            throw .container(error)
        }
        return !isAtEnd
    }

    private func add(_ finding: FrameScanner.Finding, to output: inout ScanOutput) throws(ContainerError) {
        switch finding {
        case .member(let member):
            guard let name = BundleLayout.memberName(atPath: member.name) else { return }
            readVersionedMember(name, member.contents, to: &output)
            guard BundleLayout.isSegment(name) || BundleLayout.listName(ofMember: name) != nil else { return }
            open(name, member.contents, isProven: try isVerified(member, named: name), to: &output)
        case .part(let part): add(part, to: &output)
        case .tooLarge(let name, let size, let offset):
            report("\(name) at byte \(offset): \(size) bytes are more than the limit", at: offset, to: &output)
        case .gap(let offset, let length, let reason):
            let error = ContainerError(at: offset, reason)
            report("\(error); \(length) bytes lost", at: offset, to: &output)
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
        if BundleLayout.isSegment(name) {
            openSegment(name, contents, isProven: isProven, to: &output)
        } else if let list = BundleLayout.listName(ofMember: name) {
            currentMember = .details(ListLines(contents), list: list)
            if !isProven { report("\(name): nothing proves its lines right", to: &output) }
        }
    }

    private func openSegment(_ name: String?, _ contents: [UInt8], isProven: Bool, to output: inout ScanOutput) {
        if let name { recordCounts[name, default: 0] += 0 }
        if !isProven {
            report("\(segmentTitle(name)): nothing proves its records right; they are held as unproven", to: &output)
        }
        output.bytesRead += contents.count
        currentMember = .segment(RecordLines(contents, knowing: bundle.systems), name: name, isProven: isProven)
    }

    /// Starts reading the complete lines of a damaged member.
    private func add(_ part: FrameScanner.Part, to output: inout ScanOutput) {
        let end = part.contents.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        guard end > 0 else { return }
        let lines = Array(part.contents[..<end])
        if let name = part.name {
            guard let name = BundleLayout.memberName(atPath: name) else { return }
            open(name, lines, isProven: part.isVerified, to: &output)
        } else {
            // Only segments consist of several frames.
            openSegment(nil, lines, isProven: part.isVerified, to: &output)
        }
    }

    private func segmentTitle(_ segment: String?) -> String { segment ?? "a segment without its header" }

    /// Returns whether a checksum or the manifest proves that the contents of a member are unchanged.
    private func isVerified(_ member: FrameScanner.Member, named name: String) throws(ContainerError) -> Bool {
        if member.isVerified { return true }
        let known: [CapturedText: ContentHash]
        if let memberHashes { known = memberHashes } else { known = try findManifest()?.hashes ?? [:] }
        memberHashes = known
        guard let hash = known[name] else { return false }
        return ContentHash(of: member.contents) == hash
    }

    /// Returns the first manifest that matches its own digest, or `nil` if there is none.
    private func findManifest() throws(ContainerError) -> Manifest? {
        var ahead = try FrameScanner(bundle.source, memberSizeLimit: BundleLayout.memberSizeLimit)
        while let finding = try ahead.next() {
            guard case .member(let member) = finding,
                BundleLayout.memberName(atPath: member.name) == BundleLayout.manifest,
                let manifest = try? Manifest(member.contents), manifest.hasMatchingDigest
            else { continue }
            return manifest
        }
        return nil
    }

    /// Reads the next line of the current member, and returns whether there was a line.
    private func readLine(to output: inout ScanOutput) -> Bool {
        switch currentMember {
        case .segment(var lines, let name, let isProven):
            // Removed from the property so that the lines are not copied.
            currentMember = nil
            guard readRecord(of: &lines, named: name, isProven: isProven, to: &output) else { return false }
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
        of lines: inout RecordLines, named name: String?, isProven: Bool, to output: inout ScanOutput
    ) -> Bool {
        do throws(RecordError) {
            guard var (record, _) = try lines.next() else { return false }
            if let name { recordCounts[name, default: 0] += 1 } else { unnamedRecordCount += 1 }
            if !isProven { record.markUnproven() }
            output.add(record)
        } catch {
            report("\(segmentTitle(name)) line \(lines.lineNumber): \(error)", to: &output)
        }
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
        let incomplete = (manifest?.segments ?? []).filter { recordCounts[$0.path, default: 0] < $0.records }
        // Records from segments without names belong to some of the incomplete segments.
        if unnamedRecordCount > 0, incomplete.count > 1 {
            let lost = incomplete.reduce(-unnamedRecordCount) { $0 + $1.records - recordCounts[$1.path, default: 0] }
            report("\(incomplete.count) segments are incomplete; records lost: \(lost)", to: &output)
            return
        }
        for segment in incomplete {
            let count = recordCounts[segment.path]
            let lost = segment.records - (count ?? 0) - unnamedRecordCount
            let word = count == nil && unnamedRecordCount == 0 ? "missing" : "incomplete"
            if lost > 0 { report("\(segment.path) is \(word); records lost: \(lost)", to: &output) }
        }
    }

    private func finish(_ output: inout ScanOutput) {
        isAtEnd = true
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
