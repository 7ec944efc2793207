import FoundationEssentials
import Glibc
import Synchronization

/// The bytes of a password: never printed, never copied but into what derives a key from them, overwritten at the end.
///
/// A class, so that there is one place to overwrite.
public final class Secret: Sendable {
    private struct Storage: @unchecked Sendable {
        var bytes: UnsafeMutableRawBufferPointer
    }

    private let storage: Mutex<Storage>

    /// Takes bytes over, and overwrites them where they were.
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

    /// Overwrites the bytes; there are none from now on.
    public func wipe() {
        storage.withLock { storage in
            Self.overwrite(storage.bytes)
            storage.bytes.deallocate()
            storage.bytes = .allocate(byteCount: 0, alignment: 1)
        }
    }

    /// Whether there are no bytes.
    public var isEmpty: Bool { storage.withLock { $0.bytes.isEmpty } }

    /// Lends the bytes.
    func withBytes<Result: Sendable>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withLock { try body(UnsafeRawBufferPointer($0.bytes)) }
    }

    /// Overwrites `bytes` with zeros. A compiler may remove a plain assignment, because the bytes are not read again.
    static func overwrite(_ bytes: UnsafeMutableRawBufferPointer) {
        if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    }
}
