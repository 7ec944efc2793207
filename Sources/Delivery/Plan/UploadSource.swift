import Bundle
import JSONText
import Synchronization
import Telemetry

/// A source that reads the records of uploads from verified bundles.
///
/// A segment is decoded and checked against its hash when one of its records is needed. Decoding blocks the caller.
/// Decoded segments are cached up to a size limit.
public final class UploadSource: Sendable {
    private let bundles: [BundleReader]
    private let cacheByteLimit: Int
    private let state: Mutex<State>

    private struct State {
        var cache: [SegmentKey: CachedSegment] = [:]
        var cachedByteCount = 0
        var useCount = 0
        var document = JSONDocument()
        var recordMemory = RecordMemory()
    }

    private struct SegmentKey: Hashable {
        let bundleIndex: UInt32
        let segmentIndex: UInt32
    }

    private struct CachedSegment {
        let contents: [UInt8]
        var lastUse: Int
    }

    /// Creates a source that reads from verified bundles.
    ///
    /// Record locations contain indices into `bundles`.
    public init(_ bundles: [BundleReader], cacheByteLimit: Int = 16 << 20) {
        self.bundles = bundles
        self.cacheByteLimit = cacheByteLimit
        state = Mutex(State())
    }

    /// Returns the record or part of a record that an upload sends, with the exact payload to send.
    public func record(of send: PlannedUpload) throws(UnusableBundleError) -> Record {
        try withState(send.location) { state throws(BundleError) in
            let record = try self.record(at: send.location, &state)
            guard DeliveryKey(record) == send.recordKey else { throw Self.changedError(send.location) }
            guard !send.isWhole else { return record }
            let format = systems(of: send.location)[record.system]?.uploads.list
            guard let list = ListItems(record, format, using: &state.document) else {
                throw Self.changedError(send.location)
            }
            var part = record
            part.payload = list.payload(with: send.items.map(\.index), of: record.payload)
            return part
        }
    }

    private func systems(of location: RecordLocation) -> SystemTable { bundles[Int(location.bundleIndex)].systems }

    /// Returns the record at `location`.
    public func record(at location: RecordLocation) throws(UnusableBundleError) -> Record {
        try withState(location) { state throws(BundleError) in try record(at: location, &state) }
    }

    /// Runs `body` with the locked state, and adds the path of the bundle to its errors.
    private func withState<Value: Sendable>(
        _ location: RecordLocation, _ body: (inout State) throws(BundleError) -> Value
    ) throws(UnusableBundleError) -> Value {
        do throws(BundleError) {
            return try state.withLock { state throws(BundleError) in try body(&state) }
        } catch {
            throw UnusableBundleError(path: bundles[Int(location.bundleIndex)].path, error: error)
        }
    }

    private func record(at location: RecordLocation, _ state: inout State) throws(BundleError) -> Record {
        let contents = try contents(
            of: SegmentKey(bundleIndex: location.bundleIndex, segmentIndex: location.segmentIndex), &state)
        let line = Int(location.lineStart)..<Int(location.lineStart) + Int(location.lineLength)
        guard line.upperBound <= contents.count else { throw Self.changedError(location) }
        do throws(RecordError) {
            return try Record(
                againAt: line, of: contents, using: &state.recordMemory, knowing: systems(of: location))
        } catch {
            throw Self.changedError(location)
        }
    }

    private func contents(of segment: SegmentKey, _ state: inout State) throws(BundleError) -> [UInt8] {
        state.useCount += 1
        if let contents = state.cache[segment]?.contents {
            state.cache[segment]?.lastUse = state.useCount
            return contents
        }
        let bundle = bundles[Int(segment.bundleIndex)]
        var decoder = try BundleReader.makeDecoder()
        let contents = try bundle.contents(of: bundle.manifest.segments[Int(segment.segmentIndex)].path, with: &decoder)
        while state.cachedByteCount + contents.count > cacheByteLimit,
            let oldest = state.cache.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            state.cachedByteCount -= oldest.value.contents.count
            state.cache[oldest.key] = nil
        }
        state.cache[segment] = CachedSegment(contents: contents, lastUse: state.useCount)
        state.cachedByteCount += contents.count
        return contents
    }

    private static func changedError(_ location: RecordLocation) -> BundleError {
        .changed(member: BundleLayout.segmentName(Int(location.segmentIndex) + 1))
    }
}
