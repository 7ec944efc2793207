import Files
import Telemetry

extension StoreFormat {
    /// Returns the format of request logs, which are HTTP archives and NDJSON files.
    static func requestLogs(of systems: SystemTable) -> StoreFormat {
        StoreFormat(
            kinds: StoreKind.requestLogs, mayBelongToStore: { RequestLogKind.isLogName($0.name) }, isNamedForStore: nil,
            storeOfFolder: nil,
            storesOfFile: { name, folder in RequestLogStore.stores(ofFile: name, in: &folder, systems) },
            // A log that is given as an input is detected by `RequestLogKind` before any stores are searched.
            storesOfSingleFile: nil, storeByContents: nil,
            // Logs are not in backups, because they are recorded on other machines.
            backups: nil, secrets: nil, usageData: nil)
    }
}

/// A request log among the files of a capture.
struct RequestLogStore: Store {
    let path: String
    let log: RequestLogKind
    let systems: SystemTable

    var system: SystemName? { nil }
    var kind: StoreKind { log.store }
    var fileCount: Int { 1 }
    var isReadByOneJob: Bool { true }

    /// Returns the request log in the file called `name`, or `.unrelated` if the file is not a request log.
    fileprivate static func stores(
        ofFile name: String, in folder: inout InspectedFolder, _ systems: SystemTable
    ) -> FileFinding {
        guard RequestLogKind.isLogName(name) else { return .unrelated }
        do throws(FileError) {
            let source = try folder.source(Array(name.utf8))
            guard let kind = try RequestLogKind(source, inFolderAs: name, systems) else { return .unrelated }
            return .shared([RequestLogStore(path: folder.base + name, log: kind, systems: systems)])
        } catch {
            folder.report(unreadable: folder.base + name, error)
            return .unrelated
        }
    }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        do throws(FileError) {
            let source = try context.tree.source(at: path)
            let log = RequestLog(source, kind: log, label: context.capture, path: path, systems: systems)
            return RequestLogScan(log, secret: context.options.secret, parallelFor: context.options.parallelFor)
        } catch {
            return UnreadableStore(path: path, error: error)
        }
    }
}

/// A scan of a store that cannot be opened.
struct UnreadableStore: StoreScan {
    let path: String
    let error: FileError

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        output.report(Problem("unreadable", error.description), path: path)
        return false
    }
}
