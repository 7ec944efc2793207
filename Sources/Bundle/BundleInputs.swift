import Bytes
import Hashing
import JSONText
import Telemetry

/// The inputs of a bundle, in the order in which they were given.
///
/// Inputs beyond the limits of a manifest are not listed, but only counted.
///
/// Source: "Bundle", "Inputs".
public struct BundleInputs: Sendable, Equatable {
    /// The inputs that are listed.
    public let entries: [BundleInput]
    /// The number of inputs that are not listed, including inputs of inputs.
    public let omittedCount: Int

    /// Creates a list of the inputs in `given` and their nested inputs, up to the limits of a manifest.
    ///
    /// The inputs are selected in breadth-first order. The inputs beyond the limits are only counted.
    public init(_ given: some Collection<BundleInput>) {
        var selection = InputSelection()
        let top = selection.select(given)
        selection.selectNestedInputs()
        entries = selection.entries(at: top)
        omittedCount = selection.omittedCount(of: given, listed: top.count, besides: 0)
    }

    /// The total number of inputs, including nested inputs and inputs that are not listed.
    var totalCount: Int {
        entries.reduce(omittedCount) {
            InputBudget.clampedSum($0, InputBudget.clampedSum(1, $1.inputs?.totalCount ?? 0))
        }
    }

    /// Adds the list to the JSON object of a manifest or of an input.
    func add(to object: inout CanonicalObject) {
        object.set("inputs", entries.map(\.json))
        if omittedCount > 0 { object.set("inputsOmitted", omittedCount) }
    }
}

// MARK: - InputSelection

/// A selection of the inputs to list, which is made in breadth-first order.
private struct InputSelection {
    /// The selected inputs, their nesting levels, and the indices of their selected nested inputs.
    private var selectedInputs: [(input: BundleInput, level: Int, nested: Range<Int>)] = []
    private var budget = InputBudget()
    private var isFull = false

    /// Selects inputs until a limit is reached, and returns the indices of the selected inputs.
    mutating func select(_ inputs: some Collection<BundleInput>, level: Int = 1) -> Range<Int> {
        let start = selectedInputs.count
        for input in inputs {
            if !budget.reserve(input) { isFull = true }
            if isFull { break }
            selectedInputs.append((input, level, 0..<0))
        }
        return start..<selectedInputs.count
    }

    /// Selects the nested inputs of all selected bundles.
    mutating func selectNestedInputs() {
        var index = 0
        while index < selectedInputs.count, !isFull {
            let (input, level, _) = selectedInputs[index]
            if level < InputBudget.maxDepth {
                selectedInputs[index].nested = select(input.inputs?.entries ?? [], level: level + 1)
            }
            index += 1
        }
    }

    /// Returns the selected inputs at `indices`, including their selected nested inputs.
    func entries(at indices: Range<Int>) -> [BundleInput] {
        selectedInputs[indices].map { input, _, nested in
            guard let inputs = input.inputs else { return input }
            let omitted = omittedCount(of: inputs.entries, listed: nested.count, besides: inputs.omittedCount)
            return input.replacingInputs(with: BundleInputs(entries: entries(at: nested), omittedCount: omitted))
        }
    }

    /// Returns the number of inputs after the first `listed` ones, including nested inputs, plus `omittedCount`.
    func omittedCount(of inputs: some Collection<BundleInput>, listed: Int, besides omittedCount: Int) -> Int {
        BundleInputs(entries: Array(inputs.dropFirst(listed)), omittedCount: omittedCount).totalCount
    }
}

extension BundleInputs {
    fileprivate init(entries: [BundleInput], omittedCount: Int) {
        self.entries = entries
        self.omittedCount = omittedCount
    }
}

extension BundleInputs {
    /// Creates the list from a manifest.
    init(ofManifest fields: JSONFields, isPseudonymized: Bool) throws(BundleError) {
        var budget = InputBudget()
        guard let inputs = try BundleInputs(fields, level: 1, budget: &budget) else {
            throw BundleError.badManifest("its list of inputs is missing")
        }
        guard inputs.entries.allSatisfy({ isPseudonymized ? $0.isAnonymous : $0.isIdentified }) else {
            throw BundleError.badManifest(
                "inputs have labels although the records have pseudonyms, or lack labels although they have none")
        }
        self = inputs
    }

    /// Creates a list from a JSON object of a manifest, or returns `nil` if the object has no list.
    fileprivate init?(_ fields: JSONFields, level: Int, budget: inout InputBudget) throws(BundleError) {
        guard let list = fields.objects("inputs") else { return nil }
        guard list.isEmpty || level <= InputBudget.maxDepth else {
            throw BundleError.badManifest("inputs are nested on more than \(InputBudget.maxDepth) levels")
        }
        var entries: [BundleInput] = []
        for fields in list {
            let input = try BundleInput(fields, level: level, budget: &budget)
            guard budget.reserve(input) else {
                throw BundleError.badManifest(
                    "it lists more than \(InputBudget.maxInputCount) inputs, or their labels and filters have more than \(InputBudget.maxLabelBytes) bytes"
                )
            }
            entries.append(input)
        }
        let omittedCount = fields.count("inputsOmitted")
        guard omittedCount != nil || !fields.hasMember("inputsOmitted") else {
            throw BundleError.badManifest("the number of omitted inputs is out of range")
        }
        self.init(entries: entries, omittedCount: omittedCount ?? 0)
    }
}

