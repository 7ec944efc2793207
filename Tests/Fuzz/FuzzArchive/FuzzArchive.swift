import Bundle
import Dispatch
import Files
import Systems
import Telemetry
import TestSupport

@testable import Capture

/// Reads hostile bytes as an archive with small limits, and then everything in the archive.
func fuzzArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
        await compare(bytes)
        // Randomly changed archives are rarely valid, so the bytes also serve as choices for generating archives.
        var choices = (tar: Choices(bytes), zip: Choices(bytes))
        await compare(generatedTar(&choices.tar))
        await compare(generatedZip(&choices.zip))
        await read(bytes)
        isDone.signal()
    }
    isDone.wait()
    return 0
}

private func smallSpool() -> Spool {
    var limits = ArchiveLimits()
    limits.memberSize = 1 << 20
    limits.memberCount = 1000
    limits.totalNameSize = 64 << 10
    limits.uncheckedExpandedSize = 4 << 20
    return Spool(byteLimit: 4 << 20, archiveLimits: limits)
}

/// Checks that the fast reader finds the same as libarchive.
private func compare(_ bytes: [UInt8]) async {
    func spooler() -> ArchiveSpooler {
        ArchiveSpooler(
            ArchiveLocation(label: "fuzz", path: "fuzz.tar"), spool: smallSpool(),
            formats: CaptureFormats.all(Systems.table), jobLimit: JobLimit(jobs: 1))
    }
    do {
        guard let short = try await spooler().readPlain(ByteSource(bytes)) else { return }
        let long = try spooler().readWithLibarchive(.source(ByteSource(bytes)))
        let (lines, expected) = (try listing(of: short.tree), try listing(of: long.tree))
        let differences = expected.difference(from: lines).map { "\($0)" }
        if !differences.isEmpty { fatalError("the trees differ: \(differences.joined(separator: "; ")) \(bytes)") }
        let problems = (short.problems.map(\.problem.text), long.problems.map(\.problem.text))
        if problems.0 != problems.1 { fatalError("the problems differ: \(problems) \(bytes)") }
    } catch let error as ArchiveError {
        switch error.reason {
        case .overLimit, .overExpanded, .file: return
        default: fatalError("only the fast reader accepts the archive: \(error) \(bytes)")
        }
    } catch {
        fatalError("\(error)")
    }
}

private func read(_ bytes: [UInt8]) async {
    let spool = smallSpool()
    _ = InputKind(head: bytes)
    do {
        let capture = try await CapturedFolder(
            archive: .source(ByteSource(bytes)), path: "fuzz.tar", label: "fuzz", systems: Systems.table, spool: spool,
            limit: JobLimit(jobs: 1)
        )
        let options = ScanOptions(secret: .forTests)
        let reader = CaptureReader([.folder(capture)], paths: ["fuzz.tar"], options: options, limit: JobLimit(jobs: 1))
        var intake = Intake(options, keepsDetails: false, systems: Systems.table)
        var quarantined: [QuarantineEntry] = []
        try await reader.read(into: &intake, keep: { _, _, _ in }) { finding in
            if case .quarantined(let item, _) = finding { quarantined.append(item) }
        }
        var source = try QuarantineReader(reader.inputs)
        // A member whose name is not UTF-8 cannot be found again.
        for item in quarantined where item.isStored && !item.path.contains("\u{FFFD}") {
            _ = try source.bytes(of: item, input: 0)
        }
        for store in capture.stores {
            precondition(!store.path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) })
        }
    } catch is ArchiveError {
        return
    } catch {
        preconditionFailure("an opened archive cannot be read: \(error)")
    }
}
