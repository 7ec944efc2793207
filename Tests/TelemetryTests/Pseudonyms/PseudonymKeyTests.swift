import TestSupport
import Testing

@testable import Telemetry

/// Compares pseudonyms and ids of keys with the results of `hmac` and `hashlib` in Python.
@Suite struct PseudonymKeyTests {
    private static let zeros = [UInt8](repeating: 0, count: 32)
    private static let counting = [UInt8](0..<40)
    private static let long = (0..<200).map { UInt8(($0 * 7) % 256) }

    // The expected values are those of `hashlib.sha256(b"pingferry key id\0" + key).hexdigest()[:8]`.
    @Test(
        "The id of a key is a hash.",
        arguments: [(zeros, "ff367417"), (counting, "09d1c0b1"), (long, "f6288f86")])
    func id(bytes: [UInt8], id: String) throws {
        let key = try PseudonymKey(bytes)
        #expect(key.id == id)
        #expect("\(key)" == "pseudonym key \(id)")
        var dumped = ""
        dump(key, to: &dumped)
        #expect(dumped == "- pseudonym key \(id)\n")
    }

    private static let uuid = "BF95FB51-DED1-463B-9A9E-043C9D711517"
    private static let vectors: [(key: [UInt8], kind: PseudonymClass, value: String, pseudonym: String)] = [
        (zeros, .client, uuid, "2d8a4cdc-703e-8d7b-a15d-63ba19d8dba2"),
        (zeros, .client, uuid.lowercased(), "2d8a4cdc-703e-8d7b-a15d-63ba19d8dba2"),
        (zeros, .document, uuid, "4406e9cc-1a90-83ba-94e9-99c10b3b2cb9"),
        (zeros, .user, "u-1187", "e955a90eb96ff7c8c47f529a62ef69e9"),
        (zeros, .user, "U-1187", "118c657438c4c0ae458a6b911be27114"),
        (zeros, .path, "Documents/Größe.json", "c74de3423d3509a926073325243b28bf"),
        (zeros, .client, uuid.filter { $0 != "-" }, "940b79233e5fb7ca4597cd588ccd9a5a"),
        (counting, .client, uuid, "1fa21676-e2aa-80a1-b99e-53d863d7eb81"),
        (counting, .path, "Documents/Größe.json", "d0adf17bddc7e3898855e755dea13aed"),
        (long, .document, uuid.lowercased(), "6539a4ef-06f4-84b6-bf80-28adf0028036"),
        (long, .user, "u-1187", "6456c6d7cffd6a0b14fb57ff9b5f40d1"),
    ]

    @Test("A pseudonym is the beginning of a keyed hash over class and value.", arguments: vectors.indices)
    func pseudonym(index: Int) throws {
        let vector = Self.vectors[index]
        let key = try PseudonymKey(vector.key)
        let pseudonym = String(decoding: key.pseudonym(of: Array(vector.value.utf8), vector.kind), as: UTF8.self)
        #expect(pseudonym == vector.pseudonym)
        // The cached pseudonym is the same.
        var maker = PseudonymMaker(key)
        for value in [vector.value, "another", vector.value, vector.value] where value == vector.value {
            #expect(maker.pseudonym(of: value, vector.kind) == vector.pseudonym)
        }
    }

    @Test("A key with fewer than 32 bytes is rejected.", arguments: [0, 1, 31]) func shortKey(count: Int) {
        #expect(throws: PseudonymError.shortKey(count)) {
            try PseudonymKey([UInt8](repeating: 1, count: count))
        }
    }

    @Test("An empty value stays empty, and existing pseudonyms are kept if requested.")
    func emptyValuesAndExistingPseudonyms() throws {
        var maker = PseudonymMaker(try PseudonymKey(Self.zeros))
        #expect(maker.pseudonym(of: "", .client) == "")
        let existing = [
            "2d8a4cdc-703e-8d7b-a15d-63ba19d8dba2", "e955a90eb96ff7c8c47f529a62ef69e9",
        ]
        for pseudonym in existing { #expect(maker.pseudonym(of: pseudonym, .client) != pseudonym) }
        maker.keepsPseudonyms = true
        for pseudonym in existing { #expect(maker.pseudonym(of: pseudonym, .client) == pseudonym) }
        for value in [
            Self.uuid, Self.uuid.lowercased(), existing[0].uppercased(), "e955a90eb96ff7c8c47f529a62ef69eX", "x",
        ] {
            #expect(maker.pseudonym(of: value, .client) != value)
        }
    }
}
