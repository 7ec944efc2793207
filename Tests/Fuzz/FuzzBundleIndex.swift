import Hashing
import Telemetry

@testable import Bundle

/// Reads hostile bytes as an index of a bundle, with the correct checksum.
///
/// An accepted index must be written with the same bytes, and all its keys must be found.
func fuzzBundleIndex(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let contents = Array(UnsafeBufferPointer(start: start, count: count))
    _ = try? BundleIndex(contents)
    let bytes = contents + ContentHash(of: contents).bytes
    guard let index = try? BundleIndex(bytes) else { return 0 }
    precondition(index.bytes == bytes, "the written index differs")
    for key in index.records.keys { precondition(index.records.finding(for: key) == .duplicate, "a key is lost") }
    for key in index.details.keys { precondition(index.details.contains(key), "a key is lost") }
    return 0
}