// MARK: - BundleInput

/// An input of a bundle, as the manifest of the bundle describes it.
///
/// Source: "Bundle", "Inputs".
public struct BundleInput: Sendable, Equatable {
    /// The kind of an input.
    public enum Kind: String, Sendable, CaseIterable {
        /// A folder that was copied from a device.
        case folder
        /// An archive of a folder that was copied from a device, or of a backup.
        case archive
        /// A backup of a phone.
        case backup
        /// A request log.
        case log
        /// A single file of a telemetry store.
        case store
        /// A bundle.
        case bundle
    }

    /// The kind of the input.
    public let kind: Kind
    /// The label of the input in records, or `nil` if the records have pseudonyms.
    public let label: String?
    /// The SHA-256 hash of the input.
    ///
    /// It is `nil` if the input is not a single file, if the file changed while it was read, or if the records have
    /// pseudonyms.
    public let sha256: ContentHash?
    /// The digest of the input, or `nil` if the input is not a bundle or the records have pseudonyms.
    public let digest: ContentHash?
    /// The filters of the command that made the input, or `nil` if the input is not a bundle that was made with filters.
    public let filters: BundleFilters?
    /// The inputs from which the input was created, or `nil` if the input is not a bundle that lists its inputs.
    public let inputs: BundleInputs?

    /// Returns a copy of the input with another list of nested inputs.
    fileprivate func replacingInputs(with inputs: BundleInputs?) -> BundleInput {
        BundleInput(kind: kind, label: label, sha256: sha256, digest: digest, filters: filters, inputs: inputs)
    }

    /// A copy of the input with only its kind and its filters, which contain no client ids.
    public var anonymized: BundleInput {
        BundleInput(
            kind: kind, label: nil, sha256: nil, digest: nil, filters: filters?.withoutClientIDs, inputs: nil)
    }

    /// Whether the input has no label, no hashes, no client ids and no nested inputs.
    var isAnonymous: Bool { self == anonymized }

    /// Whether the input has the label and the digest that bundles without pseudonyms require.
    var isIdentified: Bool { label != nil && (kind == .bundle) == (digest != nil) }

    /// The input as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        if let digest { object.set("digest", digest.hex) }
        if let filters { object.set("filters", filters.json) }
        if let inputs { inputs.add(to: &object) }
        object.set("kind", kind.rawValue)
        if let label { object.set("label", label) }
        if let sha256 { object.set("sha256", sha256.hex) }
        return object
    }
}

extension BundleInput {
    /// Creates an input without a digest and without nested inputs.
    public init(kind: Kind, label: String? = nil, sha256: ContentHash? = nil) {
        self.init(kind: kind, label: label, sha256: sha256, digest: nil, filters: nil, inputs: nil)
    }

    /// Creates an input that is a bundle with the given manifest.
    public init(bundle manifest: Manifest, label: String) {
        let digest = ContentHash(hex: manifest.digest)
        self.init(
            kind: .bundle, label: label, sha256: nil, digest: digest, filters: manifest.filters,
            inputs: manifest.inputs)
    }
}

extension BundleInput {
    /// Returns whether inputs of `kind` are single files and can have a hash.
    private static func isSingleFile(_ kind: Kind) -> Bool {
        switch kind {
        case .archive, .log, .store: true
        case .folder, .backup, .bundle: false
        }
    }

    /// Creates an input from an entry of a manifest.
    ///
    /// `level` is the nesting level of the entry, starting at 1.
    fileprivate init(_ fields: JSONFields, level: Int, budget: inout InputBudget) throws(BundleError) {
        guard let kind = fields.text("kind").flatMap(Kind.init) else {
            throw BundleError.badManifest("an input has an unknown kind")
        }
        let inputs = try BundleInputs(fields, level: level + 1, budget: &budget)
        self.init(
            kind: kind, label: fields.text("label"), sha256: fields.text("sha256").flatMap(ContentHash.init(hex:)),
            digest: fields.text("digest").flatMap(ContentHash.init(hex:)), filters: try BundleFilters(fields),
            inputs: inputs)
        // Other invalid JSON members are detected later, when the manifest is compared with its canonical form.
        guard kind == .bundle || digest == nil && filters == nil && inputs == nil,
            Self.isSingleFile(kind) || sha256 == nil
        else {
            throw BundleError.badManifest(
                "an input of the kind \(kind) has a hash, filters or inputs, which it cannot have")
        }
        guard isIdentified || isAnonymous else {
            throw BundleError.badManifest("an input has no label, or an input that is a bundle has no digest")
        }
    }
}

