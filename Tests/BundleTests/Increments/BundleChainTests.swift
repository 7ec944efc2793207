import Files
import Hashing
import Telemetry
import TestSupport
import Testing

@testable import Bundle

@Suite struct BundleChainTests {
    /// Packs a bundle with one record that continues the bundles with the given manifests.
    private func manifest(_ number: Int, after parents: Manifest...) async throws -> Manifest {
        try await SampleBundle.pack([SampleBundle.record(number)], parents: parents.map(\.digest)).manifest
    }

    private func faults(_ bundles: (String, Manifest)..., end: String? = nil) -> [String] {
        var chain = BundleChain()
        for (name, manifest) in bundles { chain.append(manifest, named: name) }
        #expect(chain.count == bundles.count)
        #expect(chain.digest == bundles.last?.1.digest)
        return chain.faults(endingWith: end).map { "\($0.code) \($0.bundle) \($0.digest)" }
    }

    @Test func faultsOfAChainAreReported() async throws {
        let a = try await manifest(1)
        let b = try await manifest(2, after: a)
        let c = try await manifest(3, after: b)
        let both = try await manifest(4, after: c, a)
        #expect(faults(("a", a), ("b", b), ("c", c), ("both", both)) == [])
        #expect(faults(("a", a)) == [])
        #expect(faults(("b", b), ("c", c)) == ["missing-parent b \(a.digest)"])
        #expect(faults(("a", a), ("c", c)) == ["missing-parent c \(b.digest)"])
        #expect(faults(("a", a), ("b", b), ("both", both)) == ["missing-parent both \(c.digest)"])
        #expect(faults(("a", a), ("c", c), ("b", b)) == ["parent-out-of-order c \(b.digest)"])
        #expect(faults(("a", a), ("b", b), ("a again", a)) == ["repeated a again \(a.digest)"])
        #expect(faults(("b", b), ("b again", b)) == ["missing-parent b \(a.digest)", "repeated b again \(b.digest)"])
    }

    @Test("Bundles that the expected last bundle does not continue are reported")
    func bundlesOutsideOfTheChain() async throws {
        let a = try await manifest(1)
        let b = try await manifest(2, after: a)
        let fork = try await manifest(3, after: a)
        let other = try await manifest(4)
        let all = ("a", a)
        #expect(faults(all, ("fork", fork), ("other", other), ("b", b)) == [])
        #expect(
            faults(all, ("fork", fork), ("other", other), ("b", b), end: b.digest)
                == ["not-continued fork \(b.digest)", "not-continued other \(b.digest)"])
        #expect(faults(all, ("b", b), end: b.digest) == [])
        // The last bundle could not be read, which is reported elsewhere.
        #expect(faults(all, ("b", b), end: other.digest) == [])
        var chain = BundleChain()
        for (name, manifest) in [("a", a), ("fork", fork), ("other", other), ("b", b), ("b", b)] {
            chain.append(manifest, named: name)
        }
        #expect(chain.ends == [fork.digest, other.digest, b.digest])
    }

    @Test func bundlesAreReadAfterTheirParents() async throws {
        let a = try await manifest(1)
        let b = try await manifest(2, after: a)
        let c = try await manifest(3, after: b)
        let both = try await manifest(4, after: a, c)
        #expect(BundleChain.readingOrder(of: []) == [])
        #expect(BundleChain.readingOrder(of: [a, b, c, both]) == [0, 1, 2, 3])
        #expect(BundleChain.readingOrder(of: [both, c, b, a]) == [3, 2, 1, 0])
        #expect(BundleChain.readingOrder(of: [nil, c, nil, a, b, a]) == [0, 3, 4, 1, 2, 5])
        #expect(BundleChain.readingOrder(of: [both, nil, b]) == [0, 1, 2])
        #expect(BundleChain.readingOrder(of: [a, both, c, b], preferring: [1, 3, 0, 2]) == [0, 3, 2, 1])
    }

    @Test func parentsArePartOfTheDigest() async throws {
        let (first, other) = (try await manifest(1), try await manifest(2))
        let digests = [
            try await manifest(3), try await manifest(3, after: first), try await manifest(3, after: other),
            try await manifest(3, after: first, other), try await manifest(3, after: other, first),
        ].map(\.digest)
        #expect(Set(digests).count == digests.count)
    }

    @Test func parentsAreReadFromTheManifest() async throws {
        let parent = try await manifest(1)
        let bytes = try await SampleBundle.pack([SampleBundle.record(2)], parents: [parent.digest]).bytes
        let reader = try BundleReader(bytes: bytes)
        #expect(reader.manifest.parents == [parent.digest])
        #expect(reader.manifest.omitted == Manifest.OmittedCounts())
        let text = String(decoding: try #require(SampleBundle.members(bytes).last).contents, as: UTF8.self)
        #expect(
            text.contains(
                #""omitted":{"problems":0,"quarantine":0,"records":0},"parents":["\#(parent.digest)"],"segments""#))
        _ = try await SampleBundle.verify(bytes)
    }

    /// Replacements for the list of parents, and whether the manifest can be read.
    @Test func malformedParentsAreRejected() async throws {
        let digest = try await manifest(1).digest
        let bytes = try await SampleBundle.pack([SampleBundle.record(2)], parents: [digest]).bytes
        let text = String(decoding: try #require(SampleBundle.members(bytes).last).contents, as: UTF8.self)
        let message = "manifest.json: its parents are not at most 4096 different digests"
        for list in [#""x""#, #""\#(digest.uppercased())""#, #""\#(digest)","\#(digest)""#] {
            let changed = text.replacing(#"["\#(digest)"]"#, with: "[\(list)]")
            let error = #expect(throws: BundleError.self) { try Manifest(Array(changed.utf8)) }
            #expect(error?.description == message)
        }
    }

    @Test("A bundle with other parents than those of its digest is rejected")
    func changedParents() async throws {
        let (first, other) = (try await manifest(1), try await manifest(2))
        let bytes = try await SampleBundle.pack([SampleBundle.record(3)], parents: [first.digest]).bytes
        let text = String(decoding: try #require(SampleBundle.members(bytes).last).contents, as: UTF8.self)
        let changed = try Manifest(Array(text.replacing(first.digest, with: other.digest).utf8))
        #expect(!changed.hasMatchingDigest)
    }
}
