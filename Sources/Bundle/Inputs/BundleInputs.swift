import JSONText

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
        object.set("inputs", elements: entries.map(\.json.bytes))
        if omittedCount > 0 { object.set("inputsOmitted", integer: omittedCount) }
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

// MARK: - Reading

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
    init?(_ fields: JSONFields, level: Int, budget: inout InputBudget) throws(BundleError) {
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
