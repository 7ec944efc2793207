import Files
import Telemetry

/// Recognizes request logs in a folder: HTTP archives and NDJSON files, whichever systems the requests went to.
struct RequestLogFormat: StoreFormat {
    let absentFromAllBackups: String? = nil

    let systems: SystemTable

    func mayBelongToStore(_ file: MemberName) -> Bool { RequestLogKind.isName(file.name) }

    func store(ofFolder folder: inout FolderLook) -> (any Store)? { nil }

    func stores(ofFile name: String, in folder: inout FolderLook) -> FileFinding {
        guard RequestLogKind.isName(name) else { return .stranger }
        do throws(FileError) {
            let source = try folder.source(Array(name.utf8))
            guard let kind = try RequestLogKind(source, inFolderAs: name, systems) else { return .stranger }
            return .shared([RequestLogStore(path: folder.base + name, log: kind, systems: systems)])
        } catch {
            folder.tell(unreadable: folder.base + name, error)
            return .stranger
        }
    }

    /// A log that is given by itself is recognized by its contents before all else, see `RequestLogKind`.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout FolderLook) -> FileFinding {
        .stranger
    }

    func store(byContentsOf name: String, in folder: inout FolderLook) -> (any Store)? { nil }

    /// Logs are made by people, wherever they like.
    func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool { false }

    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool { false }
}

/// A request log among the files of a capture.
struct RequestLogStore: Store {
    let path: String
    let log: RequestLogKind
    let systems: SystemTable

    var system: SystemName? { nil }
    var kind: StoreKind { log.store }
    var fileCount: Int { 1 }
    var isReadAtOnce: Bool { true }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        let source = Result { () throws(FileError) in try context.tree.source(path) }
        switch source {
        case .success(let source):
            let log = RequestLog(source, kind: log, label: context.capture, path: path, systems: systems)
            return RequestLogScan(log, secret: context.options.secret, spread: context.options.spread)
        case .failure(let error): return UnreadableStore(path: path, error: error)
        }
    }
}

/// The reading of a store that cannot be opened.
struct UnreadableStore: StoreScan {
    let path: String
    let error: FileError

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        output.report(Problem("unreadable", error.description), path: path)
        return false
    }
}
