import Bytes
import Capture
import Console
import JSONText
import Telemetry

/// The containers of all captures, as text or as JSON, with the queues of SDKs whose data is not read.
struct InventoryListing {
    private let report: ScanReport

    /// Creates the listing of a report.
    init(_ report: ScanReport) { self.report = report }

    /// Prints the containers of each capture that has any.
    func print() throws {
        for input in report.inputs where !input.inventory.isEmpty {
            let inventory = input.inventory
            let read = inventory.count { $0.storeCount > 0 }
            let others = inventory.count { !$0.otherQueues.isEmpty }
            try Terminal.print(
                "\(input.label): \(inventory.count.counted("container")), \(read) with stores, "
                    + "\(others) with queues of other SDKs")
            for entry in inventory { try print(entry) }
            guard input.omittedInventoryRowCount > 0 else { continue }
            try Terminal.print(
                "  not listed: \(input.omittedInventoryRowCount.counted("row")) of the backup manifest, because an "
                    + "inventory has at most \(InputLimits.inventoryEntryCount) containers and queue entries")
        }
    }

    /// The number of rows of backup manifests that are not listed because of a limit.
    var omittedRowCount: Int { report.inputs.reduce(0) { $0 + $1.omittedInventoryRowCount } }

    private func print(_ entry: InventoryEntry) throws {
        let path = entry.container.path
        let owner = entry.container.identifier.map { " (\($0))" } ?? ""
        try Terminal.print("  \(path.isEmpty ? "." : path)\(owner)")
        let systems = entry.systems.sortedStrings.joined(separator: ", ")
        let stores = entry.storeCount.counted("store")
        let lines =
            [entry.storeCount > 0 ? "\(stores) of \(systems)" : "no store of a known system"]
            + entry.otherQueues.map { queue in
                let more = queue.entryCount > 1 ? " and \(queue.entryCount - 1) more" : ""
                return "not read: \(queue.sdk), \(ScanRow.relativePath(of: queue.path, in: path))\(more)"
            }
        for line in lines.flatMap({ WrappedText.lines(of: $0, indent: 4) }) { try Terminal.print(line) }
    }

    /// Calls `body` with a JSON object for each container.
    func forEachObject(_ body: (CanonicalObject) throws -> Void) throws {
        for input in report.inputs {
            for entry in input.inventory { try body(Self.object(of: entry, in: input.label)) }
        }
    }

    private static func object(of entry: InventoryEntry, in capture: String) -> CanonicalObject {
        let kind =
            switch entry.container.kind {
            case .app: "app"
            case .group: "group"
            case .plugin: "plugin"
            }
        return [
            "capture": capture, "container": entry.container.path, "containerID": entry.container.identifier,
            "kind": kind,
            "otherQueues": entry.otherQueues.map { queue -> CanonicalObject in
                ["entries": queue.entryCount, "path": queue.path, "sdk": queue.sdk]
            },
            "stores": entry.storeCount, "systems": entry.systems.sortedStrings,
        ]
    }
}
