import Hashing

@testable import Bundle

/// Reads hostile bytes as an index of a bundle, with the correct checksum.
///
/// An accepted index must be written with the same bytes.
func fuzzBundleIndex(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let contents = Array(UnsafeBufferPointer(start: start, count: count))
    _ = try? BundleIndex(contents)
    let bytes = contents + ContentHash(of: contents).bytes
    guard let index = try? BundleIndex(bytes) else { return 0 }
    precondition(index.bytes == bytes, "the written index differs")
    return 0
}
