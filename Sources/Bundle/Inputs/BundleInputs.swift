import JSONText

/// The inputs of a bundle in the given order.
///
/// Inputs beyond a limit are only counted.
///
/// Source: "Bundle", "Inputs".
public struct BundleInputs: Sendable, Equatable {
    /// The inputs that are listed.
    public let entries: [BundleInput]
    /// The number of inputs that are not listed, including inputs of inputs.
    public let omitted: Int

    /// Creates a list of inputs and nested inputs, up to the limits of a manifest.
    ///
    /// Nested inputs are listed in breadth-first order. The inputs beyond the limits are only counted.
    public init(_ given: some Collection<BundleInput>) {
        var selection = InputSelection()
        let top = selection.select(given)
        selection.selectNestedInputs()
        entries = selection.entries(top)
        omitted = selection.omitted(of: given, listed: top.count, besides: 0)
    }

    /// The total number of inputs, including nested inputs and inputs that are not listed.
    var total: Int {
        entries.reduce(omitted) { InputBudget.clampedSum($0, InputBudget.clampedSum(1, $1.inputs?.total ?? 0)) }
    }

    /// Adds the list to the JSON object of a manifest or of an input.
    func add(to object: inout CanonicalObject) {
        object.set("inputs", elements: entries.map(\.json.bytes))
        if omitted > 0 { object.set("inputsOmitted", integer: omitted) }
    }
}

// MARK: - InputSelection

/// Selects the inputs to list in breadth-first order.
private struct InputSelection {
    private var selected: [(input: BundleInput, level: Int, below: Range<Int>)] = []
    private var budget = InputBudget()
    private var isFull = false

    /// Selects inputs until a limit is reached, and returns the indices of the selected inputs.
    mutating func select(_ inputs: some Collection<BundleInput>, level: Int = 1) -> Range<Int> {
        let start = selected.count
        for input in inputs {
            if !budget.reserve(input) { isFull = true }
            if isFull { break }
            selected.append((input, level, 0..<0))
        }
        return start..<selected.count
    }

    /// Selects the nested inputs of all selected bundles.
    mutating func selectNestedInputs() {
        var place = 0
        while place < selected.count, !isFull {
            let (input, level, _) = selected[place]
            if level < InputBudget.maxDepth {
                selected[place].below = select(input.inputs?.entries ?? [], level: level + 1)
            }
            place += 1
        }
    }

    /// Returns the selected inputs at the given indices, including their selected nested inputs.
    func entries(_ places: Range<Int>) -> [BundleInput] {
        selected[places].map { input, _, below in
            guard let inputs = input.inputs else { return input }
            let left = omitted(of: inputs.entries, listed: below.count, besides: inputs.omitted)
            return input.replacingInputs(with: BundleInputs(entries: entries(below), omitted: left))
        }
    }

    /// Returns the number of inputs after the first `listed` ones, including nested inputs, plus `omitted`.
    func omitted(of inputs: some Collection<BundleInput>, listed: Int, besides omitted: Int) -> Int {
        BundleInputs(entries: Array(inputs.dropFirst(listed)), omitted: omitted).total
    }
}

extension BundleInputs {
    fileprivate init(entries: [BundleInput], omitted: Int) {
        self.entries = entries
        self.omitted = omitted
    }
}

// MARK: - Reading

extension BundleInputs {
    /// Creates the list from a manifest, or returns `nil` if the manifest has no list.
    init?(ofManifest fields: JSONFields, isPseudonymized: Bool) throws(BundleError) {
        var budget = InputBudget()
        guard let inputs = try BundleInputs(fields, level: 1, budget: &budget) else { return nil }
        guard inputs.entries.allSatisfy({ isPseudonymized ? $0.isAnonymous : $0.isIdentified }) else {
            throw BundleError.badManifest(
                "inputs are named where the records have pseudonyms, or are not where they have none")
        }
        self = inputs
    }

    /// Creates a list from a JSON object of a manifest, or returns `nil` if the object has no list.
    init?(_ fields: JSONFields, level: Int, budget: inout InputBudget) throws(BundleError) {
        guard let list = fields.objects("inputs") else { return nil }
        guard list.isEmpty || level <= InputBudget.maxDepth else {
            throw BundleError.badManifest("inputs of inputs on more than \(InputBudget.maxDepth) levels")
        }
        var entries: [BundleInput] = []
        for fields in list {
            let input = try BundleInput(fields, level: level, budget: &budget)
            guard budget.reserve(input) else {
                throw BundleError.badManifest(
                    "more than \(InputBudget.maxInputs) inputs, or \(InputBudget.maxLabelBytes) bytes of labels")
            }
            entries.append(input)
        }
        let omitted = fields.integer("inputsOmitted") ?? 0
        guard (0...InputBudget.maxOmitted).contains(omitted) else {
            throw BundleError.badManifest("a number of inputs that cannot be")
        }
        self.init(entries: entries, omitted: omitted)
    }
}
