import Systems
import Telemetry

@testable import Sift

/// Returns the upload format of a system.
func uploads(_ system: SystemName) -> any UploadFormat {
    guard let known = Systems.table[system] else { preconditionFailure("no system is called \(system)") }
    return known.uploads
}

extension Credential {
    /// Returns the credential of a Sift account.
    static func sift(beaconKey: String) -> Credential { SiftCredential.credential(beaconKey: beaconKey) }

    /// Returns the credential of a Leanplum application.
    static func leanplum(appID: String, key: String) -> Credential {
        Credential(["appId": appID, "key": key], secrets: ["key"])
    }
}
