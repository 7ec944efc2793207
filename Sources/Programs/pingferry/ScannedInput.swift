import Capture
import Telemetry

/// An input of a scan: its stores, each with a row for each of its parts. A bundle or a request log counts as one store.
struct ScannedInput {
    /// A store, or what stands for one.
    struct Store {
        let path: String
        var rows: [ScanRow]
    }

    /// Where a row stands: the number of the store, and of the part in it.
    struct Place {
        let store: Int
        let part: Int

        /// The only row of what is no folder.
        static let only = Place(store: 0, part: 0)
    }

    private struct PathAndKind: Hashable {
        let path: String
        let kind: String
    }

    /// What the input is called.
    let label: String
    /// The backups in it.
    let backups: [BackupFacts]
    /// In the order of the capture.
    private(set) var stores: [Store] = []
    /// Whether all that is found belongs to the one row of a bundle, whatever its path is.
    private let isBundle: Bool
    /// The first row with a path.
    private var byPath: [String: Place] = [:]
    /// The other rows with that path: one file can be a store of two systems.
    private var byPathAndKind: [PathAndKind: Place] = [:]

    /// Lists the stores of an input, in which nothing was counted yet.
    /// - Parameter path: as it was given.
    init(_ input: CaptureInput, path: String) {
        switch input {
        case .folder(let capture):
            label = capture.label
            isBundle = false
            backups = capture.backups
            for found in capture.stores { add(found, of: capture.label) }
        case .log(let log):
            label = log.label
            isBundle = false
            backups = []
            add(log.kind.store.description, path: log.path)
        case .bundle, .salvage:
            label = path
            isBundle = true
            backups = []
            add("bundle", path: path)
        }
    }

    /// All rows in their order.
    var rows: [ScanRow] { stores.flatMap(\.rows) }

    /// Changes a row where it stands.
    mutating func update(_ place: Place, _ body: (inout ScanRow) -> Void) {
        body(&stores[place.store].rows[place.part])
    }

    /// The row of the store that is, or holds, a file; nil for a file of no store.
    /// - Parameter kind: the kind of store, where it is known.
    func place(ofPath path: String, kind: String? = nil) -> Place? {
        if isBundle { return .only }
        guard let first = byPath[path] else {
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            return byPath[slash.map { String(path[..<$0]) } ?? ""]
        }
        guard let kind, stores[first.store].rows[first.part].kind != kind else { return first }
        return byPathAndKind[PathAndKind(path: path, kind: kind)] ?? first
    }

    /// Adds a row for what is no folder.
    private mutating func add(_ kind: String, path: String) {
        let row = ScanRow(capture: label, container: nil, kind: kind, path: path, isOfOneApp: false)
        add(Store(path: path, rows: [row]))
    }

    /// Adds a row for each part of a store.
    private mutating func add(_ found: FoundStore, of capture: String) {
        let rows = found.store.parts.map { part in
            ScanRow(
                capture: capture, container: found.container, kind: part.kind.description, path: part.path,
                isOfOneApp: !part.kind.isRequestLog, app: App(id: found.container.identifier),
                systems: found.store.system.map { [$0.description] } ?? [])
        }
        // What is told of a folder, or of a file in it that is no part, is told with its first part.
        add(Store(path: found.path, rows: rows), otherPaths: [found.path] + found.store.companionPaths)
    }

    private mutating func add(_ store: Store, otherPaths: [String] = []) {
        let number = stores.count
        for (part, row) in store.rows.enumerated() {
            let place = Place(store: number, part: part)
            if byPath[row.path] == nil {
                byPath[row.path] = place
            } else {
                byPathAndKind[PathAndKind(path: row.path, kind: row.kind)] = place
            }
        }
        for path in otherPaths where byPath[path] == nil { byPath[path] = Place(store: number, part: 0) }
        stores.append(store)
    }
}

extension Batch.Entry {
    /// The row of the store that the record came from.
    var row: ScannedInput.Place { ScannedInput.Place(place) }
}

extension Batch.AppEntry {
    /// The row of the store that belongs to the app.
    var row: ScannedInput.Place { ScannedInput.Place(place) }
}

extension ScannedInput.Place {
    /// The row of a part of a store; the only one of a bundle.
    fileprivate init(_ place: Batch.StorePlace?) {
        self = place.map { ScannedInput.Place(store: $0.store, part: $0.part) } ?? .only
    }
}
