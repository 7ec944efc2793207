import JSONText

/// The inputs that a bundle was made of, in the order given, and how many are not listed.
///
/// Source: "Bundle", "Inputs".
public struct GivenInputs: Sendable, Equatable {
    /// Those that are listed.
    public let entries: [GivenInput]
    /// How many others there were, on this level and below.
    public let omitted: Int

    /// Lists what was given, and below each bundle what that was made of: level by level, as much as a manifest holds. All
    /// that follows is counted.
    /// - Parameter given: in the order given.
    public init(_ given: some Collection<GivenInput>) {
        var selection = InputSelection()
        let top = selection.select(given)
        selection.selectNestedInputs()
        entries = selection.entries(top)
        omitted = selection.omitted(of: given, listed: top.count, besides: 0)
    }

    /// How many inputs there are with those of bundles among them, listed or not.
    var total: Int {
        entries.reduce(omitted) { InputBudget.clampedSum($0, InputBudget.clampedSum(1, $1.inputs?.total ?? 0)) }
    }

    /// Adds the list to the object that it belongs to: a manifest, or an input that is a bundle.
    func add(to object: inout CanonicalObject) {
        object.set("inputs", elements: entries.map(\.json.bytes))
        if omitted > 0 { object.set("inputsOmitted", integer: omitted) }
    }
}

// MARK: - InputSelection

/// The choice of the inputs that are listed, as a queue: those of one level stand before those of the next.
private struct InputSelection {
    private var selected: [(input: GivenInput, level: Int, below: Range<Int>)] = []
    private var budget = InputBudget()
    private var isFull = false

    /// Chooses inputs until one has no room; none after that.
    /// - Returns: their places.
    mutating func select(_ inputs: some Collection<GivenInput>, level: Int = 1) -> Range<Int> {
        let start = selected.count
        for input in inputs {
            if !budget.reserve(input) { isFull = true }
            if isFull { break }
            selected.append((input, level, 0..<0))
        }
        return start..<selected.count
    }

    /// Goes through all that was selected, and chooses what that was made of.
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

    /// The inputs at some places, each with what was selected below it.
    func entries(_ places: Range<Int>) -> [GivenInput] {
        selected[places].map { input, _, below in
            guard let inputs = input.inputs else { return input }
            let left = omitted(of: inputs.entries, listed: below.count, besides: inputs.omitted)
            return input.replacingInputs(with: GivenInputs(entries: entries(below), omitted: left))
        }
    }

    /// How many inputs are not listed of some, with all below those.
    func omitted(of inputs: some Collection<GivenInput>, listed: Int, besides omitted: Int) -> Int {
        GivenInputs(entries: Array(inputs.dropFirst(listed)), omitted: omitted).total
    }
}

extension GivenInputs {
    fileprivate init(entries: [GivenInput], omitted: Int) {
        self.entries = entries
        self.omitted = omitted
    }
}

// MARK: - Reading

extension GivenInputs {
    /// Reads the inputs of a manifest.
    /// - Parameter isPseudonymized: whether nothing may tell whose they are.
    /// - Returns: nil where it has none.
    /// - Throws: ``BundleError`` for what has not the form, or is more than a manifest holds.
    init?(ofManifest fields: JSONFields, isPseudonymized: Bool) throws(BundleError) {
        var budget = InputBudget()
        guard let inputs = try GivenInputs(fields, level: 1, budget: &budget) else { return nil }
        guard inputs.entries.allSatisfy({ isPseudonymized ? $0.isAnonymous : $0.isIdentified }) else {
            throw BundleError.badManifest(
                "inputs are named where the records have pseudonyms, or are not where they have none")
        }
        self = inputs
    }

    /// Reads the inputs of a manifest, or of a bundle named in one.
    /// - Returns: nil where there is no list.
    init?(_ fields: JSONFields, level: Int, budget: inout InputBudget) throws(BundleError) {
        guard let list = fields.objects("inputs") else { return nil }
        guard list.isEmpty || level <= InputBudget.maxDepth else {
            throw BundleError.badManifest("inputs of inputs on more than \(InputBudget.maxDepth) levels")
        }
        var entries: [GivenInput] = []
        for fields in list {
            let input = try GivenInput(fields, level: level, budget: &budget)
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
