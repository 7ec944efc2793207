/// The function that every fuzzer defines, which processes one input.
@_silgen_name("LLVMFuzzerTestOneInput")
private func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt

/// The driver of libFuzzer, which calls `body` with one input after another.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The entry point of every fuzzer.
///
/// SwiftPM makes `main` an alias of `<target>_main`, which hides the `main` of libFuzzer. The linker settings of the
/// fuzzers make `<target>_main` an alias of this function.
@_cdecl("fuzzer_entry")
public func fuzzerEntry(
    _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    var argumentCount = argumentCount
    var arguments = arguments
    return runDriver(&argumentCount, &arguments) { testOneInput($0, $1) }
}
