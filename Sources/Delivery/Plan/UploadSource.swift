import Bundle
import JSONText
import Synchronization
import Telemetry

/// Reads the records of uploads from verified bundles.
///
/// A segment is decoded and checked against its hash when one of its records is needed. Decoding blocks the caller.
/// Decoded segments are cached up to a size limit.
public final class UploadSource: Sendable {
    private let bundles: [BundleReader]
    private let cacheLimit: Int
    private let state: Mutex<State>

    private struct State {
        var cache: [SegmentKey: Entry] = [:]
        var bytes = 0
        var clock = 0
        var document = JSONDocument()
        var memory = RecordMemory()
    }

    private struct SegmentKey: Hashable {
        let bundle: UInt32
        let segment: UInt32
    }

    private struct Entry {
        let contents: [UInt8]
        var lastUse: Int
    }

    /// Creates a source that reads from verified bundles.
    ///
    /// Record locations contain indices into `bundles`.
    public init(_ bundles: [BundleReader], cacheLimit: Int = 16 << 20) {
        self.bundles = bundles
        self.cacheLimit = cacheLimit
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

    private func systems(of location: RecordLocation) -> SystemTable { bundles[Int(location.bundle)].systems }

    /// Returns the record at a location.
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
            throw UnusableBundleError(path: bundles[Int(location.bundle)].path, error: error)
        }
    }

    private func record(at location: RecordLocation, _ state: inout State) throws(BundleError) -> Record {
        let contents = try contents(of: SegmentKey(bundle: location.bundle, segment: location.segment), &state)
        let line = Int(location.start)..<Int(location.start) + Int(location.count)
        guard line.upperBound <= contents.count else { throw Self.changedError(location) }
        do throws(RecordError) {
            return try Record(
                againAt: line, of: contents, using: &state.memory, knowing: systems(of: location))
        } catch {
            throw Self.changedError(location)
        }
    }

    private func contents(of segment: SegmentKey, _ state: inout State) throws(BundleError) -> [UInt8] {
        state.clock += 1
        if let contents = state.cache[segment]?.contents {
            state.cache[segment]?.lastUse = state.clock
            return contents
        }
        let bundle = bundles[Int(segment.bundle)]
        var decoder = try BundleReader.makeDecoder()
        let contents = try bundle.contents(of: bundle.manifest.segments[Int(segment.segment)].path, with: &decoder)
        while state.bytes + contents.count > cacheLimit,
            let oldest = state.cache.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            state.bytes -= oldest.value.contents.count
            state.cache[oldest.key] = nil
        }
        state.cache[segment] = Entry(contents: contents, lastUse: state.clock)
        state.bytes += contents.count
        return contents
    }

    private static func changedError(_ location: RecordLocation) -> BundleError {
        .changed(member: BundleLayout.segment(Int(location.segment) + 1))
    }
}
