import Bytes
import Files
import Telemetry
import TestSupport
import Testing

@testable import Bundle

@Suite struct EarlierBundlesTests {
    private static func digest(_ digit: Character) -> String { String(repeating: digit, count: 64) }

    private func pack(_ numbers: [Int], parents: [String] = []) async throws -> BundleReader {
        let problem = LocatedProblem(capture: "phone", path: "p", problem: Problem("link", "not followed"))
        let bytes = try await SampleBundle.pack(
            numbers.map { SampleBundle.record($0) }, quarantined: [[1, 2]], problems: [problem], parents: parents
        ).bytes
        return try BundleReader(bytes: bytes)
    }

    private func earlier(_ bundles: BundleReader...) async throws -> EarlierBundles {
        var earlier = EarlierBundles()
        for (number, bundle) in bundles.enumerated() {
            try await earlier.add(
                bundle, named: "\(number)", by: BundleVerifier(bundle, limit: JobLimit(jobs: 2)))
        }
        return earlier
    }

    @Test func keysOfRecordsAndDetailsAreCollected() async throws {
        let earlier = try await earlier(pack([1, 2]), pack([3]))
        let keys = [1, 2, 3].map { RecordKey(SampleBundle.record($0)) }
        #expect(Set(earlier.records.keys) == Set(keys))
        #expect(Set(earlier.records.values) == [CopyRank.notHeld.indexNumber])
        // Both bundles have the same quarantine entry and the same problem.
        #expect(earlier.details.count == 2)
    }

    @Test("The parents of an increment are the bundles that no other given bundle continues")
    func parents() async throws {
        let first = try await pack([1])
        let second = try await pack([2], parents: [first.manifest.digest])
        let other = try await pack([3])
        for order in [[first, second, other], [second, other, first]] {
            var earlier = EarlierBundles()
            for bundle in order + [first] {
                try await earlier.add(
                    bundle, named: "x", by: BundleVerifier(bundle, limit: JobLimit(jobs: 1)))
            }
            try earlier.requireParents()
            #expect(earlier.parents == [second.manifest.digest, other.manifest.digest])
        }
    }

    @Test(
        "Indexes that list each other as ancestors are an error, because no parent would be named",
        arguments: [["a": "b", "b": "a"], ["a": "b", "b": "c", "c": "a"], ["a": "b", "b": "a", "d": ""], ["a": "a"]])
    func cycle(ancestors: [String: String]) {
        var earlier = EarlierBundles()
        for (digest, ancestor) in ancestors.sorted(by: { $0.key < $1.key }) {
            earlier.add(
                BundleIndex(
                    digest: Self.digest(Character(digest)), ancestors: Set(texts: ancestor.map { Self.digest($0) }),
                    records: [:], details: []))
        }
        #expect(throws: ParentError.cycle(digest: Self.digest("a"))) { try earlier.requireParents() }
    }

    @Test func unknownParentIsReported() async throws {
        let first = try await pack([1])
        let second = try await pack([2], parents: [first.manifest.digest])
        let incomplete = try await earlier(second)
        #expect(throws: ParentError.unknown(digest: first.manifest.digest, bundle: "0")) {
            try incomplete.requireParents()
        }
        var complete = incomplete
        complete.add(BundleIndex(digest: first.manifest.digest, ancestors: [], records: [:], details: []))
        try complete.requireParents()
        #expect(complete.parents == [second.manifest.digest])
    }

    @Test func indexStatesItsAncestors() throws {
        var earlier = EarlierBundles()
        let (a, b, c) = (Self.digest("a"), Self.digest("b"), Self.digest("c"))
        earlier.add(BundleIndex(digest: a, ancestors: [], records: [:], details: []))
        earlier.add(
            BundleIndex(digest: c, ancestors: [CapturedText(a), CapturedText(b)], records: [:], details: []))
        #expect(earlier.parents == [c])
        #expect(earlier.knownDigests == Set(texts: [a, b, c]))
    }
}
