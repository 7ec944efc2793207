import Bytes
import JSONText
import PropertyList
import Telemetry

/// The format of uploads, which send each list request to the path of its account.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 8.
enum SiftUploads {
    /// The host that the SDK sends list requests to.
    static let host = "api3.siftscience.com"
    /// The only status that confirms an upload, which is 200 as in the SDK.
    static let deliveredStatuses = 200...200
    private static let method = "PUT"

    static let format = UploadFormat(
        endpoint: "https://\(host)", endpointsOfTypes: [:], method: method,
        isTargetPath: { SiftTarget.account(ofPath: $0) != nil },
        isTargetHeader: nil, isPathOfRecord: nil,
        list: ListFormat(key: SiftRequestKeys.data, maximumItems: .max, idKey: nil, changingKey: nil),
        credentials: .sift, precedence: .none, withdrawals: nil, holds: [], body: .custom(content(of:credential:now:)),
        answers: .status(delivered: deliveredStatuses), instructions: nil)

    /// Returns the account whose id the target path of `record` contains, or `nil` if there is none.
    ///
    /// The path determines the account, so that no record can use the credential of another account.
    static func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        guard let target = record.target, target.method == nil || target.method == method else { return nil }
        return SiftTarget.account(ofPath: target.path).map { Account(system: .sift, name: $0) }
    }

    private static func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        guard let token = credential[SiftCredential.token] else { throw .otherCredential }
        return RequestContent(
            headers: [HeaderField("Authorization", "Basic \(token)"), HeaderField("Content-Type", "application/json")],
            body: payload, isCompressed: true)
    }
}

// MARK: - Credentials

/// The credential of an account: the beacon key, and the token that is sent in a header field.
enum SiftCredential {
    /// The name of the beacon key, which the operator provides.
    static let beaconKey: CapturedText = "beaconKey"
    /// The name of the token, which is the beacon key in Base64.
    static let token: CapturedText = "token"

    /// The prefix of the names of environment variables with beacon keys.
    ///
    /// The account id follows the prefix.
    static let variablePrefix = "PINGFERRY_SIFT_KEY_"

    /// Returns the environment variables that contain a beacon key.
    fileprivate static func variables(in environment: [String: String]) -> [String: String] {
        environment.filter { name, key in name.hasPrefix(variablePrefix) && !key.isEmpty }
    }

    /// Returns the credential for the beacon key `key`.
    ///
    /// The key and its token are both secret, because an answer from the server may repeat either.
    static func credential(beaconKey key: String) -> Credential {
        var token: [UInt8] = []
        token.append(base64: key.utf8.span)
        return Credential(
            [beaconKey: key, Self.token: String(decoding: token, as: UTF8.self)], secrets: [beaconKey, Self.token])
    }

    /// Returns the names of the variable and the file entry that can provide the beacon key of an account.
    static func settingHint(forAccount account: String) -> String {
        let entry = "\"sift\": {\"\(account)\": …} in the credentials file"
        return account.isVariableName ? "\(variablePrefix)\(account), or \(entry)" : entry
    }
}

extension CredentialFormat {
    /// The format of beacon keys, which are listed as `{"sift": {"<account id>": "<beacon key>"}}` or set in variables.
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
        settingHint: { SiftCredential.settingHint(forAccount: $0.name) })
}

extension String {
    /// Whether the string can be the end of the name of an environment variable.
    fileprivate var isVariableName: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
}
