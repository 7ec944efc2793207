import Files
import Telemetry

/// A rule for reporting symbolic links that may lead to records that are not read otherwise.
struct LinkRule {
    let formats: [StoreFormat]
    let rootName: String

    /// Returns whether a link without the name of a store may lead to records that are not read otherwise.
    ///
    /// A link to a folder may lead to records, because folder names may identify a store. A file inside the capture is
    /// read at its own path, so that a link to the file matters only if the file has the name of a store. A file
    /// outside of the capture is judged by its path and by the path of the link, like a member of an archive.
    func mayHideRecords(_ link: SkippedEntry) -> Bool {
        guard let target = link.target else { return false }
        switch target.destination {
        case .folder: return true
        case .unknown: return !target.path.isEmpty
        case .enclosingFolder, .missing: return false
        case .file: return isNamedForStore(target.path)
        case .fileOutside: return isNamedForStore(target.path) || mayBeStore(link.path) || mayBeStore(target.path)
        }
    }

    private func isNamedForStore(_ path: String) -> Bool {
        StoreNames(formats: formats).isStoreName(Path.lastName(of: path))
    }

    /// Returns whether a file at `path` may be a store or an archive, judged by its name.
    private func mayBeStore(_ path: String) -> Bool {
        let parts = Path.parts(of: path)
        guard let name = parts.last else { return false }
        let member = MemberName(name: name, folders: parts.dropLast(), rootName: rootName)
        return MemberNames.isArchive(name.utf8) || formats.contains { $0.mayBelongToStore(member) }
    }
}
