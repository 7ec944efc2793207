import Files
import Telemetry

extension FolderUnitReader {
    /// The most bytes of a file that are read; a larger one goes to quarantine as it is.
    static let siftFileLimit = CapturedFolder.largestArchive

    /// Reads all files of a folder of Sift's SDK; its records wait to be handed on.
    mutating func readSift(_ sift: SiftFolder, of store: FoundStore, number: Int) {
        var reader = SiftStore(
            capture: unit.capture.label, applicationID: store.container.applicationID,
            comparesEvents: options.comparesEvents, spread: options.spread)
        var parts: [Int] = []
        do throws(FileError) {
            let folder = try unit.capture.tree.folder(at: sift.path)
            for index in sift.files.indices
            where read(index, of: store, limit: Self.siftFileLimit, in: folder) {
                let file = sift.files[index]
                take(reader.read(contents, of: file.file, at: sift.path(of: file)), ofFile: index, of: store)
                parts.append(sift.partNumbers[index])
            }
        } catch {
            report(Problem("unreadable", error.description), path: store.path)
        }
        // The records are as large as the files.
        contents = []
        let found = reader.finish()
        batch.sift.append(
            Batch.SiftEntry(
                input: unit.input, store: number, parts: found.report.sources.map { parts[$0.file] },
                report: found.report))
        waiting = found.requests.reversed().map { request in
            FolderUnit.WaitingRecord(
                place: Batch.StorePlace(store: number, part: parts[request.file]), record: request.record)
        }
    }
}
