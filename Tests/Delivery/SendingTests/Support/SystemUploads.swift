import Systems
import Telemetry

@testable import Sift

/// How uploads of a known system are made.
func uploads(_ system: SystemName) -> UploadFormat {
    guard let known = Systems.table[system] else { preconditionFailure("no system is called \(system)") }
    return known.uploads
}

extension Credential {
    /// What an account of Sift wants.
    static func sift(beaconKey: String) -> Credential { SiftCredential.credential(beaconKey: beaconKey) }

    /// What an application of Leanplum wants.
    static func leanplum(appID: String, key: String) -> Credential {
        Credential(["appId": appID, "key": key], secrets: ["key"])
    }
}
