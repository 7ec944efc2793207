import Bundle
import JSONText
import Synchronization
import Telemetry

/// Reads from the bundles what uploads carry, through the seek table: a segment is decoded when one of its records is
/// wanted, checked against its hash again, and kept while there is room.
public final class UploadSource: Sendable {
    private let bundles: [BundleReader]
    private let cacheLimit: Int
    private let state: Mutex<State>

    private struct State {
        var cache: [Place: Entry] = [:]
        var bytes = 0
        var clock = 0
        var document = JSONDocument()
        var memory = RecordMemory()
    }

    private struct Place: Hashable {
        let bundle: UInt32
        let segment: UInt32
    }

    private struct Entry {
        let contents: [UInt8]
        var lastUse: Int
    }

    /// Takes bundles that were verified, in the order of the places.
    /// - Parameter cacheLimit: the most bytes of decoded segments that are kept, but for the one in use.
    public init(_ bundles: [BundleReader], cacheLimit: Int = 16 << 20) {
        self.bundles = bundles
        self.cacheLimit = cacheLimit
        state = Mutex(State())
    }

    /// Returns the record, or the part of one, that an upload sends: its payload is exactly what is sent. Blocks while a segment
    /// is decoded.
    /// - Throws: ``UnusableBundleError`` if the bundle is no longer what was verified.
    public func record(of send: PlannedSend) throws(UnusableBundleError) -> Record {
        try reading(send.place) { state throws(BundleError) in
            let record = try self.record(at: send.place, &state)
            guard DeliveryKey(record) == send.recordKey else { throw Self.changed(send.place) }
            guard !send.isWhole else { return record }
            let format = systems(of: send.place)[record.system]?.uploads.list
            guard let list = ListItems(record, format, using: &state.document) else { throw Self.changed(send.place) }
            var part = record
            part.payload = list.payload(with: send.items.map(\.index), of: record.payload)
            return part
        }
    }

    private func systems(of place: RecordPlace) -> SystemTable { bundles[Int(place.bundle)].systems }

    /// A record. Blocks while its segment is decoded.
    /// - Throws: ``UnusableBundleError`` if the bundle is no longer what was verified.
    public func record(at place: RecordPlace) throws(UnusableBundleError) -> Record {
        try reading(place) { state throws(BundleError) in try record(at: place, &state) }
    }

    /// Runs a body that reads what stands at a place; what it throws goes on with the name of the bundle.
    private func reading<Value: Sendable>(
        _ place: RecordPlace, _ body: (inout State) throws(BundleError) -> Value
    ) throws(UnusableBundleError) -> Value {
        do throws(BundleError) {
            return try state.withLock { state throws(BundleError) in try body(&state) }
        } catch {
            throw UnusableBundleError(path: bundles[Int(place.bundle)].path, error: error)
        }
    }

    private func record(at place: RecordPlace, _ state: inout State) throws(BundleError) -> Record {
        let contents = try contents(Place(bundle: place.bundle, segment: place.segment), &state)
        let line = Int(place.start)..<Int(place.start) + Int(place.count)
        guard line.upperBound <= contents.count else { throw Self.changed(place) }
        do throws(RecordError) {
            return try Record(
                againAt: line, of: contents, using: &state.memory, knowing: systems(of: place))
        } catch {
            throw Self.changed(place)
        }
    }

    private func contents(_ place: Place, _ state: inout State) throws(BundleError) -> [UInt8] {
        state.clock += 1
        if let contents = state.cache[place]?.contents {
            state.cache[place]?.lastUse = state.clock
            return contents
        }
        let bundle = bundles[Int(place.bundle)]
        var decoder = try BundleReader.makeDecoder()
        let contents = try bundle.contents(of: bundle.manifest.segments[Int(place.segment)].path, with: &decoder)
        while state.bytes + contents.count > cacheLimit,
            let oldest = state.cache.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            state.bytes -= oldest.value.contents.count
            state.cache[oldest.key] = nil
        }
        state.cache[place] = Entry(contents: contents, lastUse: state.clock)
        state.bytes += contents.count
        return contents
    }

    private static func changed(_ place: RecordPlace) -> BundleError {
        .changed(member: BundleLayout.segment(Int(place.segment) + 1))
    }
}
