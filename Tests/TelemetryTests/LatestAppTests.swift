import Telemetry
import TestSupport
import Testing

/// Tests of the app that is combined from several records.
@Suite struct LatestAppTests {
    private func combined(_ apps: [(App?, Int64?)]) -> App? {
        var latest: LatestApp?
        for (app, time) in apps {
            guard let app else { continue }
            let added = LatestApp(app, at: time.flatMap { Timestamp(milliseconds: $0) })
            if latest == nil { latest = added } else { latest?.add(added) }
        }
        return latest?.app
    }

    @Test("The version is that of the record with the latest time", arguments: 0..<120)
    func order(permutation: Int) {
        var apps: [(App?, Int64?)] = [
            (App(version: "8.10"), 30), (App(version: "8.1"), 20), (App(version: "9.0"), nil),
            (App(name: "Focus", channel: "beta"), 40), (App(id: "a.b", version: "8.2", channel: "release"), 10),
        ]
        var ordered: [(App?, Int64?)] = []
        var number = permutation
        while !apps.isEmpty {
            ordered.append(apps.remove(at: number % apps.count))
            number /= apps.count + 1
        }
        #expect(combined(ordered) == App(id: "a.b", name: "Focus", version: "8.10"))
    }

    @Test("Of records with equal times, and of records without a time, the last one takes precedence")
    func ties() {
        #expect(combined([(App(version: "2"), 5), (App(version: "1"), 5)])?.version == "1")
        #expect(combined([(App(version: "2"), nil), (App(version: "1"), nil)])?.version == "1")
        #expect(combined([(App(version: "2"), 0), (App(version: "1"), nil)])?.version == "2")
        #expect(combined([(App(name: "A"), nil), (App(name: "B"), 1), (App(name: "C"), nil)])?.name == "B")
    }
}
