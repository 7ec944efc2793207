import Bytes
import CLibrary
import CNettle
import CSQLite
import CThreads
import CVersion
import CZlib
import CZstd
import Files
import JSONText

/// The resources that a program checks and configures at its start: threads, memory and open files.
public enum SystemResources {
    /// The address space, in bytes, that a thread needs for a segment of records and its compressed form.
    private static let bytesPerThread = 16 << 20

    /// Ends the program with an error message if the limits of the system are too low.
    ///
    /// Without the check, a failed allocation would crash the program. With too few open files, libraries would crash
    /// or report a server or a bundle as unreachable.
    public static func require(for program: StaticString, openFiles: Int, threadsPerProcessor: Int) {
        guard DescriptorLimit.allowsOpening(openFiles) else {
            exitWithError(
                program, "cannot open \(openFiles) files at once", "raise the limit of open files (ulimit -n)")
        }
        let threads = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) * threadsPerProcessor
        var code = cthreads_set_up_heap()
        if code == 0 { code = checkAddressSpace(threads * (stackSize + bytesPerThread)) }
        guard code == 0 else {
            let reason = String(cString: strerror(code))
            exitWithError(
                program, "cannot allocate memory for \(threads.counted("thread")): \(reason)",
                "raise the limit of address space (ulimit -v)")
        }
        // The pointer remains valid, because the string is static.
        program.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) {
                cthreads_exit_if_no_thread($0.baseAddress, ExitStatus.inputOutput.rawValue)
            }
        }
    }

    /// Returns the freed memory of the heaps to the system, so that large blocks outside of the heaps can use it.
    public static func releaseFreeMemory() { cthreads_release_free_memory() }

    private static func exitWithError(_ program: StaticString, _ message: String, _ remedy: String) -> Never {
        CommandError(status: .inputOutput, message: message, remedy: remedy).exit(as: "\(program)")
    }

    /// The size of the stack of a thread, in bytes.
    private static var stackSize: Int {
        var attributes = pthread_attr_t()
        var size = 0
        guard pthread_attr_init(&attributes) == 0 else { return 0 }
        pthread_attr_getstacksize(&attributes, &size)
        pthread_attr_destroy(&attributes)
        return size
    }

    /// Returns 0 if `bytes` bytes of address space can be reserved, or an `errno` code if they cannot.
    private static func checkAddressSpace(_ bytes: Int) -> Int32 {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0)
        // The address -1 is `MAP_FAILED`, which Swift does not import.
        guard Int(bitPattern: memory) != -1 else { return errno }
        munmap(memory, bytes)
        return 0
    }
}

/// An environment variable that changes what a program does.
public struct EnvironmentVariable: Sendable {
    /// The name of the variable, or the names that are used together.
    public let name: String
    let meaning: String

    /// Creates a variable of one program.
    public init(_ name: String, _ meaning: String) {
        self.name = name
        self.meaning = meaning
    }

    /// The variables of both programs.
    private static let shared = [
        EnvironmentVariable("TMPDIR", "the folder for temporary files, instead of /tmp"),
        EnvironmentVariable("PATH", "the folders of ssh-keygen, par2 and pingferry-upload"),
        EnvironmentVariable(SignerOptions.signersVariable, "the list of accepted signers, for --signers"),
        EnvironmentVariable(SignerOptions.revokedVariable, "the list of revoked keys, for --revoked"),
        EnvironmentVariable(
            progressVariable,
            "the number of seconds between two lines about the progress in a log; SIGUSR1 requests one"),
    ]

    /// The sections about the environment and the files of a program in its help.
    public static func help(_ variables: [EnvironmentVariable], files: [(name: String, meaning: String)]) -> String {
        let variables = (shared + variables).map { "  \($0.name): \($0.meaning)" }
        let files = files.map { "  \($0.name): \($0.meaning)" }
        return (["Environment:"] + variables + ["", "Files:"] + files + ["", documentation]).joined(separator: "\n")
    }

    private static let documentation = """
        The articles are in share/doc/pingferry of a release, and in the folder Sources of the source code; \
        README.md lists them.
        """

    private static let progressVariable = "PINGFERRY_PROGRESS_SECONDS"

    /// The time between two lines about the progress, or `nil` if the environment has no valid number.
    static var progressInterval: Duration? {
        guard let value = getenv(progressVariable), let seconds = Int(String(cString: value)),
            (1...86_400).contains(seconds)
        else { return nil }
        return .seconds(seconds)
    }
}

/// The version of the programs.
public enum ProgramVersion {
    /// The version number, which is also written into bundles, receipts and requests.
    public static var number: String { String(cString: cversion_number()) }

    /// The commit from which the programs were built, or `nil` if it is unknown.
    private static var commit: String? { cversion_commit().map { String(cString: $0) } }

    /// Returns the line that `--version` prints, such as `pingferry 0.1.0 (commit 0123456789ab)`.
    public static func description(of program: String) -> String {
        "\(program) \(number)\(commit.map { " (commit \($0))" } ?? "")"
    }

    /// Prints the version as JSON and ends the program, if the arguments are `--version --json`.
    ///
    /// `library` is the name of the library that only this program links. `description` is the version of this library,
    /// which can include the versions of the libraries that it uses.
    public static func printJSONIfRequested(
        of program: String, library: JSONKey, description: @autoclosure () -> String
    ) {
        guard Set(CommandLine.arguments.dropFirst()) == ["--version", "--json"] else { return }
        let versions: CanonicalObject = [
            library: description(), "glibc": String(cString: cversion_libc()),
            "libzstd": String(cString: ZSTD_versionString()),
            "nettle": "\(nettle_version_major()).\(nettle_version_minor())",
            "sqlite": String(cString: sqlite3_libversion()), "zlib": String(cString: zlibVersion()),
        ]
        let object: CanonicalObject = [
            "commit": commit, "libraries": versions, "program": program,
            "swift": cversion_swift().map { String(cString: $0) }, "version": number,
        ]
        CommandError.exitOnFailure(of: program) { () throws(FileError) in try Terminal.print(object) }
        exit(EXIT_SUCCESS)
    }
}
