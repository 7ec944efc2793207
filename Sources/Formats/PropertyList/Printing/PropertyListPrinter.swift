import Bytes
import JSONText

/// A writer of property lists, or of the object graphs of keyed archives, as JSON for people to read.
///
/// The output can be larger than memory. Call ``write(atLeast:to:)`` repeatedly until it returns `false`.
///
/// | Property list | JSON |
/// | --- | --- |
/// | string, number, boolean, array, dictionary | the same; keys are in the order of the file or sorted |
/// | nil, `NSNull` | `null` |
/// | date | string in RFC 3339 and UTC |
/// | data | `{"$data": "base64"}`, with `"$holds"` if the data is a property list |
/// | UUID, URL, decimal number | string, resolved string, exact number |
/// | real | number with a decimal point or an exponent, such as `1.0`, which distinguishes it from an integer |
/// | infinite real, real that is not a number | `{"$real": "nan"}`, `"inf"`, `"-inf"` |
/// | set, ordered set | array |
/// | dictionary with keys that are not strings | `{"$entries": [[key, value], …]}` |
/// | instance of another class | `{"$class": "Name", …}` with its members |
/// | value that contains itself, is shared too often, or is nested too deep | `{"$ref": 12}` with the index in `$objects` of an archive, or the object number in another property list |
/// | value of a masked key | `{"$masked": true}` |
/// | invalid value | `{"$error": "code: reason at byte 123"}` |
/// | rest of an output that exceeds the budget | an error, in an object as the member `$omitted` |
/// | UID outside of an archive | `{"CF$UID": 12}` |
public struct PropertyListPrinter: Sendable {
    /// The options of the output.
    public struct Options: Sendable {
        /// Whether a keyed archive is written as a plain property list.
        public var isRaw = false
        /// Whether property lists that are stored in data are written as values.
        public var opensNestedLists = false
        /// Whether the output is a single line.
        public var isCompact = false
        /// Whether the keys of each object are sorted by their UTF-8 bytes.
        public var sortsKeys = false
        /// The keys, as UTF-8, whose values are replaced by `{"$masked": true}`.
        ///
        /// The keys apply to the members of instances and dictionaries, even in property lists that are stored in data.
        /// If ``isRaw`` is `true`, they are ignored, because the table of objects of an archive contains values apart
        /// from their keys.
        public var maskedKeys: Set<[UInt8]> = []

        /// Creates the default options.
        public init() {}
    }

    /// A fault of the file that does not stop the output.
    public struct Warning: Equatable, Sendable {
        /// The fault.
        public let error: PropertyListError
        /// Whether a value of the file is missing from the output.
        public let isLoss: Bool
    }

    /// The maximum number of levels of values that are written.
    public static let depthLimit = 512
    /// The maximum nesting depth of property lists that are stored in data.
    static let nestingDepthLimit = 8
    private static let warningLimit = 100
    /// The size, in bytes, of the output that any property list may have.
    ///
    /// An element of an array can occupy a single byte and be written as a line with an indentation.
    private static let baseOutputSize = 32 << 20
    /// The number of bytes of output that are allowed for each byte of the source, in addition to `baseOutputSize`.
    private static let outputBytesPerSourceByte = 32

    let options: Options
    let limits: PropertyListLimits
    /// The keys whose values are masked, as UTF-8.
    let maskedKeys: [[UInt8]]
    /// The property lists that are being written, from the outermost to the innermost.
    var sources: [PrintedSource]
    /// The budget for shared values of the outermost property list that are written again, and for all output.
    public internal(set) var budget: WorkBudget
    /// The budget for values of property lists that are stored in data.
    var nestedBudget: WorkBudget
    /// Whether the output states that it is cut off because the budget is exhausted.
    var isCutOff = false
    var frames: [PrintedFrame] = []
    private var isStarted = false
    /// The distinct warnings so far, up to a maximum of 100.
    public private(set) var warnings: [Warning] = []
    /// The number of warnings so far, including warnings that ``warnings`` omits.
    public private(set) var warningCount = 0
    /// Whether a value of the file is missing from the output.
    public private(set) var isLossy = false
    /// The number of masked values so far.
    public internal(set) var maskedCount = 0

    /// Creates a printer for the root of a document.
    ///
    /// - Throws: ``PropertyListError`` if the document claims to be a keyed archive but is invalid.
    public init(
        _ document: PropertyListDocument, options: Options = Options(),
        limits: PropertyListLimits = PropertyListLimits()
    ) throws(PropertyListError) {
        self.options = options
        self.limits = limits
        maskedKeys = options.isRaw ? [] : Array(options.maskedKeys)
        sources = [try PrintedSource(document, isRaw: options.isRaw)]
        budget = WorkBudget(
            nodes: document.expansionLimit,
            bytes: Self.baseOutputSize + Self.outputBytesPerSourceByte * document.sourceLength)
        nestedBudget = WorkBudget(nodes: document.sourceLength + 100_000)
    }

