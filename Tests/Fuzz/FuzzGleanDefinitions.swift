import Systems
import Telemetry

/// Reads hostile bytes as a file of definitions, whose errors must be in the file and must not depend on earlier files.
func fuzzGleanDefinitions(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var definitions = EventDefinitions()
    do {
        let faults = try definitions.read(bytes)
        precondition(faults.allSatisfy { ($0.offset ?? 0) < count }, "an error is not in the file")
        let again = try definitions.read(bytes)
        precondition(again == faults, "a repeated file has other errors")
    } catch {
        precondition((error.offset ?? 0) <= count, "the error is not in the file")
    }
    return 0
}
