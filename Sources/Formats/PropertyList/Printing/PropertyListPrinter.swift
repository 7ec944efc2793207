import JSONText

/// Writes a property list, or the object graph of a keyed archive, as JSON for people to read.
///
/// The text comes in pieces, so that it may be longer than memory: call ``write(atLeast:to:)`` until it returns false.
///
/// | in the file | in JSON |
/// | --- | --- |
/// | text, number, boolean, array, dictionary | as such; keys in the order of the file unless they are to be sorted |
/// | nil, `NSNull` | `null` |
/// | date | RFC 3339 in UTC |
/// | data | `{"$data": "base64"}`, with `"$holds"` where it is a property list itself |
/// | UUID, URL, decimal number | text, resolved text, exact number |
/// | real that JSON lacks | `{"$real": "nan"}`, `"inf"`, `"-inf"` |
/// | set, ordered set | array |
/// | dictionary with keys that are no text | `{"$entries": [[key, value], …]}` |
/// | instance of another class | `{"$class": "Name", …}` and its members |
/// | what contains itself, or is shared too often or nested too deep to be written again | `{"$ref": 12}`, the number being that of the object: the place in `$objects` of an archive, the object number of the file otherwise |
/// | what is broken | `{"$error": "code: reason at byte 123"}` |
/// | UID outside of an archive | `{"CF$UID": 12}` |
public struct PropertyListPrinter: Sendable {
    /// How to write.
    public struct Options: Sendable {
        /// Whether an archive is written as the property list that it is.
        public var isRaw = false
        /// Whether property lists in data are written too.
        public var opensNested = false
        /// Whether everything goes on one line.
        public var isCompact = false
        /// Whether the keys of each object are sorted by their UTF-8 bytes.
        public var sortsKeys = false

        /// Makes the options by default.
        public init() {}
    }

    /// Something worth telling about the file.
    public struct Warning: Equatable, Sendable {
        /// The fault.
        public let error: PropertyListError
        /// Whether something of the file is missing in the output.
        public let isLoss: Bool
    }

    /// How many levels of values are written.
    public static let depthLimit = 512
    /// How many levels of property lists in data are opened.
    static let nestingLimit = 8
    private static let warningLimit = 100

    let options: Options
    let limits: PropertyListLimits
    /// The property list, and those in its data that are being written.
    var sources: [PrintedSource]
    /// How many values of the outermost list may be written again.
    var allowance: Int
    /// How many values may come of property lists in data, all told: more than a file has room for, if none is shared.
    var nestedAllowance: Int
    var frames: [PrintedFrame] = []
    private var isStarted = false
    /// What is worth telling of what was written so far; at most a hundred, and how many there were.
    public private(set) var warnings: [Warning] = []
    /// How many warnings there were.
    public private(set) var warningCount = 0
    /// Whether something of the file is missing in the output.
    public private(set) var isLossy = false

    /// Begins at the root of a document; nothing is written yet.
    /// - Throws: ``PropertyListError`` if it begins like a keyed archive and is none.
    public init(
        _ document: PropertyListDocument, options: Options = Options(),
        limits: PropertyListLimits = PropertyListLimits()
    ) throws(PropertyListError) {
        self.options = options
        self.limits = limits
        sources = [try PrintedSource(document, isRaw: options.isRaw)]
        allowance = document.expansionLimit
        nestedAllowance = document.sourceLength + 100_000
    }

    /// Appends a piece of the text.
    /// - Returns: whether there is more.
    public mutating func write(atLeast count: Int, to output: inout [UInt8]) -> Bool {
        if !isStarted {
            isStarted = true
            writeRoot(of: 0, to: &output)
        }
        while let place = frames.indices.last {
            if output.count >= count { return true }
            writeNext(of: place, to: &output)
        }
        output.append(UInt8(ascii: "\n"))
        return false
    }

    mutating func warn(_ error: PropertyListError, isLoss: Bool) {
        isLossy = isLossy || isLoss
        let warning = Warning(error: error, isLoss: isLoss)
        // The same fault can be met in many places.
        guard warnings.last != warning, !warnings.contains(warning) else { return }
        warningCount += 1
        if warnings.count < Self.warningLimit { warnings.append(warning) }
    }

    /// Writes the outermost value of a property list: of an archive the root, or all that was encoded if it has other
    /// names.
    mutating func writeRoot(of source: Int, to output: inout [UInt8]) {
        let document = sources[source].document
        if let repeated = document.repeatedKeys { warn(repeated, isLoss: true) }
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
    /// Nil if it is no archive, or to be written as it is.
    var archive: KeyedArchive?
    /// Whether each object was written so far.
    var states: [State]

    enum State: UInt8, Sendable {
        case new, written, open
    }

    init(_ document: PropertyListDocument, isRaw: Bool) throws(PropertyListError) {
        self.document = document
        states = Array(repeating: .new, count: document.objectCount)
        guard !isRaw else { return }
        do throws(PropertyListError) {
            archive = try KeyedArchive(document)
        } catch {
            guard error.code == .notKeyedArchive else { throw error }
        }
    }
}

/// An array or object of which a part is written.
struct PrintedFrame: Sendable {
    enum Contents: Sendable {
        /// An array of the container; in an archive, of references.
        case elements(PropertyListElements)
        /// A dictionary of the container, the members of an instance, or `$top`.
        case members(PropertyListMembers)
        /// Elements of a collection.
        case collection(KeyedElements)
        /// A dictionary all of whose keys are text.
        case pairs(KeyedPairs)
        /// Another dictionary: an array of pairs.
        case entries(KeyedPairs)
        /// A key and a value.
        case entry(key: PropertyListNode, value: PropertyListNode)
        /// A property list in data.
        case nested
    }

    let contents: Contents
    let source: Int
    /// The object that must not be met again before the frame is closed.
    let object: PropertyListNode?
    /// The name of the class, for an instance.
    var className: PropertyListNode?
    /// The positions of the members in the order to write them, where it is not that of the file.
    var order: [Int]?
    /// How many of the contents were looked at.
    var position = 0
    /// Whether something was written.
    var isBegun = false

    init(_ contents: Contents, source: Int, object: PropertyListNode?) {
        self.contents = contents
        self.source = source
        self.object = object
    }

    /// Whether it is written in braces.
    var isObject: Bool {
        switch contents {
        case .members, .pairs, .nested: true
        case .elements, .collection, .entries, .entry: false
        }
    }

    /// How many things it holds in the file.
    var count: Int {
        if let order { return order.count }
        return switch contents {
        case .elements(let elements): elements.count
        case .members(let members): members.count
        case .collection(let elements): elements.count
        case .pairs(let pairs), .entries(let pairs): pairs.count
        case .entry: 2
        case .nested: 1
        }
    }
}
