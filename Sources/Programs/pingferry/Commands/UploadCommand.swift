import ArgumentParser
import Console
import Files
import FoundationEssentials
import Glibc

/// `upload`: becomes the uploader, a program of its own, so that this one links no network code.
struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Run pingferry-upload, where it is installed.",
        discussion: """
            Accepts what pingferry-upload accepts, and ends with its exit status, or with 69 where it is not installed. See \
            pingferry upload --help there.
            """)

    @Argument(parsing: .captureForPassthrough, help: "What pingferry-upload is given.", completion: .file())
    var arguments: [String] = []

    func run() async throws {
        PasswordOptions.takeFromEnvironment()
        try await reporting {
            let folders = Self.folders
            for folder in folders {
                let path = "\(folder)/\(Self.program)"
                guard access(path, X_OK) == 0 else { continue }
                try execute(path)
            }
            throw CommandError(
                status: .unavailable,
                message: "\(Self.program) is not installed: neither beside pingferry nor on PATH",
                remedy: "install it on a machine that may talk to a network, and run it there")
        }
    }

    private static let program = "pingferry-upload"

    /// Where the uploader may be, in order. An empty part of PATH is the current folder, which is not searched.
    private static var folders: [String] {
        // Without /proc, only PATH is searched.
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return [Path.parent(of: own)].compactMap(\.self) + path.split(separator: ":").map(String.init)
    }

    /// Replaces this program by another.
    private func execute(_ path: String) throws -> Never {
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        execv(path, words)
        let reason = String(cString: strerror(errno))
        throw CommandError(status: .unavailable, message: "cannot run \(path): \(reason)")
    }
}
