import Files
import Telemetry

/// Decides which symbolic links are reported, because they may lead to records that are not read elsewhere.
struct LinkRule {
    let formats: [StoreFormat]
    /// The name of the folder that contains the links.
    let rootName: String

    /// Returns whether a link that is not named like a store may lead to records that are not read elsewhere.
    ///
    /// A target inside the capture is read at its own path. The link matters only if it gives the target another name,
    /// because names of folders may identify a store. A target outside of the capture is judged by its name, like a
    /// member of an archive.
    func mayHideRecords(_ link: SkippedEntry) -> Bool {
        guard let target = link.target else { return false }
        switch target.destination {
        case .folder: return true
        case .unknown: return !target.path.isEmpty
        case .enclosingFolder, .nothing: return false
        case .file: return isNamedForStore(target.path)
        case .fileOutside: return isNamedForStore(target.path) || mayBeStore(link.path) || mayBeStore(target.path)
        }
    }

    private func isNamedForStore(_ path: String) -> Bool {
        StoreNames(formats: formats).isNamed(Path.lastName(of: path))
    }

    /// Returns whether a file with the name at the end of `path` may be a store, or an archive with stores.
    private func mayBeStore(_ path: String) -> Bool {
        let parts = Path.parts(of: path)
        guard let name = parts.last else { return false }
        let member = MemberName(name: name, folders: parts.dropLast(), rootName: rootName)
        return MemberNames.isArchive(name.utf8) || formats.contains { $0.mayBelongToStore(member) }
    }
}
