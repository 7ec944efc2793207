import Bundle
import Files
import Glibc
import Telemetry

/// A reader for the bytes of quarantined files and byte ranges in the inputs.
public struct QuarantineReader: ~Copyable {
    private let inputs: [CaptureInput]
    private var decoder: FrameDecoder

    /// Creates a reader for the quarantine of `inputs`.
    ///
    /// - Throws: `BundleError` if there is not enough memory.
    public init(_ inputs: [CaptureInput]) throws(BundleError) {
        decoder = try BundleReader.makeDecoder()
        self.inputs = inputs
    }

    /// Returns the bytes of `item`, which was quarantined from the input at index `input`.
    ///
    /// - Throws: `FileError`, `BundleError`, or ``ChangedCaptureError`` if the bytes have changed.
    public mutating func bytes(of item: QuarantineEntry, input: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        switch inputs[input] {
        case .folder(let capture): bytes = try capture.bytes(of: item)
        case .bundle(let bundle):
            bytes = try bundle.contents(of: BundleLayout.quarantineMemberName(sha256: item.sha256), with: &decoder)
        case .salvage, .log:
            throw FileError(
                .read, item.path, code: ENOTSUP,
                message: "cannot read \(item.path) again from a log or a damaged bundle"
            )
        }
        guard PayloadHash.hex(of: bytes) == item.sha256 else { throw ChangedCaptureError(path: item.path) }
        return bytes
    }
}

/// An error that reports that a file of a capture changed while it was read.
public struct ChangedCaptureError: Error, CustomStringConvertible {
    /// The path of the file in the capture.
    public let path: String

    /// A description of the error.
    public var description: String { "\(path) changed while it was read; take the capture again" }
}

extension CapturedFolder {
    fileprivate func bytes(of item: QuarantineEntry) throws -> [UInt8] {
        let source = try tree.source(at: item.path)
        let range = item.reject.range(inFileOf: source.count)
        guard range.count == item.size else { throw ChangedCaptureError(path: item.path) }
        return try source.bytes(at: range.lowerBound, count: range.count)
    }
}
