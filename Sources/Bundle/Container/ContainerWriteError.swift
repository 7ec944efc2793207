/// Why a container cannot be written as asked. Errors of the output itself are not these: they come through
/// from the sink.
public enum ContainerWriteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The compression level is not 1 to 19.
    case level(Int)
    /// The name or size does not fit a tar header.
    case header(name: String, TarHeaderError)
    /// The member, or its frame, is too large for the 32-bit sizes of the seek table.
    case tooLarge(name: String)
    /// The member has more bytes of contents than a reader takes.
    case overLimit(name: String, Int)
    /// The container has a member of that name already.
    case duplicateName(String)
    /// More members than a reader accepts.
    case tooManyMembers
    /// The writer is finished, or an earlier write to its sink failed.
    case closed
    /// zstd reports an error, in practice that it got no memory. The text is zstd's.
    case zstd(String)

    /// One line.
    public var description: String {
        switch self {
        case .level(let level): "compression level \(level) is not from 1 to 19"
        case .header(let name, let error): "cannot make a bundle member named \(name): \(error)"
        case .tooLarge(let name): "bundle member \(name) is larger than 4 GiB"
        case .overLimit(let name, let limit):
            "bundle member \(name) would be larger than \(limit >> 20) MiB, which no reader takes; pack fewer captures in one bundle"
        case .duplicateName(let name): "two bundle members named \(name)"
        case .tooManyMembers: "more than \(ContainerReader.maxMemberCount) bundle members"
        case .closed: "the bundle is already closed"
        case .zstd(let words): "zstd: \(words)"
        }
    }
}
