import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SQLite

@Suite struct DatabaseTests {
    private let folder: TemporaryFolder
    private let file: DatabaseFile

    init() throws {
        folder = try TemporaryFolder()
        file = try DatabaseFile(path: folder("d"), .writing)
        try file.write { try $0.run("CREATE TABLE things (name TEXT, size INTEGER, bytes BLOB)") }
    }

    /// A value that is bound as a blob.
    private struct Bytes: DatabaseValue {
        let bytes: [UInt8]

        func bind(to parameter: DatabaseParameter) -> Int32 { parameter.bind(bytes.span.bytes) }
    }

    @Test(
        "values are read back unchanged",
        arguments: ["", "x", "Zoë\u{0}y", String(repeating: "long ", count: 5_000)])
    func values(text: String) throws {
        let bytes = Array(text.utf8.prefix(1000))
        try file.write { db in
            try db.run("INSERT INTO things VALUES (?, ?, ?)", [text, Int64.min, Bytes(bytes: bytes)])
            #expect(db.changeCount == 1)
            #expect(db.lastInsertedRow == 1)
        }
        try file.read { db in
            var count = 0
            try db.rows("SELECT name, size, bytes, NULL, 1, 0, typeof(bytes) FROM things") { row in
                count += 1
                #expect(row[0] == text)
                #expect(row[1] == Int64.min)
                #expect(
                    row.withBytes(of: 2) { bytes in
                        (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
                    } == bytes)
                #expect(row[3] as String? == nil)
                #expect(row.withBytes(of: 3) { $0.byteCount } == 0)
                #expect(row[4] as Bool)
                #expect(!(row[5] as Bool))
                #expect(row[6] == "blob")
            }
            #expect(count == 1)
        }
    }

    @Test("NULL and an empty blob are different values")
    func null() throws {
        try file.write {
            try $0.run("INSERT INTO things VALUES (?, ?, ?)", [String?.none, Int?.some(3), Bytes(bytes: [])])
        }
        let types: String? = try file.read {
            try $0.first("SELECT typeof(name) || ' ' || typeof(size) || ' ' || typeof(bytes) FROM things")
        }
        #expect(types == "null integer blob")
    }

    @Test("an error rolls back its transaction, and the next transaction succeeds")
    func rollback() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try file.write { db in
                try db.run("INSERT INTO things VALUES ('a', 1, NULL)")
                throw Stop()
            }
        }
        try file.write { try $0.run("INSERT INTO things VALUES ('b', 2, NULL)") }
        #expect(try file.read { try $0.first("SELECT group_concat(name) FROM things") } == "b")
    }

    @Test("a statement can be run again while it returns rows")
    func nested() throws {
        try file.write { db in
            for size in 1...3 { try db.run("INSERT INTO things VALUES ('x', ?, NULL)", [size]) }
            var pairs: [String] = []
            func each(_ body: (Int) throws -> Void) throws {
                try db.rows("SELECT size FROM things ORDER BY size") { try body($0[0]) }
            }
            try each { left in try each { right in pairs.append("\(left)\(right)") } }
            #expect(pairs == ["11", "12", "13", "21", "22", "23", "31", "32", "33"])
        }
    }

    @Test("a statement runs to completion even if only its first value is read")
    func first() throws {
        let deleted: Int? = try file.write { db in
            for size in 1...3 { try db.run("INSERT INTO things VALUES ('x', ?, NULL)", [size]) }
            return try db.first("DELETE FROM things RETURNING size")
        }
        #expect(deleted != nil)
        #expect(try file.read { try $0.first("SELECT count(*) FROM things") } == 0)
        #expect(try file.read { try $0.first("SELECT size FROM things") as Int? } == nil)
    }

    @Test("only the first row is read, even if its value is NULL")
    func firstNull() throws {
        try file.write { db in
            try db.run("INSERT INTO things VALUES ('a', NULL, NULL)")
            try db.run("INSERT INTO things VALUES ('b', 2, NULL)")
        }
        #expect(try file.read { try $0.first("SELECT size FROM things ORDER BY name") as Int? } == nil)
        #expect(try file.read { try $0.first("SELECT size FROM things ORDER BY name DESC") as Int? } == 2)
    }

    @Test("a table is found by its name in any letter case")
    func tables() throws {
        #expect(try file.read { try $0.hasTable("THINGS") })
        #expect(try !file.read { try $0.hasTable("thing") })
    }

    @Test("errors have the category and message of SQLite")
    func errors() throws {
        let syntax = #expect(throws: DatabaseError.self) { try file.read { try $0.run("SELEC 1") } }
        #expect(syntax?.description == #"near "SELEC": syntax error (SQLite 1)"#)
        #expect(syntax?.kind == .other)
        let values = #expect(throws: DatabaseError.self) { try file.write { try $0.run("DELETE FROM things", [1]) } }
        #expect(values?.message == "column index out of range")
        try Data("no database, but long enough to be looked at".utf8).write(to: URL(fileURLWithPath: folder("text")))
        let none = #expect(throws: DatabaseError.self) {
            try DatabaseFile(path: folder("text"), .reading).read { try $0.hasTable("x") }
        }
        #expect(none?.kind == .notADatabase)
        let missing = #expect(throws: DatabaseError.self) { try DatabaseFile(path: folder("missing"), .reading) }
        #expect(missing?.kind == .accessDenied)
        let written = #expect(throws: DatabaseError.self) {
            try DatabaseFile(path: folder("d"), .reading).withoutTransaction { try $0.run("DELETE FROM things") }
        }
        #expect(written?.kind == .accessDenied)
    }

    @Test("a closed file throws errors, and its data can be read through another connection")
    func close() throws {
        try file.withoutTransaction { try $0.run(script: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL") }
        try file.write { try $0.run("INSERT INTO things VALUES ('kept', 1, NULL)") }
        #expect(folder.names.contains("d-wal"))
        file.close()
        #expect(!folder.names.contains("d-wal"))
        #expect(throws: DatabaseError.self) { try file.read { try $0.hasTable("things") } }
        #expect(
            try DatabaseFile(path: folder("d"), .reading).read { try $0.first("SELECT name FROM things") } == "kept")
    }

    @Test("a read transaction does not see changes of another connection")
    func snapshot() throws {
        try file.withoutTransaction { try $0.run(script: "PRAGMA journal_mode = WAL") }
        try file.write { try $0.run("INSERT INTO things VALUES ('a', 1, NULL)") }
        let reader = try DatabaseFile(path: folder("d"), .reading)
        try reader.read { db in
            #expect(try db.first("SELECT count(*) FROM things") == 1)
            try file.write { try $0.run("INSERT INTO things VALUES ('b', 2, NULL)") }
            #expect(try db.first("SELECT count(*) FROM things") == 1)
        }
        #expect(try reader.read { try $0.first("SELECT count(*) FROM things") } == 2)
    }
}
