import Bytes
import JSONText
import PropertyList
import Telemetry

/// The format of uploads, which send each list request to the path of its account.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 8.
struct SiftUploads: UploadFormat {
    /// The host that the SDK sends list requests to.
    static let host = "api3.siftscience.com"

    let endpoint = "https://\(host)"
    let method = "PUT"
    let list: ListFormat? = ListFormat(key: SiftRequestKeys.data, maximumItems: .max, idKey: nil, changingKey: nil)
    let credentials: (any CredentialFormat)? = SiftCredential()

    func isTargetPath(_ path: String) -> Bool { SiftTarget.account(ofPath: path) != nil }

    /// Returns the upload path with a pseudonym for the account id, or `nil` if the path is invalid.
    ///
    /// The account id is replaced because it identifies the maker of the app.
    func path(of target: Target, replacingIDs pseudonym: (_ value: String, PseudonymClass) -> String) -> String? {
        SiftTarget.account(ofPath: target.path).flatMap { SiftTarget.path(account: pseudonym($0, .account)) }
    }

    /// Returns the account whose id the target path of `record` contains, or `nil` if there is none.
    ///
    /// The path determines the account, so that no record can use the credential of another account.
    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        guard let target = record.target, target.method == nil || target.method == method else { return nil }
        return SiftTarget.account(ofPath: target.path).map { Account(system: .sift, name: $0) }
    }

    func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        guard let token = credential[SiftCredential.token] else { throw .otherCredential }
        return RequestContent(
            [HeaderField("Authorization", "Basic \(token)")], type: "application/json", body: payload,
            isCompressed: true)
    }
}

// MARK: - Credentials

/// The format of beacon keys, which are listed as `{"sift": {"<account id>": "<beacon key>"}}` or set in variables.
///
/// The credential of an account consists of the beacon key, and of the token that is sent in a header field.
struct SiftCredential: CredentialFormat {
    /// The name of the beacon key, which the operator provides.
    static let beaconKey: CapturedText = "beaconKey"
    /// The name of the token, which is the beacon key in Base64.
    static let token: CapturedText = "token"
    /// The prefix of the names of environment variables with beacon keys.
    ///
    /// The account id follows the prefix.
    private static let variablePrefix = "PINGFERRY_SIFT_KEY_"

    let variablesHelp = "\(variablePrefix)<account id>"
    let entryHelp = #""sift": {"<account id>": "<beacon key>"}"#
    let entry = CredentialEntry.text(beaconKey)

    func variables(in environment: [String: String]) -> [String] {
        environment.filter { name, key in name.hasPrefix(Self.variablePrefix) && !key.isEmpty }.keys.sorted()
    }

    func merge(_ environment: [String: String], into accounts: inout AccountValues) {
        for name in variables(in: environment) {
            accounts[String(name.dropFirst(Self.variablePrefix.count))] = environment[name].map { [Self.beaconKey: $0] }
        }
    }

    func credential(of account: Account, among accounts: AccountValues) -> Credential? {
        accounts[account.name]?[Self.beaconKey].map(Self.credential)
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

    func settingHint(for account: Account) -> String {
        let entry = "\"sift\": {\"\(account.name)\": …} in the credentials file"
        return account.name.isVariableName ? "\(Self.variablePrefix)\(account.name), or \(entry)" : entry
    }
}

extension String {
    /// Whether the string can be the end of the name of an environment variable.
    fileprivate var isVariableName: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
}
