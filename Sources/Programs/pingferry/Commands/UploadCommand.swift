import ArgumentParser
import CLibrary
import Console
import Essentials
import Files

/// The command `upload`, which starts a separate program so that this program contains no network code.
struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Run pingferry-upload if it is installed.",
        discussion: """
            Accepts the arguments of pingferry-upload, and ends with its exit status, or with 69 if it is not \
            installed. If it is installed, pingferry upload --help shows its help.
            """)

    @Argument(parsing: .captureForPassthrough, help: "The arguments of pingferry-upload.", completion: .file())
    var arguments: [String] = []

    func run() async throws {
        PasswordOptions.takePasswordFromEnvironment()
        try await reportingErrors {
            let folders = Self.folders
            for folder in folders {
                let path = "\(folder)/\(Self.program)"
                guard access(path, X_OK) == 0 else { continue }
                try execute(path)
            }
            throw CommandError(
                status: .unavailable, message: "\(Self.program) is not installed in the folder of pingferry or on PATH",
                remedy: "install it on a machine with network access, and run it there")
        }
    }

    private static let program = "pingferry-upload"

    /// The folders that are searched for the uploader, without empty elements of `PATH`.
    private static var folders: [String] {
        // Without /proc, only PATH is searched.
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return [Path.parent(of: own)].compactMap(\.self) + path.split(separator: ":").map(String.init)
    }

    /// Replaces this process with the program at `path`.
    private func execute(_ path: String) throws -> Never {
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        execv(path, words)
        let reason = String(cString: strerror(errno))
        throw CommandError(status: .unavailable, message: "cannot run \(path): \(reason)")
    }
}
