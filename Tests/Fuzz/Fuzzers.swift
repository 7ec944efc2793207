import CLibrary

/// A function that processes one input and crashes if an invariant is violated.
private typealias Fuzzer = @Sendable @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

private let fuzzers: [String: Fuzzer] = [
    "FuzzAdjustQueue": fuzzAdjustQueue, "FuzzArchive": fuzzArchive, "FuzzBackupRows": fuzzBackupRows,
    "FuzzBinaryPropertyList": fuzzBinaryPropertyList, "FuzzBundle": fuzzBundle, "FuzzBundleIndex": fuzzBundleIndex,
    "FuzzCourierLists": fuzzCourierLists, "FuzzExpectedList": fuzzExpectedList,
    "FuzzGleanDefinitions": fuzzGleanDefinitions, "FuzzGleanEvents": fuzzGleanEvents,
    "FuzzGleanPing": fuzzGleanPing, "FuzzHAR": fuzzHAR, "FuzzJSON": fuzzJSON, "FuzzKeybag": fuzzKeybag,
    "FuzzKeyedArchive": fuzzKeyedArchive, "FuzzLeanplumDatabase": fuzzLeanplumDatabase,
    "FuzzLeanplumRows": fuzzLeanplumRows, "FuzzLedger": fuzzLedger, "FuzzNDJSON": fuzzNDJSON,
    "FuzzPendingEvents": fuzzPendingEvents, "FuzzPingFile": fuzzPingFile, "FuzzPseudonyms": fuzzPseudonyms,
    "FuzzServerAnswer": fuzzServerAnswer, "FuzzSiftStore": fuzzSiftStore, "FuzzTableSchema": fuzzTableSchema,
    "FuzzUploadSettings": fuzzUploadSettings, "FuzzXMLPropertyList": fuzzXMLPropertyList,
]

/// The driver of libFuzzer, which calls `body` with one input after another.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: Fuzzer
) -> CInt

/// A function to which the `main` of libFuzzer refers.
///
/// It is never called, because the linker replaces that `main` with the one of `Fuzzers`.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt { 0 }

/// The program `fuzzers --NAME [OPTION…] [FOLDER…]`, which runs the fuzzer `NAME` with options of libFuzzer.
///
/// Without arguments, the program prints the names of all fuzzers.
@main private enum Fuzzers {
    static func main() {
        guard CommandLine.argc > 1 else {
            print(fuzzers.keys.sorted().joined(separator: "\n"))
            return
        }
        // libFuzzer ignores options that begin with two hyphens. The name is not removed from the arguments, because libFuzzer
        // starts this program again with the same arguments to minimize an input.
        guard let fuzzer = fuzzers[String(CommandLine.arguments[1].dropFirst(2))] else {
            print("usage: fuzzers --NAME [OPTION…] [FOLDER…]")
            exit(64)
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments, fuzzer))
    }
}
