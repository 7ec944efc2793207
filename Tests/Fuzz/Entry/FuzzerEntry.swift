/// The function that every fuzzer defines: one run with one input.
@_silgen_name("LLVMFuzzerTestOneInput")
private func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt

/// libFuzzer, which calls that function with one input after the other.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The entry point of every fuzzer. SwiftPM makes `main` another name of `<target>_main` and so hides that of libFuzzer;
/// the linker settings of the fuzzers make that a name of this function.
@_cdecl("fuzzer_entry")
public func fuzzerEntry(
    _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    var argumentCount = argumentCount
    var arguments = arguments
    return runDriver(&argumentCount, &arguments) { testOneInput($0, $1) }
}
