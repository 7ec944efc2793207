import Bundle
import Bytes
import Dispatch
import Files
import Hashing
import Systems
import Telemetry
import TestSupport

@testable import Capture

/// Reads hostile bytes as an archive with small limits, and then everything in the archive.
func fuzzArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
        // Randomly changed archives are rarely valid, so the bytes also serve as choices for generating archives.
        var choices = (tar: Choices(bytes), zip: Choices(bytes))
        await read(generatedTar(&choices.tar))
        await read(generatedZip(&choices.zip))
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

private func read(_ bytes: [UInt8]) async {
    let spool = smallSpool()
    _ = InputKind(head: bytes)
    do {
        let capture = try await CapturedFolder(
            archive: .source(ByteSource(bytes)), path: "fuzz.tar", label: "fuzz", systems: Systems.table, spool: spool,
            limit: JobLimit(jobs: 1)
        )
        var options = ScanOptions()
        let spool = QuarantineSpool(folder: "/tmp", limit: 1 << 30)
        options.quarantine = spool
        let reader = CaptureReader([.folder(capture)], paths: ["fuzz.tar"], options: options, limit: JobLimit(jobs: 1))
        var intake = Intake(options, keepsDetails: false, systems: Systems.table)
        var quarantined: [QuarantineEntry] = []
        try await reader.read(into: &intake, keep: { _, _, _ in }) { finding in
            if case .quarantined(let item, _) = finding { quarantined.append(item) }
        }
        for item in quarantined where item.isStored {
            let bytes = try ContentHash(hex: item.sha256).flatMap { try spool.bytes(of: $0) }
            precondition(bytes?.count == item.size, "quarantined bytes are not stored")
        }
        for store in capture.stores {
            precondition(!store.path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) })
        }
    } catch is ArchiveError {
        return
    } catch let error as FileError where error.operation == .spool {
        return
    } catch {
        preconditionFailure("an opened archive cannot be read: \(error)")
    }
}
