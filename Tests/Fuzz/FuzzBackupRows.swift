@testable import DeviceBackup

/// Reads hostile bytes as descriptions of files in the manifest of a backup.
///
/// The bytes are read as an archive of an `MBFile`, as the old manifest, at once and in pieces, and as the names of a
/// row.
func fuzzBackupRows(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let file = MBFile(archive: bytes) {
        precondition(file.size.map { $0 >= 0 } ?? true, "the size is negative")
        precondition(file.key.map { $0.count <= bytes.count } ?? true, "the key is longer than the input")
    }
    let whole = rows(bytes, step: max(bytes.count, 1))
    precondition(rows(bytes, step: 7) == whole, "the rows depend on how the input is split")
    for row in whole { check(row) }
    let half = bytes.count / 2
    check(
        ManifestRow(
            domain: Array("AppDomain-".utf8) + bytes.prefix(half), path: Array(bytes.dropFirst(half)),
            fileID: bytes, flags: 1, file: .archive(nil)))
    return 0
}

private func rows(_ bytes: [UInt8], step: Int) -> [ManifestRow] {
    var manifest = BinaryManifest()
    var rows: [ManifestRow] = []
    for start in stride(from: 0, to: bytes.count, by: step) {
        manifest.feed(Array(bytes[start..<min(start + step, bytes.count)]))
        while case .row(let row) = manifest.next() { rows.append(row) }
    }
    return rows
}

/// Checks that the path of an accepted row does not leave its domain.
private func check(_ row: ManifestRow) {
    if case .app(let domain) = RowDomain(name: row.domain), row.hasValidPath {
        precondition(domain.name.utf8.elementsEqual(row.domain), "the domain differs")
        let parts = row.path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        precondition(
            row.path.isEmpty || parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) && !$0.contains(0) },
            "the path leaves the domain")
    }
    if let name = row.fileID, let fileID = FileID(name) { precondition(fileID.name.utf8.elementsEqual(name)) }
}
