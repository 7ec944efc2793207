import ActivityStream
import Adjust
import Leanplum
import Mozilla
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests which targets the systems permit.
@Suite struct TargetGrammarTests {
    /// A path of each system.
    private static let paths: [(SystemName, String)] = [
        (.mozilla, "/submit/telemetry/a/b/c/d/e/f?v=4"), (.sift, "/v3/accounts/a/mobile_events"),
        (.leanplum, "/api"), (.activityStream, "/v3/links/ping-centre"), (.adjust, "/gdpr_forget_device"),
    ]

    @Test("A target belongs to one system only.", arguments: paths)
    func oneSystemsPath(system: SystemName, path: String) {
        for name in Systems.table.names {
            #expect(Target(path: path).isKnown(to: name) == (name == system), "\(name)")
        }
    }

    @Test("The method of a target is missing or that of its system.", arguments: paths)
    func methods(system: SystemName, path: String) throws {
        let usual = try #require(Systems.table[system]).uploads.method
        for method in ["GET", "POST", "PUT", "DELETE", "", usual.lowercased()] {
            #expect(Target(path: path, method: method).isKnown(to: system) == (method == usual), "\(method)")
        }
    }

    @Test("An unknown system has no targets.")
    func unknownSystem() {
        for (_, path) in Self.paths { #expect(!Target(path: path).isKnown(to: SystemName("other"))) }
    }

    @Test("Leanplum and Activity Stream have one path each.")
    func onePath() {
        for (system, path) in [(SystemName.leanplum, "/api"), (.activityStream, "/v3/links/ping-centre")] {
            #expect(Target(path: path).isKnown(to: system))
            #expect(Target(path: path, method: "POST").isKnown(to: system))
            #expect(!Target(path: path, method: "PUT").isKnown(to: system))
            for other in [
                "/\(path)", "\(path)/", "\(path)?x=1", "\(path)#x", "//host\(path)", "\(path)\r\nX: y", " \(path)", "",
            ] {
                #expect(!Target(path: other).isKnown(to: system), "\(other)")
            }
        }
    }

    @Test("The path of a ping must name its document and type.")
    func ownTarget() {
        func record(_ id: String, _ type: String, path: String?) -> Record {
            Record(
                system: .mozilla, type: type, id: id, target: path.map { Target(path: $0) }, payload: Array("{}".utf8),
                source: Source(capture: "c", path: "p", store: .mozillaPingFile, index: 0))
        }
        let path = "/submit/telemetry/A/core/Focus/1/release/1?v=4"
        #expect(record("A", "core", path: path).targetNamesRecord)
        #expect(!record("B", "core", path: path).targetNamesRecord)
        #expect(!record("a", "core", path: path).targetNamesRecord)
        #expect(!record("A", "other", path: path).targetNamesRecord)
        #expect(!record("A", "core", path: "/x").targetNamesRecord)
        #expect(record("A", "core", path: nil).targetNamesRecord)
    }
}
