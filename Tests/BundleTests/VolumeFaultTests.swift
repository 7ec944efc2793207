import Hashing
import Testing

@testable import Bundle

/// Tests of faults that are visible from numbers, sizes and hashes of volumes.
@Suite struct VolumeFaultTests {
    /// The arguments are the sizes of volumes, with a dot for a missing one, the number of listed volumes, and the faults.
    @Test(
        arguments: [
            ("10 10 3", nil, []), ("10 10 10", nil, []), ("10", nil, []), ("3", nil, []), ("10 3", nil, []),
            ("10 10", nil, []),
            (". 10 3", nil, ["a.001 is missing"]), ("10 . . 10 3", nil, ["a.002 is missing", "a.003 is missing"]),
            ("10 . 3", nil, ["a.002 is missing"]),
            ("10 9 10 3", nil, ["a.002 has 9 bytes, not 10"]), ("9 10 10 3", nil, ["a.001 has 9 bytes, not 10"]),
            ("10 11 10 3", nil, ["a.002 has 11 bytes, not 10"]), ("10 0 10 3", nil, ["a.002 has 0 bytes, not 10"]),
            ("9 10 3", nil, ["a.001 has 9 bytes, not 10"]), ("10 9 3", nil, ["a.002 has 9 bytes, not 10"]),
            ("9 10", nil, ["a.001 has 9 bytes, not 10"]), ("10 10 0", nil, ["a.003 has 0 bytes, not 10"]),
            ("10 10 11", nil, ["a.003 has 11 bytes, not 10"]),
            (
                "9 . 10 8 3", nil,
                [
                    "a.001 has 9 bytes, not 10",
                    "a.002 is missing", "a.004 has 8 bytes, not 10",
                ]
            ),
            ("10 10 3", 3, []), ("10 10 10", 4, ["a.004 is missing"]),
            ("10 10", 4, ["a.003 is missing", "a.004 is missing"]),
            ("10 10 3 3", 3, ["a.004 is not in the list of the volumes"]),
            ("10 3 . . 3", 2, ["a.005 is not in the list of the volumes"]),
            ("10 10 3 .", 4, ["a.003 has 3 bytes, not 10", "a.004 is missing"]),
            ("3", 2, ["a.002 is missing"]), (". . 3", 3, ["a.001 is missing", "a.002 is missing"]),
        ] as [(String, Int?, [String])])
    func lengths(sizes: String, listed: Int?, faults: [String]) {
        let words = sizes.split(separator: " ").enumerated()
        let volumes = words.compactMap { number, word in Int(word).map { (number: number + 1, size: $0) } }
        #expect(VolumeFault.sizeFaults(in: volumes, of: "x/a", listedCount: listed).map(\.text) == faults)
    }

    /// The arguments have a letter for the bytes of each volume, and the faults.
    @Test(arguments: [
        ("abc", []), ("axc", ["002 changed"]), ("xyz", ["001 changed", "002 changed", "003 changed"]),
        ("acb", ["002 swapped", "003 swapped"]), ("aac", ["002 doubled"]), ("cbc", ["001 doubled"]),
        ("bca", ["001 swapped", "002 swapped", "003 swapped"]), ("aaa", ["002 doubled", "003 doubled"]),
        ("xac", ["001 changed", "002 swapped"]),
    ])
    func hashes(volumes: String, faults: [String]) {
        func hashes(_ text: String) -> [ContentHash] { text.utf8.map { ContentHash(of: [$0]) } }
        let names = (1...3).map { VolumeName(of: "x/a", number: $0) }
        let found = VolumeFault.hashFaults(in: hashes(volumes), of: names, list: VolumeList(hashes("abc")))
        #expect(found.map { "\($0.name.suffix(3)) \($0.code)" } == faults)
    }

    @Test("Volumes with equal bytes can be swapped")
    func equalVolumes() {
        let hashes = [0, 0, 1].map { ContentHash(of: [$0]) }
        let names = (1...3).map { VolumeName(of: "a", number: $0) }
        #expect(VolumeFault.hashFaults(in: hashes, of: names, list: VolumeList(hashes)) == [])
    }
}
