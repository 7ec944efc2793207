import PropertyList
import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Section 7.3 of "Sift iOS SDK: on-disk store, list request": which events are essentially equal.
@Suite struct SiftEventEqualityTests {
    /// Whether two events are, whichever comes first.
    private func areEqual(_ first: Archived, _ second: Archived) throws -> Bool {
        let queue = SiftArchiveBuilder.queue([first, second])
        let equal = try areEqual(0, 1, ofQueue: queue)
        #expect(try areEqual(1, 0, ofQueue: queue) == equal, "the other way round")
        return equal
    }

    /// Returns whether two events of a queue are essentially equal, by their positions.
    private func areEqual(_ first: Int, _ second: Int, ofQueue bytes: [UInt8]) throws -> Bool {
        var archive = try SiftArchive(bytes)
        let list = try archive.list("queue")
        let events = try [first, second].map { position in
            try archive.instance(ofEvent: archive.archive.element(at: position, of: list)).node
        }
        var equality = SiftEventEquality(archive)
        return try equality.areEqual(events[0], events[1], in: &archive)
    }

    /// Whether two events are that differ in the values of one entry of their app state.
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

    @Test("events are equal whose members are, whatever their time is")
    func equal() throws {
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

    @Test("each member counts", arguments: members.indices)
    func different(member: Int) throws {
        let (key, first, second) = Self.members[member]
        #expect(try areEqual(.event(1, [key: first]), .event(1, [key: first])))
        #expect(try !areEqual(.event(1, [key: first]), .event(1, [key: second])))
        #expect(try !areEqual(.event(1, [key: first]), .event(1)))
        #expect(try !areEqual(.event(1, [key: first]), .event(1, ["type": .text("other"), key: first])))
    }

    @Test("nil equals nil only, not what is empty, although a list request shows neither")
    func empty() throws {
        for key in ["type", "path", "userId", "installationId"] {
            #expect(try !areEqual(.event(1), .event(1, [key: .text("")])))
            #expect(try areEqual(.event(1, [key: .text("")]), .event(1, [key: .mutable("")])))
        }
        for key in ["fields", "metrics", "iosAppState"] {
            #expect(try !areEqual(.event(1), .event(1, [key: .object([:])])))
            #expect(try !areEqual(.event(1, [key: .null]), .event(1)))
        }
    }

    @Test("a member that is absent is nil")
    func absent() throws {
        let short = Archived.instance("SiftEvent", [("time", .inline("<integer>9</integer>"))])
        #expect(try areEqual(short, .event(1)))
        #expect(try areEqual(short, .instance("SiftEvent", [("type", .reference(.none))])))
        #expect(try !areEqual(short, .event(1, ["type": .text("t")])))
    }

    @Test(
        "values are equal in depth",
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
        "values differ in depth",
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

    @Test("an instance of an unknown class equals itself")
    func sameInstance() throws {
        let instance = Archived.shared("s", .instance("Strange", []))
        #expect(try areEqual(values: instance, instance))
    }

    @Test("wrappers of earlier SDKs are equal when what they hold is")
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

    @Test("keys in another order are found among many")
    func order() throws {
        let pairs = (0..<200).map { (Archived.text("key \($0)"), Archived.integer(Int64($0))) }
        #expect(try areEqual(values: .dictionary(pairs), .dictionary(pairs.reversed())))
        let others = pairs.dropLast() + [(.text("key 199"), .integer(0))]
        #expect(try !areEqual(values: .dictionary(pairs), .dictionary(others.reversed())))
    }

    @Test("what is no event is compared with none")
    func noEvents() throws {
        let queue = SiftArchiveBuilder.queue([.event(1), .text("no event"), .none])
        for other in [1, 2] {
            #expect(throws: PropertyListError.self) { try areEqual(0, other, ofQueue: queue) }
        }
        #expect(throws: PropertyListError.self) { try areEqual(0, 0, ofQueue: []) }
    }

    // MARK: A queue

    private func repetitions(_ events: [Archived]) -> Int? {
        SiftReading(queue: events).queues.first?.repetitions
    }

    @Test("a queue tells how many events are the one before but for the time")
    func repetitions() {
        let (one, two) = (["type": .text("a")] as KeyValuePairs<String, Archived>, Archived.event(2))
        #expect(repetitions([]) == 0)
        #expect(repetitions([two]) == 0)
        #expect(repetitions([.event(1, one), .event(2, one), .event(2, one)]) == 2)
        // Only what came right before is compared.
        #expect(repetitions([.event(1, one), two, .event(3, one)]) == 0)
        // What is no event is passed over.
        #expect(repetitions([.event(1, one), .text("no event"), .event(3, one), .event(4, one)]) == 1)
    }

    @Test("events that contain themselves end the comparison of these two alone")
    func cycles() {
        func cyclic(_ name: String) -> Archived {
            .shared(name, .event(1, ["iosAppState": .shared("\(name) state", .object(["self": Self.knot(name)]))]))
        }
        #expect(repetitions([cyclic("a"), cyclic("b"), .event(1), .event(1)]) == 1)
    }

    /// Contains itself, under a name.
    private static func knot(_ name: String) -> Archived {
        .shared("\(name) knot", .object(["again": .shared("\(name) knot", .none)]))
    }

    @Test("events that expand without measure leave the number unknown")
    func bombs() {
        // Twice the same tree of 2^30 leaves, in different objects; events that the SDK's check refuses are compared too.
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
