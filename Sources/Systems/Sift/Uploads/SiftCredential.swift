import PropertyList
import Telemetry

/// The credential of an account: its beacon key, which the operator gives, and how the header says it.
enum SiftCredential {
    static let beaconKey = "beaconKey"
    /// Base64 of the beacon key alone, with no user name and no colon before it.
    static let token = "token"

    /// The names of environment variables with a beacon key begin so; the account id follows.
    static let variablePrefix = "PINGFERRY_SIFT_KEY_"

    /// Returns the variables of an environment that hold a beacon key.
    fileprivate static func variables(in environment: [String: String]) -> [String: String] {
        environment.filter { name, key in name.hasPrefix(variablePrefix) && !key.isEmpty }
    }

    /// The key and its base64 are both secret, for a server may repeat either.
    static func credential(beaconKey key: String) -> Credential {
        var token: [UInt8] = []
        token.append(base64: key.utf8.span)
        return Credential(
            [beaconKey: key, Self.token: String(decoding: token, as: UTF8.self)], secrets: [beaconKey, Self.token])
    }

    /// The variable or file entry to set so that an account has its key. Not every account id can stand in the name of a variable.
    static func nameToSet(_ account: String) -> String {
        let entry = "\"sift\": {\"\(account)\": …} in the credentials file"
        return account.isVariableName ? "\(variablePrefix)\(account), or \(entry)" : entry
    }
}

extension CredentialFormat {
    /// Beacon keys by account id: `{"sift": {"<account id>": "<beacon key>"}}`, or a variable for each account.
    static let sift = CredentialFormat(
        variablesHelp: "\(SiftCredential.variablePrefix)<account id>",
        entryHelp: #""sift": {"<account id>": "<beacon key>"}"#,
        entry: .text(SiftCredential.beaconKey),
        complete: { values, _ in .success(values) },
        variables: { SiftCredential.variables(in: $0).keys.sorted() },
        merge: { environment, accounts in
            for (name, key) in SiftCredential.variables(in: environment) {
                accounts[String(name.dropFirst(SiftCredential.variablePrefix.count))] = [SiftCredential.beaconKey: key]
            }
        },
        account: SiftUploads.account(of:using:),
        credential: { account, accounts in
            accounts[account.name]?[SiftCredential.beaconKey].map(SiftCredential.credential)
        },
        nameToSet: { SiftCredential.nameToSet($0.name) })
}

extension String {
    /// Whether a shell can have a variable whose name ends so.
    fileprivate var isVariableName: Bool {
        !isEmpty
            && unicodeScalars.allSatisfy { $0 == "_" || $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0) }
    }
}
