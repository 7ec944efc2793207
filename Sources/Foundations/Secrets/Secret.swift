import FoundationEssentials
import Glibc
import Synchronization

/// The bytes of a password or key, which are overwritten when they are no longer needed.
///
/// A secret is never printed. It is a class, so that only one copy of the bytes exists.
public final class Secret: Sendable {
    private struct Storage: @unchecked Sendable {
        var bytes: UnsafeMutableRawBufferPointer
    }

    private let storage: Mutex<Storage>

    /// Moves `bytes` into the secret and overwrites the array.
    public init(taking bytes: inout [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        storage = Mutex(Storage(bytes: copy))
        bytes.withUnsafeMutableBytes { Self.overwrite($0) }
        bytes.removeAll()
    }

    deinit {
        storage.withLock { storage in
            Self.overwrite(storage.bytes)
            storage.bytes.deallocate()
        }
    }

    /// Overwrites and removes the bytes.
    public func wipe() {
        storage.withLock { storage in
            Self.overwrite(storage.bytes)
            storage.bytes.deallocate()
            storage.bytes = .allocate(byteCount: 0, alignment: 1)
        }
    }

    /// Whether the secret has no bytes.
    public var isEmpty: Bool { storage.withLock { $0.bytes.isEmpty } }

    /// Calls `body` with the bytes, which must not escape.
    func withBytes<Result: Sendable>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withLock { try body(UnsafeRawBufferPointer($0.bytes)) }
    }

    /// Overwrites `bytes` with zeros in a way that the compiler cannot optimize away.
    static func overwrite(_ bytes: UnsafeMutableRawBufferPointer) {
        if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    }
}
