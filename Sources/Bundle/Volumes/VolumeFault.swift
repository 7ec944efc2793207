import Hashing

/// A fault in a volume of a bundle, or in the list of its volumes.
public struct VolumeFault: Sendable, Equatable {
    /// The kind of a fault.
    public enum Kind: Sendable, Equatable {
        /// The volume does not exist in the folder of the other volumes.
        case missing
        /// The volume has the given size in bytes, which differs from the expected size.
        case length(Int, expected: Int)
        /// The volume has the bytes of the given other volume, which is missing or has different bytes.
        case swapped(with: String)
        /// The volume has the same bytes as the given other volume.
        case duplicate(of: String)
        /// The hash of the volume differs from the hash in the list.
        case changed
        /// The volume is not in the list.
        case unlisted
        /// A frame that starts at `offset` in the volume cannot be read.
        ///
        /// `through` is the name of the volume in which the frame ends, or `nil` if it is the same volume.
        case damaged(offset: Int, through: String?, reason: String)
        /// The list of volumes cannot be parsed for the given reason.
        case badList(String)
    }

    /// The last component of the path of the volume or of the list.
    public let name: String
    /// The kind of the fault.
    public let kind: Kind

    init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// A stable code that identifies the kind of the fault in JSON.
    public var code: String {
        switch kind {
        case .missing: "missing"
        case .length: "wrong-length"
        case .swapped: "swapped"
        case .duplicate: "doubled"
        case .changed: "changed"
        case .unlisted: "unlisted"
        case .damaged: "damaged"
        case .badList: "bad-list"
        }
    }

    /// A description of the fault.
    public var text: String {
        switch kind {
        case .missing: "\(name) is missing"
        case .length(let size, let expected): "\(name) has \(size) bytes, not \(expected)"
        case .swapped(let other): "\(name) has the contents of \(other)"
        case .duplicate(let other): "\(name) is a copy of \(other)"
        case .changed: "\(name) is damaged or belongs to another bundle: its contents do not match the list of volumes"
        case .unlisted: "\(name) is not in the list of the volumes"
        case .damaged(let offset, nil, let reason): "\(name) at byte \(offset): \(reason)"
        case .damaged(let offset, let last?, let reason):
            "\(name) from byte \(offset), or a later volume up to \(last): \(reason)"
        case .badList(let reason): "\(name): \(reason)"
        }
    }
}

// MARK: - Finding faults

extension VolumeFault {
    /// Returns the faults that are detected from the numbers and sizes of the existing volumes.
    ///
    /// All volumes up to the last one must exist, and all except the last one must have the same size. `listedCount` is
    /// the number of volumes in the list, or `nil` if there is no list.
    static func sizeFaults(in sizes: [(number: Int, size: Int)], of bundle: String, listedCount: Int?) -> [VolumeFault]
    {
        let last = listedCount ?? sizes.last?.number ?? 0
        let expected = mostFrequentSize(of: sizes, last: last)
        let present = Dictionary(sizes.map { ($0.number, $0.size) }) { first, _ in first }
        let unlisted = sizes.map(\.number).filter { $0 > last }
        return (Array(1...max(last, 1)) + unlisted).compactMap { number in
            let name = VolumeName(of: bundle, number: number).name
            guard let size = present[number] else { return VolumeFault(name, .missing) }
            guard number <= last else { return VolumeFault(name, .unlisted) }
            let isExpected = number < last ? size == expected : size > 0 && size <= expected
            return isExpected ? nil : VolumeFault(name, .length(size, expected: expected))
        }
    }

    /// Returns the most frequent size of the volumes before the last one.
    ///
    /// If several sizes are equally frequent, returns the largest.
    private static func mostFrequentSize(of sizes: [(number: Int, size: Int)], last: Int) -> Int {
        var counts: [Int: Int] = [:]
        for volume in sizes where volume.number < last { counts[volume.size, default: 0] += 1 }
        let usual = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }
        let lastSize = sizes.last?.size ?? 0
        // A size that occurs only once can be too small, so the size of the last volume is used if it is larger.
        return usual.map { $0.value > 1 ? $0.key : max($0.key, lastSize) } ?? max(lastSize, 1)
    }

    /// Returns the faults that are found by comparing the hashes of the existing volumes with the list.
    static func hashFaults(in hashes: [ContentHash], of names: [VolumeName], list: VolumeList) -> [VolumeFault] {
        func matchesList(_ index: Int) -> Bool {
            list.hashes.indices.contains(names[index].number - 1)
                && list.hashes[names[index].number - 1] == hashes[index]
        }
        return names.indices.compactMap { index in
            guard !matchesList(index) else { return nil }
            let name = names[index].name
            guard let other = list.hashes.firstIndex(of: hashes[index]) else { return VolumeFault(name, .changed) }
            let owner = VolumeName(of: names[index].bundlePath, number: other + 1)
            let ownerMatchesList = names.firstIndex(of: owner).map(matchesList) ?? false
            return VolumeFault(name, ownerMatchesList ? .duplicate(of: owner.name) : .swapped(with: owner.name))
        }
    }
}
