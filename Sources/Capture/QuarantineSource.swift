import Bundle
import Files
import Glibc
import Telemetry

/// Reads what is in quarantine again, from where it was found: of a file with many spans no more than each span.
public struct QuarantineSource: ~Copyable {
    private let inputs: [CaptureInput]
    private var decoder: FrameDecoder

    /// - Throws: ``BundleError`` if there is not enough memory.
    public init(_ inputs: [CaptureInput]) throws(BundleError) {
        decoder = try BundleReader.makeDecoder()
        self.inputs = inputs
    }

    /// The bytes of an entry from the input of a number.
    /// - Throws: `FileError`, ``BundleError``, or ``ChangedCaptureError`` if they are no longer what they were.
    public mutating func bytes(of item: Quarantined, input: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        switch inputs[input] {
        case .folder(let capture): bytes = try capture.bytes(of: item)
        case .bundle(let bundle):
            bytes = try bundle.contents(of: BundleLayout.quarantined(item.sha256), with: &decoder)
        case .salvage, .log:
            throw FileError(
                .read, item.path, code: ENOTSUP, saying: "cannot read \(item.path) again from a log or a damaged bundle"
            )
        }
        guard PayloadHash.hex(of: bytes) == item.sha256 else { throw ChangedCaptureError(path: item.path) }
        return bytes
    }
}

/// A file of a capture changed while it was read.
public struct ChangedCaptureError: Error, CustomStringConvertible {
    /// The file's path in the capture.
    public let path: String

    /// The error in words.
    public var description: String { "\(path) changed while it was read; take the capture again" }
}

extension CapturedFolder {
    fileprivate func bytes(of item: Quarantined) throws -> [UInt8] {
        let source = try tree.source(item.path)
        let range = item.reject.range(inFileOf: source.count)
        guard range.count == item.size else { throw ChangedCaptureError(path: item.path) }
        return try source.bytes(at: range.lowerBound, count: range.count)
    }
}
