import Files
import Telemetry

/// Which symbolic links are told: those behind which there may be something that is read nowhere else.
struct LinkRule {
    let formats: [StoreFormat]
    /// The name of the folder that the links lie in.
    let rootName: String

    /// Whether records may lie behind a link that is not named like a store.
    ///
    /// A folder can hold anything. What lies in the capture is read in its own place, but what a store is may depend on the
    /// name of its folder, which the link can give it; only in a folder around the link everything has its names already. Of
    /// files outside, the names have to tell whether they may be stores, as those of members of archives have.
    func mayLose(_ link: NotFile) -> Bool {
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

    /// Whether a file of that name may be a store, or an archive with some in it.
    private func mayBeStore(_ path: String) -> Bool {
        let parts = Path.parts(of: path)
        guard let name = parts.last else { return false }
        let member = MemberName(name: name, folders: parts.dropLast(), rootName: rootName)
        return MemberNames.isArchive(name.utf8) || formats.contains { $0.mayBelongToStore(member) }
    }
}
