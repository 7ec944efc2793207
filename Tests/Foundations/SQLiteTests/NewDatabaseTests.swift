import Foundation
import TestSupport
import Testing

@testable import SQLite

@Suite struct NewDatabaseTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("another connection reads the values unchanged")
    func values() throws {
        let database = try NewDatabase(path: folder("d"))
        try database.run("CREATE TABLE things (number INTEGER, size REAL, name TEXT) STRICT")
        let insertion = try database.insertion(into: "things", columns: 3)
        let text = Array("Zoë\u{0}y".utf8)
        let rows: [RowInsertion.Value] = [
            .integer(.max), .real(0.1), .text(start: 0, count: text.count), .integer(.min), .null,
            .text(start: 2, count: 0), .null, .real(-2), .null,
        ]
        try insertion.add(rows: 3, text: text.span) { rows[$0] }
        try insertion.add(rows: 1, text: [UInt8]().span) { $0 == 2 ? .text(start: 0, count: 0) : .null }
        try database.finish()
        #expect(throws: DatabaseError.self) { try insertion.add(rows: 1, text: text.span) { _ in .null } }
        let script = """
            import sqlite3, sys
            print(sqlite3.connect(sys.argv[1]).execute("SELECT *, typeof(name) FROM things").fetchall())
            """
        #expect(
            try tool("python3", "-c", script, folder("d")) == """
                [(9223372036854775807, 0.1, 'Zoë\\x00y', 'text'), (-9223372036854775808, None, '', 'text'), \
                (None, -2.0, None, 'null'), (None, None, '', 'text')]

                """)
        #expect(folder.names == ["d"])
    }

    @Test("a cursor returns the rows of a query, and fails after the database is finished")
    func cursor() throws {
        let database = try NewDatabase(path: folder("d"))
        try database.run("CREATE TABLE things (name TEXT); INSERT INTO things VALUES ('b'), ('c'), ('a')")
        let rows = try database.rows(of: "SELECT name FROM things ORDER BY name")
        var names: [String] = []
        while try rows.next() { names.append(rows.row[0]) }
        #expect(names == ["a", "b", "c"])
        let unread = try database.rows(of: "SELECT name FROM things")
        #expect(try unread.next())
        #expect(throws: DatabaseError.self) { _ = try database.rows(of: "SELECT missing FROM things") }
        #expect(throws: DatabaseError.self) {
            try database.finish()
            _ = try unread.next()
        }
    }

    @Test("any number of rows is inserted completely and in order", arguments: [0, 1, 63, 64, 65, 1000])
    func manyRows(count: Int) throws {
        let database = try NewDatabase(path: folder("d"))
        try database.run("CREATE TABLE things (number INTEGER PRIMARY KEY, name TEXT) STRICT")
        try database.run(
            "CREATE TABLE others (name TEXT NOT NULL, number INTEGER, PRIMARY KEY (name)) STRICT, WITHOUT ROWID")
        let things = try database.insertion(into: "things", columns: 2)
        let others = try database.insertion(into: "others", columns: 2)
        let names = (0..<count).map { "row \($0)" }
        let text = Array(names.joined().utf8)
        var starts = [0]
        for name in names { starts.append(starts[starts.count - 1] + name.utf8.count) }
        func name(_ row: Int) -> RowInsertion.Value {
            .text(start: starts[row], count: starts[row + 1] - starts[row])
        }
        for _ in 0..<2 { try things.add(rows: count, text: text.span) { $0 % 2 == 0 ? .null : name($0 / 2) } }
        try others.add(rows: count, text: text.span) { $0 % 2 == 0 ? name($0 / 2) : .integer(Int64($0 / 2)) }
        try database.finish()
        let found = try DatabaseFile(path: folder("d"), .reading)
        let expected = (0..<2 * count).map { "\($0 + 1) row \($0 % max(1, count))" }
        #expect(
            try found.read { try Self.lines(of: "SELECT number || ' ' || name FROM things ORDER BY number", $0) }
                == expected)
        let numbered = names.enumerated().map { "\($1) \($0)" }
        #expect(
            try found.read { try Self.lines(of: "SELECT name || ' ' || number FROM others ORDER BY number", $0) }
                == numbered)
        found.close()
    }

    private static func lines(of query: StaticString, _ database: Database) throws -> [String] {
        var lines: [String] = []
        try database.rows(query) { lines.append($0[0]) }
        return lines
    }

    @Test func valueOfAnotherTypeIsRejected() throws {
        let database = try NewDatabase(path: folder("d"))
        try database.run("CREATE TABLE things (number INTEGER NOT NULL) STRICT")
        let insertion = try database.insertion(into: "things", columns: 1)
        for value in [RowInsertion.Value.null, .text(start: 0, count: 1)] {
            #expect(throws: DatabaseError.self) { try insertion.add(rows: 1, text: "x".utf8.span) { _ in value } }
        }
    }

    @Test("rows of a temporary database are sorted")
    func temporaryDatabase() throws {
        let database = try NewDatabase(path: "")
        try database.run("CREATE TABLE lines (time INTEGER, line TEXT) STRICT")
        let insertion = try database.insertion(into: "lines", columns: 2)
        let text = Array("abc".utf8)
        try insertion.add(rows: 3, text: text.span) { index in
            index % 2 == 0 ? .integer(Int64(-index)) : .text(start: index / 2, count: 1)
        }
        var found: [String] = []
        try database.forEachRow(of: "SELECT line FROM lines ORDER BY time") { found.append($0[0]) }
        #expect(found == ["c", "b", "a"])
        #expect(folder.names == [])
    }

    @Test func sizeIsLimited() throws {
        let database = try NewDatabase(path: "", maximumSize: 256 << 10)
        try database.run("CREATE TABLE things (bytes BLOB)")
        try database.run("INSERT INTO things VALUES (zeroblob(65536))")
        let error = #expect(throws: DatabaseError.self) {
            try database.run("INSERT INTO things VALUES (zeroblob(262144))")
        }
        #expect(error?.kind == .diskFull)
    }

    @Test func missingFolderIsReported() {
        #expect(throws: DatabaseError.self) { try NewDatabase(path: folder("no/d")) }
    }
}
