import Bundle
import Bytes
import Telemetry

/// The apps to which containers belong, as determined from the stores in the containers.
struct ContainerApps {
    private struct OwnerKey: Hashable {
        @CapturedText var capture: String
        @CapturedText var bundleID: String
    }

    private var knownApps = NumberedValues<App>()
    /// The number of the app of each container, or `nil` if no row of the container names an app with a version.
    private var appIndices: [UInt32?]
    /// The main containers of apps with known bundle ids, each with its number and path.
    private var ownContainers: [OwnerKey: (number: Int, path: String)] = [:]

    /// Determines the apps from `rows`, whose counts must be final.
    init(_ rows: some Sequence<ScanRow>, containerCount: Int) {
        appIndices = Array(repeating: nil, count: containerCount)
        var times: [Timestamp?] = Array(repeating: nil, count: containerCount)
        for row in rows {
            guard let container = row.container else { continue }
            let number = row.containerNumber
            if let app = row.app, app.version != nil {
                let known = appIndices[number].map { LatestApp(knownApps[$0], at: times[number]) }
                if known.map({ Self.precedes(LatestApp(app, at: row.appTime), $0) }) ?? true {
                    appIndices[number] = knownApps.number(of: app)
                    times[number] = row.appTime
                }
            }
            if let id = container.applicationID {
                ownContainers[OwnerKey(capture: row.capture, bundleID: id)] = (number, container.path)
            }
        }
    }

    /// Returns whether `app` takes precedence over `known`, an app of the same container that was found earlier.
    ///
    /// If only one of them has a name, that app takes precedence, and otherwise the app with the later time.
    private static func precedes(_ app: LatestApp, _ known: LatestApp) -> Bool {
        let isNamed = app.app.name != nil
        return isNamed == (known.app.name != nil) ? !app.isEarlier(than: known) : isNamed
    }

    /// Returns the app to which `row` belongs, or `nil` if it is unknown.
    ///
    /// If `row` names no app with a version, other stores in its container or in the main container may name the app.
    func app(of row: ScanRow) -> App? {
        if row.app?.version != nil { return row.app }
        let number = appIndices[row.containerNumber] ?? owner(of: row).flatMap { appIndices[$0.number] }
        return number.map { knownApps[$0] } ?? row.app
    }

    /// Returns the path of the main container of the app with the group container of `row`, or `nil` if it is unknown.
    func appContainer(of row: ScanRow) -> String? { owner(of: row)?.path }

    private func owner(of row: ScanRow) -> (number: Int, path: String)? {
        row.container?.groupApplicationID.flatMap { ownContainers[OwnerKey(capture: row.capture, bundleID: $0)] }
    }
}