    /// Appends output until `output` has at least `count` bytes, and returns whether there is more.
    public mutating func write(atLeast count: Int, to output: inout [UInt8]) -> Bool {
        var chargedCount = output.count
        if !isStarted {
            isStarted = true
            writeRoot(of: 0, to: &output)
        }
        while let index = frames.indices.last {
            budget.charge(bytes: output.count - chargedCount)
            chargedCount = output.count
            if output.count >= count { return true }
            writeNext(inFrame: index, to: &output)
        }
        output.append(UInt8(ascii: "\n"))
        return false
    }

    mutating func warn(_ error: PropertyListError, isLoss: Bool) {
        isLossy = isLossy || isLoss
        let warning = Warning(error: error, isLoss: isLoss)
        // The same fault can occur many times.
        guard warnings.last != warning, !warnings.contains(warning) else { return }
        warningCount += 1
        if warnings.count < Self.warningLimit { warnings.append(warning) }
    }

    /// Writes the outermost value of a property list, or the encoded values of a keyed archive.
    mutating func writeRoot(of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        if let repeated = document.repeatedKeys { warn(repeated, isLoss: true) }
        if let end = document.endFault { warn(end, isLoss: true) }
        guard let archive = sources[source].archive else { return write(document.root, of: source, to: &output) }
        let top = archive.top
        if top.count == 1, document.text(document.key(at: 0, of: top), equals: "root".utf8.span) {
            return write(document.value(at: 0, of: top), of: source, to: &output)
        }
        open(PrintedFrame(.members(top), source: source, object: nil), to: &output)
    }
}

/// A property list that is being written.
struct PrintedSource: Sendable {
    let document: PropertyListDocument
    /// The keyed archive, or `nil` if the property list is not an archive or is written as a plain property list.
    var archive: KeyedArchive?
    /// The progress of writing each object, by object number, or by offset if objects share offsets.
    private var states: [State]

    enum State: UInt8, Sendable {
        case new, written, open
        /// The object was written before, and it costs too much to write it again.
        case refused
    }

    subscript(state object: PropertyListNode) -> State {
        get { states[index(of: object)] }
        set { states[index(of: object)] = newValue }
    }

    private func index(of object: PropertyListNode) -> Int {
        document.layout.sharesOffsets ? Int(object.offset) : Int(object.number)
    }

    init(_ document: PropertyListDocument, isRaw: Bool) throws(PropertyListError) {
        self.document = document
        states = Array(repeating: .new, count: min(document.layout.objectCount, document.layout.tableOffset))
        guard !isRaw else { return }
        do throws(PropertyListError) {
            archive = try KeyedArchive(document)
        } catch {
            guard error.code == .notKeyedArchive else { throw error }
        }
    }
}

/// An array or object that is being written.
struct PrintedFrame: Sendable {
    enum Contents: Sendable {
        /// An array of the property list. In an archive, the elements are usually UIDs.
        case elements(PropertyListElements)
        /// A dictionary of the property list, the members of an instance, or `$top`.
        case members(PropertyListMembers)
        /// The elements of an array or set of an archive.
        case collection(KeyedElements)
        /// A dictionary of an archive whose keys are strings.
        case pairs(KeyedPairs)
        /// A dictionary of an archive whose keys are not all strings, written as an array of pairs.
        case entries(KeyedPairs)
        /// A key and its value in a dictionary whose keys are not all strings.
        case entry(key: PropertyListNode, value: PropertyListNode)
        /// A key and its masked value in a dictionary whose keys are not all strings.
        case maskedEntry(key: PropertyListNode)
        /// A property list that is stored in data.
        case nested
    }

    let contents: Contents
    let source: Int
    /// The object that is being written, or `nil` if its progress is not tracked.
    let object: PropertyListNode?
    var className: PropertyListNode?
    /// The positions of the elements or members in output order, or `nil` for the order of the file.
    var order: [Int]?
    /// The number of elements or members that have been processed.
    var position = 0
    /// Whether an element or a member has been written.
    var hasContents = false
    /// Whether each key is compared with the keys whose values are masked.
    var checksKeys = false

    init(_ contents: Contents, source: Int, object: PropertyListNode?) {
        self.contents = contents
        self.source = source
        self.object = object
    }

    /// Whether the contents are enclosed in braces.
    var isObject: Bool {
        switch contents {
        case .members, .pairs, .nested: true
        case .elements, .collection, .entries, .entry, .maskedEntry: false
        }
    }

    /// The total number of elements or members to process.
    var count: Int {
        if let order { return order.count }
        return switch contents {
        case .elements(let elements): elements.count
        case .members(let members): members.count
        case .collection(let elements): elements.count
        case .pairs(let pairs), .entries(let pairs): pairs.count
        case .entry, .maskedEntry: 2
        case .nested: 1
        }
    }
}
