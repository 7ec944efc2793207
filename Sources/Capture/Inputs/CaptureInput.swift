import Bundle
import Telemetry

/// An opened input, from which records are read.
public enum CaptureInput: Sendable {
    /// A folder pulled from a device, or a single store file.
    case folder(CapturedFolder)
    /// A bundle, read by its manifest.
    case bundle(BundleReader)
    /// A damaged bundle.
    case salvage(SalvagedBundle)
    /// A request log by itself.
    case log(RequestLog)

    /// Whether the input is an intact bundle, whose quarantine and problems were reported when it was made.
    var isBundle: Bool {
        if case .bundle = self { true } else { false }
    }

    /// How many bytes are going to be read; nil if that cannot be told in front.
    /// - Parameter segments: which segments of a bundle are read, counted from 0; nil for all.
    func byteCount(ofSegments segments: Range<Int>? = nil) -> Int? {
        switch self {
        case .bundle(let bundle): bundle.manifest.segments(in: segments).reduce(0) { $0 + $1.bytes }
        case .log(let log): PlainText.count(in: log.source)
        case .folder, .salvage: nil
        }
    }

    /// The id of the key that a bundle says all its records have pseudonyms of; nil for any other input.
    public var pseudonymized: String? {
        if case .bundle(let bundle) = self { bundle.manifest.pseudonymized } else { nil }
    }
}

extension Manifest {
    /// The segments of a range of places, counted from 0; all where there is none.
    func segments(in range: Range<Int>?) -> ArraySlice<Segment> {
        segments[range?.clamped(to: segments.indices) ?? segments.indices]
    }
}
