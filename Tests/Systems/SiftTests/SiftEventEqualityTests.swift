import PropertyList
import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests which events are essentially equal (section 7.3 of "Sift iOS SDK: on-disk store, list request").
@Suite struct SiftEventEqualityTests {
    /// Returns whether two events are essentially equal, and checks that the order does not matter.
    private func areEqual(_ first: Archived, _ second: Archived) throws -> Bool {
        let queue = SiftArchiveBuilder.queue([first, second])
        let equal = try areEqual(0, 1, ofQueue: queue)
        #expect(try areEqual(1, 0, ofQueue: queue) == equal, "in the opposite order")
        return equal
    }

    /// Returns whether the events at two positions of a queue are essentially equal.
    private func areEqual(_ first: Int, _ second: Int, ofQueue bytes: [UInt8]) throws -> Bool {
        var archive = try SiftArchive(bytes)
        let list = try archive.list(forKey: "queue")
        let events = try [first, second].map { position in
            try archive.instance(ofEvent: archive.archive.element(at: position, of: list)).node
        }
        var equality = SiftEventEquality(archive)
        return try equality.areEventsEqual(events[0], events[1], in: &archive)
    }

    /// Returns whether two events are essentially equal that have different values in one entry of their app state.
    private func areEqual(values first: Archived, _ second: Archived) throws -> Bool {
        try areEqual(
            .event(1, ["iosAppState": .object(["a": .integer(7), "b": first])]),
            .event(2, ["iosAppState": .object(["a": .integer(7), "b": second])]))
    }

    private static let members: [(String, Archived, Archived)] = [
        ("type", .text("a"), .text("b")), ("path", .text("a"), .text("A")), ("userId", .text("u1"), .text("u2")),
        ("installationId", .text("0C5A"), .text("0c5a")),
        ("fields", .object(["k": .text("1")]), .object(["k": .text("2")])),
        ("deviceProperties", .object(["k": .text("1")]), .object(["l": .text("1")])),
        ("iosAppState", .object(["k": .real("0.5")]), .object(["k": .real("0.25")])),
        ("iosDeviceProperties", .object(["k": .text("1")]), .object(["k": .text("1"), "l": .text("1")])),
        ("metrics", .object(["k": .text("1")]), .object([:])),
    ]

    @Test("Events with equal members are equal, regardless of their times")
    func equalMembers() throws {
        let all: KeyValuePairs<String, Archived> = [
            "type": .text("t"), "path": .text("p"), "userId": .text("u"), "installationId": .text("i"),
            "fields": .object(["k": .text("v")]), "deviceProperties": .object([:]),
            "iosAppState": .object(["k": .list([.integer(1), .null])]),
            "iosDeviceProperties": .object(["k": .boolean(true)]), "metrics": .object(["m": .text("1")]),
        ]
        #expect(try areEqual(.event(1, all), .event(1, all)))
        #expect(try areEqual(.event(1, all), .event(-5, all)))
        #expect(try areEqual(.event(1), .event(2)))
        let event = Archived.shared("e", .event(1, all))
        #expect(try areEqual(event, event))
    }

    @Test("Events that differ in one member are not equal", arguments: members.indices)
    func differentMembers(member: Int) throws {
        let (key, first, second) = Self.members[member]
        #expect(try areEqual(.event(1, [key: first]), .event(1, [key: first])))
        #expect(try !areEqual(.event(1, [key: first]), .event(1, [key: second])))
        #expect(try !areEqual(.event(1, [key: first]), .event(1)))
        #expect(try !areEqual(.event(1, [key: first]), .event(1, ["type": .text("other"), key: first])))
    }

    @Test("nil does not equal an empty value")
    func emptyValues() throws {
        for key in ["type", "path", "userId", "installationId"] {
            #expect(try !areEqual(.event(1), .event(1, [key: .text("")])))
            #expect(try areEqual(.event(1, [key: .text("")]), .event(1, [key: .mutable("")])))
        }
        for key in ["fields", "metrics", "iosAppState"] {
            #expect(try !areEqual(.event(1), .event(1, [key: .object([:])])))
            #expect(try !areEqual(.event(1, [key: .null]), .event(1)))
        }
    }

    @Test("An absent member equals nil")
    func absentMembers() throws {
        let short = Archived.instance("SiftEvent", [("time", .inline("<integer>9</integer>"))])
        #expect(try areEqual(short, .event(1)))
        #expect(try areEqual(short, .instance("SiftEvent", [("type", .reference(.none))])))
        #expect(try !areEqual(short, .event(1, ["type": .text("t")])))
    }

    @Test(
        "Nested values are compared by value",
        arguments: [
            (.text("a"), .mutable("a")), (.text("ä€😀"), .text("ä€😀")), (.null, .null), (.boolean(true), .boolean(true)),
            (.integer(1), .real("1.0")), (.integer(-1), .real("-1")), (.real("0.0"), .real("-0.0")),
            (.boolean(true), .integer(1)), (.boolean(false), .real("0")), (.real("nan"), .real("nan")),
            (.unsigned(.max), .unsigned(.max)), (.unsigned(1 << 63), .real("9223372036854775808")),
            (.real("1e300"), .real("1e300")), (.list([]), .list([])), (.object([:]), .object([:])),
            (.list([.text("a"), .list([.integer(1)])]), .list([.text("a"), .list([.integer(1)])])),
            (.object(["a": .null, "b": .integer(2)]), .object(["b": .integer(2), "a": .null])),
            (.dictionary([(.integer(1), .text("v"))]), .dictionary([(.real("1"), .text("v"))])),
            (.date, .date), (.data, .data),
        ] as [(Archived, Archived)])
    func equalValues(first: Archived, second: Archived) throws {
        #expect(try areEqual(values: first, second))
    }

