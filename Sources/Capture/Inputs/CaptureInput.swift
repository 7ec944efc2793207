import Bundle
import Telemetry

/// An opened input, from which records can be read.
public enum CaptureInput: Sendable {
    /// A folder from a device, an archive, a backup, or a single store file.
    case folder(CapturedFolder)
    /// An intact bundle.
    case bundle(BundleReader)
    /// A damaged bundle.
    case salvage(SalvagedBundle)
    /// A request log that was given as a single file.
    case log(RequestLog)

    /// Whether the input is an intact bundle, so that its problems were reported when the bundle was created.
    var isBundle: Bool {
        if case .bundle = self { true } else { false }
    }

    /// Returns the number of bytes to be read, or `nil` if it is unknown in advance.
    ///
    /// `segments` is the range of the bundle segments to be read, or `nil` for all of them.
    func byteCount(ofSegments segments: Range<Int>? = nil) -> Int? {
        switch self {
        case .bundle(let bundle): bundle.manifest.segments(in: segments).reduce(0) { $0 + $1.bytes }
        case .log(let log): PlainText.count(in: log.source)
        case .folder, .salvage: nil
        }
    }

    /// The manifest of an intact bundle, or `nil` for other inputs.
    var manifest: Manifest? {
        if case .bundle(let bundle) = self { bundle.manifest } else { nil }
    }

    /// The id of the pseudonym key of a bundle.
    ///
    /// The id is `nil` if the input is not an intact bundle, or if not all of its contents have pseudonyms of one key.
    public var pseudonymKeyID: String? { manifest?.pseudonymKeyID }
}

extension Manifest {
    func segments(in range: Range<Int>?) -> ArraySlice<Segment> {
        segments[range?.clamped(to: segments.indices) ?? segments.indices]
    }
}
