/// An error that states why bytes are not a valid property list or keyed archive.
///
/// Source of the codes: <doc:KeyedArchives>, D.1.
public struct PropertyListError: Error, Equatable, Sendable {
    /// The kind of fault.
    public let code: Code
    /// The byte offset of the fault in the source.
    public let offset: Int
    /// A description of the fault.
    public let reason: String
    /// Whether the bytes are in the OpenStep text format, which Apple's readers accept.
    public internal(set) var isOpenStepText = false

    /// The kinds of fault, whose raw values appear in reports.
    public enum Code: String, Sendable, CaseIterable {
        /// The file is empty.
        case empty
        /// A file that is neither a binary nor an XML property list.
        case notPlist = "not-plist"
        /// A binary property list whose version is not 00.
        case unsupportedVersion = "unsupported-version"
        /// The file is shorter than the shortest binary property list.
        case truncated
        /// A trailer that contradicts itself or the length of the file.
        case badTrailer = "bad-trailer"
        /// An entry of the offset table that points outside the objects.
        case badOffset = "bad-offset"
        /// A reference to an object that does not exist in the file.
        case badReference = "bad-reference"
        /// A marker byte that version 00 does not define.
        case badMarker = "bad-marker"
        /// An object that does not fit in front of the offset table.
        case badLength = "bad-length"
        /// A byte above 0x7F in an ASCII string.
        case badString = "bad-string"
        /// A UID above 4294967295.
        case badUID = "bad-uid"
        /// A dictionary key that is not a string.
        case badKeyType = "bad-key-type"
        /// A key that occurs more than once in a dictionary.
        case duplicateKey = "duplicate-key"
        /// An array or dictionary that contains itself.
        case containerCycle = "container-cycle"
        /// XML that is not a property list.
        case xmlSyntax = "xml-syntax"
        /// XML that declares an entity.
        case xmlEntity = "xml-entity"
        /// The source has more bytes than allowed.
        case tooLarge = "too-large"
        /// Values are nested deeper than allowed.
        case tooDeep = "too-deep"
        /// A property list that is not a keyed archive.
        case notKeyedArchive = "not-keyed-archive"
        /// A keyed archive whose version is not 100000.
        case badArchiveVersion = "bad-archive-version"
        /// A keyed archive whose `$top` or `$objects` is missing or invalid.
        case badArchiveStructure = "bad-archive-structure"
        /// A keyed archive whose `$top` has no `root`.
        case missingRoot = "missing-root"
        /// A root that does not have the expected type.
        case wrongRoot = "wrong-root"
        /// A UID beyond the objects of the archive.
        case uidOutOfRange = "uid-out-of-range"
        /// An instance whose class record is missing or invalid.
        case badClass = "bad-class"
        /// A collection whose members are missing or inconsistent.
        case badCollection = "bad-collection"
        /// A member whose type is not used by its class.
        case badValue = "bad-value"
        /// A value that contains itself.
        case graphCycle = "graph-cycle"
        /// An instance that does not have the expected class.
        case wrongClass = "wrong-class"
        /// An event that would be rejected by the SDK that stored it.
        case eventSkipped = "event-skipped"
        /// Shared values expand to more values than allowed, or objects overlap too much.
        case budgetExceeded = "budget-exceeded"
    }

    /// Creates an error.
    public init(_ code: Code, at offset: Int, _ reason: String) {
        self.code = code
        self.offset = offset
        self.reason = reason
    }

    /// Creates an error for malformed XML.
    static func syntax(_ reason: String, at offset: Int) -> PropertyListError {
        PropertyListError(.xmlSyntax, at: offset, reason)
    }
}

extension PropertyListError: CustomStringConvertible {
    /// The code and the reason, followed by the offset unless the fault concerns the whole file.
    public var description: String {
        let words = "\(code.rawValue): \(reason)"
        return code == .empty || code == .notPlist ? words : "\(words) at byte \(offset)"
    }
}

extension PropertyListDocument {
    /// Creates an error at the offset of `node`.
    func error(_ code: PropertyListError.Code, at node: PropertyListNode, _ reason: String) -> PropertyListError {
        PropertyListError(code, at: offset(of: node), reason)
    }
}
