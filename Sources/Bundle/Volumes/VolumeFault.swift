import Hashing

/// What is wrong with a volume of a bundle, or with the list of them.
public struct VolumeFault: Sendable, Equatable {
    /// The kinds of what can be wrong.
    public enum Kind: Sendable, Equatable {
        /// It is not beside the others.
        case missing
        /// It has not as many bytes as it has to have.
        case length(Int, expected: Int)
        /// It has the bytes of another one, which has not got them itself.
        case swapped(with: String)
        /// It has the bytes of another one, which has them too.
        case duplicate(of: String)
        /// Its bytes are not those that the list tells.
        case changed
        /// The list ends before it.
        case unlisted
        /// A frame that begins at an offset in it, and may end in another volume, cannot be read, for some reason.
        case damaged(offset: Int, through: String?, reason: String)
        /// It is the list, and cannot be read as one.
        case badList(String)
    }

    /// The last part of the path of the volume or of the list.
    public let name: String
    /// What is wrong with it.
    public let kind: Kind

    init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// A word for machines that stays.
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

    /// The fault in words.
    public var text: String {
        switch kind {
        case .missing: "\(name) is missing"
        case .length(let size, let expected): "\(name) has \(size) bytes, not \(expected)"
        case .swapped(let other): "\(name) has the bytes of \(other)"
        case .duplicate(let other): "\(name) has the bytes of \(other), which is there too"
        case .changed: "\(name) is damaged or of another bundle: its bytes are not those that the list tells"
        case .unlisted: "\(name) is not in the list of the volumes"
        case .damaged(let offset, nil, let reason): "\(name) at byte \(offset): \(reason)"
        case .damaged(let offset, let last?, let reason): "\(name) from byte \(offset) on, or \(last): \(reason)"
        case .badList(let reason): "\(name): \(reason)"
        }
    }
}

// MARK: - Finding faults

extension VolumeFault {
    /// What numbers and lengths tell: each volume up to the last has to be there, and all but the last have the same length.
    /// - Parameters:
    ///   - sizes: the numbers of the volumes that are there, in their order, and their sizes in bytes; at least one.
    ///   - bundle: the path of the bundle.
    ///   - listed: how many volumes the list has; nil where there is no list.
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
            let isRight = number < last ? size == expected : size > 0 && size <= expected
            return isRight ? nil : VolumeFault(name, .length(size, expected: expected))
        }
    }

    /// The size that most volumes before the last one have; of sizes that are as frequent, the largest.
    private static func mostFrequentSize(of sizes: [(number: Int, size: Int)], last: Int) -> Int {
        var counts: [Int: Int] = [:]
        for volume in sizes where volume.number < last { counts[volume.size, default: 0] += 1 }
        let usual = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }
        let end = sizes.last?.size ?? 0
        // One volume alone tells nothing that its successor does not tell as well.
        return usual.map { $0.value > 1 ? $0.key : max($0.key, end) } ?? max(end, 1)
    }

    /// Compares the hashes of the volumes that are there with those of the list.
    static func hashFaults(in hashes: [ContentHash], of names: [VolumeName], list: VolumeList) -> [VolumeFault] {
        func isRight(_ index: Int) -> Bool {
            list.hashes.indices.contains(names[index].number - 1)
                && list.hashes[names[index].number - 1] == hashes[index]
        }
        return names.indices.compactMap { index in
            guard !isRight(index) else { return nil }
            let name = names[index].name
            guard let other = list.hashes.firstIndex(of: hashes[index]) else { return VolumeFault(name, .changed) }
            let owner = VolumeName(of: names[index].bundle, number: other + 1)
            let hasItself = names.firstIndex(of: owner).map(isRight) ?? false
            return VolumeFault(name, hasItself ? .duplicate(of: owner.name) : .swapped(with: owner.name))
        }
    }
}
