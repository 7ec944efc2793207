import Bytes

/// A sequence of bundles in which each bundle should follow its parents.
///
/// ```swift
/// var chain = BundleChain()
/// chain.append(monday.manifest, named: "monday.tar.zst")
/// chain.append(tuesday.manifest, named: "tuesday.tar.zst")
/// for fault in chain.faults() { print(fault) }
/// ```
///
/// Source: "Increments", section "Chains".
public struct BundleChain: Sendable {
    private struct Link: Sendable {
        let name: String
        let digest: String
        let parents: [String]
    }

    private var links: [Link] = []

    /// Creates a chain without bundles.
    public init() {}

    /// The number of bundles.
    public var count: Int { links.count }

    /// The digest of the last bundle, or `nil` if the chain has no bundles.
    ///
    /// A digest covers the digests of the parents. Therefore, it identifies the contents of the bundle and all its
    /// ancestors.
    public var digest: String? { links.last?.digest }

    /// The digests of the bundles that no other bundle continues, without repetitions.
    ///
    /// Each of them is the end of a chain of its own. If bundles are missing or repeated, see ``faults(endingWith:)``.
    public var ends: [String] {
        let continued = Set(texts: links.flatMap(\.parents))
        var seen: Set<CapturedText> = []
        return links.map(\.digest).filter { !continued.contains($0) && seen.insert(CapturedText($0)).inserted }
    }

    /// Appends the bundle with the given manifest.
    ///
    /// `name` is the name of the bundle in faults.
    public mutating func append(_ manifest: Manifest, named name: String) {
        links.append(Link(name: name, digest: manifest.digest, parents: manifest.parents))
    }

    /// Returns the indices of `manifests` in the order in which the bundles are read.
    ///
    /// A bundle is read after its parents. Apart from that, the order is that of `preferredOrder`, which contains each
    /// index once, or unchanged if it is `nil`. A manifest is `nil` if the input is not a bundle.
    public static func readingOrder(of manifests: [Manifest?], preferring preferredOrder: [Int]? = nil) -> [Int] {
        let indices = Dictionary(
            manifests.enumerated().compactMap { index, manifest in manifest.map { ($0.digest, index) } },
            uniquingKeysWith: min)
        var order: [Int] = []
        var seen: Set<Int> = []
        for index in preferredOrder ?? Array(manifests.indices) where seen.insert(index).inserted {
            // Each element is a parent of the element before it.
            var path = [index]
            while let last = path.last {
                let parents = (manifests[last]?.parents ?? []).compactMap { indices[$0] }
                if let parent = parents.first(where: { seen.insert($0).inserted }) {
                    path.append(parent)
                } else {
                    order.append(last)
                    path.removeLast()
                }
            }
        }
        return order
    }

    /// Returns the faults in the order of the bundles that they concern, or an empty array if the chain is complete.
    ///
    /// If a bundle has the digest `end`, bundles that it does not continue are faults, too.
    public func faults(endingWith end: String? = nil) -> [Fault] {
        let firstIndices = Dictionary(links.enumerated().map { ($1.digest, $0) }, uniquingKeysWith: min)
        let continued = end.flatMap { firstIndices[$0] == nil ? nil : digestsContinued(by: $0) }
        return links.enumerated().flatMap { index, link in
            guard firstIndices[link.digest] == index else {
                return [Fault(kind: .repeated, digest: link.digest, bundle: link.name)]
            }
            if let end, continued?.contains(link.digest) == false {
                return [Fault(kind: .notContinued, digest: end, bundle: link.name)]
            }
            return link.parents.compactMap { parent in
                guard let parentIndex = firstIndices[parent] else {
                    return Fault(kind: .missingParent, digest: parent, bundle: link.name)
                }
                return parentIndex < index
                    ? nil : Fault(kind: .parentOutOfOrder(links[parentIndex].name), digest: parent, bundle: link.name)
            }
        }
    }

    /// The faults that are missing parents.
    public var missingParents: [Fault] { faults().filter { $0.kind == .missingParent } }

    /// Returns `digest` and the digests of all bundles that this bundle continues, directly or not.
    private func digestsContinued(by digest: String) -> Set<CapturedText> {
        let parents = Dictionary(links.map { (CapturedText($0.digest), $0.parents) }) { first, _ in first }
        var continued: Set<CapturedText> = [CapturedText(digest)]
        var pending = [CapturedText(digest)]
        while let next = pending.popLast() {
            for parent in parents[next] ?? [] where continued.insert(CapturedText(parent)).inserted {
                pending.append(CapturedText(parent))
            }
        }
        return continued
    }

    /// A fault of a chain.
    public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// The kind of a fault.
        public enum Kind: Sendable, Equatable {
            /// A parent of the bundle is missing.
            case missingParent
            /// The parent with the given name does not precede the bundle.
            case parentOutOfOrder(String)
            /// The bundle occurs a second time.
            case repeated
            /// The expected last bundle does not continue the bundle.
            case notContinued
        }

        /// The kind of the fault.
        public let kind: Kind
        /// The digest of the parent, of the repeated bundle, or of the last bundle, depending on ``kind``.
        public let digest: String
        /// The name of the bundle that has the fault.
        public let bundle: String

        /// The name of the kind in JSON.
        public var code: String {
            switch kind {
            case .missingParent: "missing-parent"
            case .parentOutOfOrder: "parent-out-of-order"
            case .repeated: "repeated"
            case .notContinued: "not-continued"
            }
        }

        /// A description in one line without a full stop.
        public var description: String {
            switch kind {
            case .missingParent: "\(bundle): the bundle that it continues is missing: digest \(digest)"
            case .parentOutOfOrder(let parent):
                "\(bundle): \(parent), which it continues, must precede it: digest \(digest)"
            case .repeated: "\(bundle): this bundle is given twice: digest \(digest)"
            case .notContinued: "\(bundle): the last bundle does not continue it: digest \(digest)"
            }
        }
    }
}
