import Synchronization

/// The bytes of files that had to be read to see what they are, for those who read them for what is in them.
///
/// Its memory is bounded, however many files there are: what is beyond the allowance is not kept, and read again.
final class KeptFiles: Sendable {
    /// How much is kept of one capture, in bytes.
    static let allowance = 1 << 20
    /// About how many bytes of memory a kept file takes besides its name and its contents.
    private static let overhead = 384

    /// The bytes of files, by their names.
    typealias Contents = [[UInt8]: [UInt8]]

    private struct State {
        var room = KeptFiles.allowance
        /// By the bytes of the paths of their folders: texts are equal that differ in their bytes, and folders are not.
        var folders: [[UInt8]: Contents] = [:]
    }

    private let state = Mutex(State())

    /// Keeps the bytes of a file if there is room for them.
    /// - Returns: the bytes as they are kept, the first ones of the file if it has come before; nil if they are not.
    @discardableResult
    func keep(_ contents: [UInt8], of name: [UInt8], inFolder path: String) -> [UInt8]? {
        let folder = Array(path.utf8)
        let size = contents.count + name.count + Self.overhead
        return state.withLock { state in
            if let present = state.folders[folder]?[name] { return present }
            guard size <= state.room else { return nil }
            state.room -= size
            // A copy without the room that the memory of a reader has to spare.
            var kept: [UInt8] = []
            kept.reserveCapacity(contents.count)
            kept += contents
            state.folders[folder, default: [:]][name] = kept
            return kept
        }
    }

    /// Takes room for what was made of a file, which somebody else keeps.
    /// - Parameter size: in bytes.
    /// - Returns: whether there was as much.
    func takeRoom(_ size: Int) -> Bool {
        state.withLock { state in
            guard size <= state.room else { return false }
            state.room -= size
            return true
        }
    }

    /// The files of a folder that are kept.
    func files(inFolder path: String) -> Contents {
        state.withLock { $0.folders[Array(path.utf8)] ?? [:] }
    }
}
