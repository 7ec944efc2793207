/// The reason why a container cannot be written.
///
/// Errors that the sink throws are not wrapped in this type.
public enum ContainerWriteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The compression level is not from 1 to 19.
    case invalidLevel(Int)
    /// The name or the size does not fit into a tar header.
    case invalidHeader(name: String, TarHeaderError)
    /// The member or its frame is too large for the 32-bit size fields of the seek table.
    case tooLarge(name: String)
    /// The contents of the member exceed the given maximum size, in bytes, that readers accept.
    case overLimit(name: String, Int)
    /// The container already has a member with the given name.
    case duplicateName(String)
    /// The container would have more members than readers accept.
    case tooManyMembers
    /// The bundle would have more parents than readers accept.
    case tooManyParents
    /// The container is complete, or an earlier write to the sink failed.
    case writerClosed
    /// zstd reports the given error, usually a lack of memory.
    case zstd(String)

    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .invalidLevel(let level): "compression level \(level) is not from 1 to 19"
        case .invalidHeader(let name, let error): "cannot create a bundle member named \(name): \(error)"
        case .tooLarge(let name): "bundle member \(name) is larger than 4 GiB"
        case .overLimit(let name, let limit):
            "bundle member \(name) would exceed the limit of \(limit >> 20) MiB; pack fewer captures into one bundle"
        case .duplicateName(let name): "two bundle members are named \(name)"
        case .tooManyMembers: "the bundle would have more than \(ContainerReader.maxMemberCount) members"
        case .tooManyParents:
            "the bundle would continue more than \(BundleLayout.maxParentCount) bundles; merge earlier bundles first"
        case .writerClosed: "the bundle is already closed"
        case .zstd(let words): "zstd: \(words)"
        }
    }
}
