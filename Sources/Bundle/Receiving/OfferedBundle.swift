import Bytes
import Files

/// The files of a medium that is not trusted, grouped by the bundles to which they belong.
public struct MediumContents: Sendable {
    /// The bundles in the order of the bytes of their names.
    public private(set) var bundles: [OfferedBundle] = []
    /// The names of the entries that belong to no bundle, in the order of their bytes.
    public private(set) var otherNames: [String] = []

    /// Lists the entries of the folder, without opening any of them.
    public init(of medium: borrowing Folder) throws(FileError) {
        let listed = try medium.entries().map { (name: $0.text, kind: $0.kind) }
            .sorted { CapturedText($0.name) < CapturedText($1.name) }
        var groups: [CapturedText: OfferedBundle] = [:]
        var rest: [(name: String, kind: FolderEntry.Kind)] = []
        for entry in listed {
            guard let (bundle, role) = OfferedBundle.role(ofFile: entry.name) else {
                rest.append(entry)
                continue
            }
            groups[bundle, default: OfferedBundle(name: bundle.string)].add(entry.name, entry.kind, as: role)
        }
        for entry in rest {
            // Of several bundles, whose names can begin with each other, a file belongs to the one with the longest name.
            let owner = groups.keys.filter { groups[$0]?.hasCompanion(entry.name) == true }.max {
                $0.utf8.count < $1.utf8.count
            }
            guard let owner else {
                otherNames.append(entry.name)
                continue
            }
            groups[owner]?.add(entry.name, entry.kind, as: entry.name.hasSuffix(".par2") ? .parity : .companion)
        }
        bundles = groups.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// The files of one bundle on a medium.
public struct OfferedBundle: Sendable, Equatable {
    /// The role of a file of a bundle.
    enum Role: Equatable {
        case bundle, list, signature, parity, companion
        case volume(Int)
    }

    /// The name of the bundle without a volume number, such as `night.tar.zst`.
    public let name: String
    /// Whether the whole bundle is one file.
    private(set) var isOneFile = false
    /// The numbers of the volumes in ascending order.
    private(set) var volumeNumbers: [Int] = []
    private(set) var hasList = false
    private(set) var hasSignature = false
    /// The names of the files with repair blocks.
    private(set) var parityNames: [String] = []
    /// The names of the receipts and time stamps that accompany the bundle.
    private(set) var companionNames: [String] = []
    /// The names of the entries that are not regular files, with their kinds.
    private(set) var irregularEntries: [IrregularEntry] = []

    /// An entry that is not a regular file.
    struct IrregularEntry: Sendable, Equatable {
        let name: String
        let kind: FolderEntry.Kind
    }

    fileprivate init(name: String) { self.name = name }

    /// The suffixes of receipts and time stamps, which follow the name of a bundle without `.tar.zst`.
    private static let companionSuffixes = [".json", ".json.sig", ".tsq", ".tsr"]

    /// Returns the bundle to which a file belongs by its name alone, and what the file is.
    fileprivate static func role(ofFile name: String) -> (bundle: CapturedText, Role)? {
        guard !name.hasPrefix(".") else { return nil }
        if name.hasSuffix(BundleFile.bundleSuffix) { return (CapturedText(name), .bundle) }
        if let volume = VolumeName(path: name), volume.bundlePath.hasSuffix(BundleFile.bundleSuffix) {
            return (CapturedText(volume.bundlePath), .volume(volume.number))
        }
        for (end, role) in [
            (VolumeName.listPath(of: ""), Role.list), (AllowedSigners.signaturePath(of: ""), .signature),
        ]
        where name.hasSuffix(BundleFile.bundleSuffix + end) {
            return (CapturedText(name.dropLast(end.count)), role)
        }
        return nil
    }

    /// Returns whether the file `name` is a receipt, a time stamp or a file of repair blocks of this bundle.
    func hasCompanion(_ name: String) -> Bool {
        let base = String(self.name.dropLast(BundleFile.bundleSuffix.count))
        let isParity = name.hasSuffix(".par2") && CapturedText(name).utf8.starts(with: "\(base).".utf8)
        return isParity || Self.companionSuffixes.contains { CapturedText(base + $0) == name }
    }

    fileprivate mutating func add(_ name: String, _ kind: FolderEntry.Kind, as role: Role) {
        guard kind == .file else { return irregularEntries.append(IrregularEntry(name: name, kind: kind)) }
        switch role {
        case .bundle: isOneFile = true
        case .volume(let number): volumeNumbers.append(number)
        case .list: hasList = true
        case .signature: hasSignature = true
        case .parity: parityNames.append(name)
        case .companion: companionNames.append(name)
        }
    }

    /// Throws an error unless the bundle exists in one form, and all its files are regular.
    func requireRegularFiles() throws(ReceivingError) {
        if let entry = irregularEntries.first { throw .irregular(entry.name, isLink: entry.kind == .link) }
        guard !isOneFile || volumeNumbers.isEmpty else { throw .ambiguous(name) }
    }

    /// Returns whether a file belongs to this bundle, also a copy that `par2` has renamed.
    func owns(_ file: String) -> Bool {
        if let (bundle, _) = Self.role(ofFile: file) { return bundle == name }
        return hasCompanion(file) || CapturedText(file).utf8.starts(with: "\(name).".utf8)
    }

    /// Returns whether a file is part of a bundle, or can be a file that accompanies one.
    static func isFileOfBundle(_ name: String) -> Bool {
        role(ofFile: name) != nil || companionSuffixes.contains { name.hasSuffix($0) }
    }

    var listName: String { VolumeName.listPath(of: name) }
    var signatureName: String { AllowedSigners.signaturePath(of: name) }

    /// The names of the file or of the volumes of the bundle, in order.
    var dataNames: [String] {
        isOneFile ? [name] : volumeNumbers.map { VolumeName(of: name, number: $0).name }
    }

    /// The name of the bundle or of its first volume.
    var firstName: String { isOneFile ? name : VolumeName(of: name, number: 1).name }

    /// The names of the files that are kept with the bundle: receipts, time stamps, the signature and the list of volumes.
    var accompanyingNames: [String] {
        companionNames + (hasSignature ? [signatureName] : []) + (hasList && !isOneFile ? [listName] : [])
    }
}
