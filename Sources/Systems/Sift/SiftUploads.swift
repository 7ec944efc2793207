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

/// The format of captured list requests to Sift.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 6.1 and 8.1; "HTTP Archive (HAR) captures as a source
/// of telemetry", sections C, D and H.
struct SiftRequests: RequestFormat {
    let hosts = [CapturedHost(SiftUploads.host)]
    let methods = ["POST", "PUT"]

    func isUpload(_ parts: [[UInt8]]) -> Bool {
        parts.count == 4 && parts.begin(with: "v3", "accounts") && parts[3].elementsEqual("mobile_events".utf8)
    }

    /// Returns the path of a request, with the account id escaped as in ``SiftTarget``.
    ///
    /// Apps may escape the account id differently.
    func path(of address: WebAddress) -> String {
        guard let account = String(validating: address.parts[2], as: UTF8.self) else { return address.path }
        return SiftTarget.path(account: account) ?? address.path
    }

    /// Recognizes a payload by a list of objects, or returns `nil` for any other line.
    ///
    /// A Leanplum payload also has this form, but the Leanplum system recognizes it first.
    func lineShape(of line: JSONDocument) -> LineShape? {
        guard let events = line.array(SiftRequestKeys.data, in: line.root), let first = line.firstElement(of: events),
            line.kind(of: first) == .object
        else { return nil }
        return .payload(isStoredToo: false)
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        guard let events = document.array(SiftRequestKeys.data, in: document.root) else {
            throw .invalid("data is no array")
        }
        var findings = Findings()
        if document.memberCount(of: document.root) > 1 { findings.fault("keys other than data") }
        var clients = ClientTally()
        for (index, event) in document.elements(of: events).enumerated() {
            findings.check(event, SiftEvent.fields, at: "data[\(index)]", in: document)
            clients.count(document.text(SiftRequestKeys.installationID, in: event))
        }
        let payload = document.canonicalBytes(of: document.root)
        return upload.completed(
            Record(
                system: .sift, type: SiftRequest.type, id: PayloadHash.id(of: payload), client: clients.first,
                time: upload.time, payload: payload, source: upload.source, notes: findings.notes,
                held: [findings.hold, clients.hold].compactMap(\.self)))
    }
}

/// The path for list requests of an account, `/v3/accounts/<account id>/mobile_events`.
///
/// The account id is percent-encoded as one path segment, although the SDK itself inserts it unchanged.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 8.1 and 9.5.
enum SiftTarget {
    private static let pathPrefix = Array("/v3/accounts/".utf8)
    private static let pathSuffix = Array("/mobile_events".utf8)

    /// Returns the path for an account, or `nil` if the account id cannot be a path segment.
    ///
    /// An account id must not contain control characters. Its parts between slashes must not be empty, `.` or `..`,
    /// because a server that decodes the path could treat it as the path of another account.
    static func path(account: String) -> String? {
        guard account.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        let parts = account.utf8.split(omittingEmptySubsequences: false) { $0.isOne(of: "/\\") }
        guard !parts.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            return nil
        }
        var path = pathPrefix
        // The account id is encoded like a form value, so that only unreserved characters remain unescaped.
        PercentEncoding.append(formValue: account.utf8, to: &path)
        return String(decoding: path + pathSuffix, as: UTF8.self)
    }

    /// Returns the account id in a path created by ``path(account:)``, or `nil` for any other path.
    static func account(ofPath path: String) -> String? {
        let bytes = Array(path.utf8)
        guard bytes.count > pathPrefix.count + pathSuffix.count, bytes.starts(with: pathPrefix),
            bytes.suffix(pathSuffix.count) == pathSuffix[...],
            let unescaped = PercentEncoding.decoded(
                bytes.span.extracting(pathPrefix.count..<bytes.count - pathSuffix.count), plusIsSpace: false),
            let account = String(validating: unescaped, as: UTF8.self),
            self.path(account: account).map({ Array($0.utf8) }) == bytes
        else { return nil }
        return account
    }
}