    @Test(
        "Different nested values are not equal",
        arguments: [
            (.text("a"), .text("b")), (.text("a"), .text("aa")), (.text("1"), .integer(1)), (.null, .text("")),
            (.null, .boolean(false)), (.null, .none), (.boolean(true), .boolean(false)), (.integer(1), .integer(2)),
            (.integer(1), .real("1.5")), (.boolean(true), .integer(2)), (.integer(0), .real("nan")),
            (.unsigned(.max), .integer(-1)), (.integer(.max), .real("9223372036854775808")),
            (.unsigned(.max), .real("18446744073709551616")), (.list([]), .object([:])),
            (.list([.integer(1)]), .list([.integer(1), .integer(1)])),
            (.list([.integer(1), .integer(2)]), .list([.integer(2), .integer(1)])),
            (.object(["a": .null]), .object([:])), (.object(["a": .integer(1)]), .object(["b": .integer(1)])),
            (.object(["a": .integer(1), "b": .integer(2)]), .object(["b": .integer(1), "a": .integer(2)])),
            (.object(["a": .object(["b": .integer(1)])]), .object(["a": .object(["b": .integer(2)])])), (.date, .data),
            (.object(["a": .null, "b": .null]), .dictionary([(.text("a"), .null), (.text("a"), .null)])),
            (.instance("Strange", []), .instance("Strange", [])),
        ] as [(Archived, Archived)])
    func differentValues(first: Archived, second: Archived) throws {
        #expect(try !areEqual(values: first, second))
    }

    @Test("An instance of an unknown class equals itself")
    func sameInstance() throws {
        let instance = Archived.shared("s", .instance("Strange", []))
        #expect(try areEqual(values: instance, instance))
    }

    @Test("Wrappers of earlier SDKs are equal if their contents are")
    func wrappers() throws {
        func wrapped(_ value: Archived, _ name: String = "SFHtDictionary") -> Archived {
            .event(
                1, class: "SFEvent",
                ["iosAppState": .instance(name, [("entries", .reference(value))])])
        }
        let (one, two) = (Archived.object(["a": .integer(1)]), Archived.object(["a": .integer(2)]))
        #expect(try areEqual(wrapped(one), wrapped(one)))
        #expect(try !areEqual(wrapped(one), wrapped(two)))
        #expect(try areEqual(wrapped(.none), wrapped(.none)))
        #expect(try !areEqual(wrapped(.none), wrapped(one)))
    }

    @Test("The order of the keys does not matter")
    func keyOrder() throws {
        let pairs = (0..<200).map { (Archived.text("key \($0)"), Archived.integer(Int64($0))) }
        #expect(try areEqual(values: .dictionary(pairs), .dictionary(pairs.reversed())))
        let others = pairs.dropLast() + [(.text("key 199"), .integer(0))]
        #expect(try !areEqual(values: .dictionary(pairs), .dictionary(others.reversed())))
    }

    @Test("An element that is not an event cannot be compared")
    func invalidEvents() throws {
        let queue = SiftArchiveBuilder.queue([.event(1), .text("no event"), .none])
        for other in [1, 2] {
            #expect(throws: PropertyListError.self) { try areEqual(0, other, ofQueue: queue) }
        }
        #expect(throws: PropertyListError.self) { try areEqual(0, 0, ofQueue: []) }
    }

    // MARK: A queue

    private func repetitions(_ events: [Archived]) -> Int? {
        SiftReading(queue: events).queues.first?.repetitionCount
    }

    @Test("A queue reports the number of events that equal the preceding event")
    func repetitions() {
        let (one, two) = (["type": .text("a")] as KeyValuePairs<String, Archived>, Archived.event(2))
        #expect(repetitions([]) == 0)
        #expect(repetitions([two]) == 0)
        #expect(repetitions([.event(1, one), .event(2, one), .event(2, one)]) == 2)
        // Only adjacent events are compared.
        #expect(repetitions([.event(1, one), two, .event(3, one)]) == 0)
        // An element that is not an event interrupts a sequence of equal events.
        #expect(repetitions([.event(1, one), .text("no event"), .event(3, one), .event(4, one)]) == 1)
    }

    @Test("Events that contain themselves are skipped, and other events are still compared")
    func cycles() {
        func cyclic(_ name: String) -> Archived {
            .shared(name, .event(1, ["iosAppState": .shared("\(name) state", .object(["self": Self.cycle(name)]))]))
        }
        #expect(repetitions([cyclic("a"), cyclic("b"), .event(1), .event(1)]) == 1)
    }

    /// Returns an object that contains itself.
    private static func cycle(_ name: String) -> Archived {
        .shared("\(name) cycle", .object(["again": .shared("\(name) cycle", .none)]))
    }

    @Test("The number is unknown if events expand to too many values")
    func excessiveExpansion() {
        // Two equal trees of 2^30 leaves each consist of different objects. Events that the SDK would reject are compared too.
        func tree(_ name: String) -> Archived {
            (0..<30).reduce(Archived.text("leaf")) { inner, level in
                .list([.shared("\(name)\(level)", inner), .shared("\(name)\(level)", inner)])
            }
        }
        let events = ["a", "b"].map { name in
            Archived.event(1, ["type": .integer(7), "metrics": .object(["m": tree(name)])])
        }
        #expect(repetitions(events) == nil)
    }
}