/// The number of inputs and the number of bytes in labels and filters that a manifest can still list.
///
/// Without limits, the manifests of bundles that are merged repeatedly would grow indefinitely.
///
/// Source: "Bundle", "Inputs".
private struct InputBudget {
    /// The maximum nesting level of inputs.
    ///
    /// The inputs of the bundle itself have level 1.
    static let maxDepth = 8
    /// The maximum number of inputs on all levels.
    static let maxInputCount = 4096
    /// The maximum total length, in bytes, of all labels and filters.
    static let maxLabelBytes = 1 << 20

    private var budget = WorkBudget(nodes: maxInputCount, bytes: maxLabelBytes)

    /// Reserves space for an input, or returns `false` if the input exceeds a limit.
    mutating func reserve(_ input: BundleInput) -> Bool {
        budget.reserve(nodes: 1, bytes: (input.label?.utf8.count ?? 0) + (input.filters?.byteCount ?? 0))
    }

    /// Returns the sum of two counts, limited to ``CountRange/maximum``.
    static func clampedSum(_ left: Int, _ right: Int) -> Int {
        min(left.addingSaturated(right), CountRange.maximum)
    }
}

// MARK: - BundleFilters

/// The filters of the command that made a bundle, which therefore can lack records of its inputs.
///
/// Source: "Bundle", "Filters".
public struct BundleFilters: Sendable, Equatable {
    /// The names of the options that filter records.
    ///
    /// They are also the keys of the JSON object.
    private enum Name: String, CaseIterable { case client, since, system, type, until, uploadable }

    /// The accepted values of each option, sorted by their bytes, or an empty array for values that are not stated.
    private var values: [Name: [CapturedText]] = [:]

    /// Creates the filters of a command, or returns `nil` if `filter` accepts all records.
    ///
    /// Client ids are stated in lowercase.
    public init?(_ filter: RecordFilter) {
        let given: [Name: [CapturedText]] = [
            .client: filter.clients.sorted().map(\.lowercased), .type: filter.types.sorted(),
            .system: filter.systems.map { CapturedText($0.description) }.sorted(),
            .since: [filter.since].compactMap { $0.map { CapturedText($0.description) } },
            .until: [filter.until].compactMap { $0.map { CapturedText($0.description) } },
        ]
        values = given.filter { !$0.value.isEmpty }
        if filter.uploadableOnly { values[.uploadable] = [] }
        if values.isEmpty { return nil }
    }

    /// A copy that states that clients were selected, but not which ones.
    ///
    /// It is for bundles with pseudonyms, which must not contain client ids.
    public var withoutClientIDs: BundleFilters {
        var filters = self
        if values[.client] != nil { filters.values[.client] = [] }
        return filters
    }

    /// Whether the filters state that clients were selected, but not which ones.
    var hidesClientIDs: Bool { values[.client]?.isEmpty == true }

    /// The number of bytes in all values.
    var byteCount: Int { values.values.joined().reduce(0) { $0 + $1.utf8.count } }

    /// The options of the command in the order of their names, such as `--system mozilla --type core`.
    public var description: String {
        Name.allCases.filter { values[$0] != nil }.flatMap { name in
            let values = values[name] ?? []
            return values.isEmpty ? ["--\(name.rawValue)"] : values.map { "--\(name.rawValue) \($0)" }
        }.joined(separator: " ")
    }

    /// The filters as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        for name in Name.allCases {
            guard let values = values[name] else { continue }
            let key = JSONKey(name.rawValue)
            switch name {
            case .client, .system, .type: object.set(key, values.map(\.string))
            case .since, .until: object.set(key, values.first?.string)
            case .uploadable: object.set(key, true)
            }
        }
        return object
    }
}

extension BundleFilters {
    /// Creates the filters from a JSON object of a manifest, or returns `nil` if the object has no filters.
    ///
    /// Other invalid members are detected later, when the manifest is compared with its canonical form.
    init?(_ fields: JSONFields) throws(BundleError) {
        guard fields.hasMember("filters") else { return nil }
        guard let filters = fields.object("filters") else { throw .badManifest("its filters are not an object") }
        for name in Name.allCases where filters.hasMember(JSONKey(name.rawValue)) {
            guard let values = Self.values(of: name, in: filters) else {
                throw .badManifest("the filter \(name.rawValue) has another type or order")
            }
            self.values[name] = values
        }
        guard !values.isEmpty else { throw .badManifest("its filters are empty") }
    }

    private static func values(of name: Name, in filters: JSONFields) -> [CapturedText]? {
        let key = JSONKey(name.rawValue)
        switch name {
        case .client, .system, .type:
            let texts = filters.texts(key)?.map { CapturedText($0) }
            // Only client ids can be hidden.
            guard let texts, name == .client || !texts.isEmpty else { return nil }
            return zip(texts, texts.dropFirst()).allSatisfy { $0 < $1 } ? texts : nil
        case .since, .until:
            guard let time = filters.text(key).flatMap({ Timestamp(rfc3339: $0) }) else { return nil }
            return [CapturedText(time.description)]
        case .uploadable: return filters.boolean(key) == true ? [] : nil
        }
    }
}
