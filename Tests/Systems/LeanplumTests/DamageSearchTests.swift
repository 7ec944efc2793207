import PrivateSQLite
import Testing

@testable import Leanplum

/// The first row behind a damaged place, of tables that are told by two lists: rows, and ids whose search fails.
@Suite struct DamageSearchTests {
    /// What looking for rows does, and how often.
    private final class Table {
        let rows: [Int64]
        let damaged: [ClosedRange<Int64>]
        private(set) var looks = 0

        init(rows: [Int64], damaged: [ClosedRange<Int64>]) {
            self.rows = rows
            self.damaged = damaged
        }

        func look(_ rowid: Int64) -> DamageSearch.Finding {
            looks += 1
            if damaged.contains(where: { $0.contains(rowid) }) { return .damage }
            return .row(rows.first { $0 >= rowid })
        }

        func firstRow(after start: Int64) throws -> Int64? {
            try DamageSearch.firstRow(after: start) { rowid throws(PrivateDatabaseError) in look(rowid) }
        }
    }

    @Test("the row behind the damage is found, however long that is", arguments: [1, 2, 3, 1023, 1024, 1025, 5000])
    func nextRow(length: Int64) throws {
        let table = Table(rows: [2, 10 + length, 20 + length], damaged: [10...(9 + length)])
        #expect(try table.firstRow(after: 10) == 10 + length)
    }

    @Test("rows that begin some ids behind the damage are found at once")
    func gap() throws {
        let table = Table(rows: [5000], damaged: [10...12])
        #expect(try table.firstRow(after: 10) == 5000)
        #expect(table.looks == 3)
    }

    @Test("behind damage at the end there is nothing")
    func end() throws {
        #expect(try Table(rows: [1, 2], damaged: [3...9]).firstRow(after: 3) == nil)
        #expect(try Table(rows: [], damaged: [0...5000]).firstRow(after: 0) == nil)
    }

    @Test("damage that never ends is given up after few looks")
    func noEnd() throws {
        let table = Table(rows: [1], damaged: [2...Int64.max])
        #expect(try table.firstRow(after: 2) == nil)
        #expect(table.looks < 1024 + 70)
    }

    @Test("the search begins at id 0, whatever lower id was looked for", arguments: [Int64.min, -1, 0])
    func lowestStart(start: Int64) throws {
        let table = Table(rows: [7], damaged: [Int64.min...6])
        #expect(try table.firstRow(after: start) == 7)
        #expect(table.looks == 7)
    }

    @Test("far damage takes as many looks as its length has bits, besides those that are tried one by one")
    func longDamage() throws {
        let end: Int64 = 1 << 50
        let table = Table(rows: [end], damaged: [100...(end - 1)])
        #expect(try table.firstRow(after: 100) == end)
        #expect(table.looks < 1024 + 2 * 64)
    }

    @Test("the highest ids are no trouble")
    func highestIDs() throws {
        #expect(try Table(rows: [.max], damaged: [3...(.max - 1)]).firstRow(after: 3) == .max)
        #expect(try Table(rows: [.max], damaged: [(.max - 5)...(.max - 1)]).firstRow(after: .max - 5) == .max)
        #expect(try Table(rows: [], damaged: [Int64.max...Int64.max]).firstRow(after: .max) == nil)
    }

    @Test("near damage is left one id after the other, so that the rows between two damages are not jumped over")
    func nearDamage() throws {
        let table = Table(rows: [14, 30], damaged: [10...13, 15...29])
        #expect(try table.firstRow(after: 10) == 14)
        #expect(try table.firstRow(after: 15) == 30)
    }

    @Test("what is no damage ends the search")
    func otherErrors() {
        #expect(throws: PrivateDatabaseError.outOfBudget) {
            try DamageSearch.firstRow(after: 1) { rowid throws(PrivateDatabaseError) in
                guard rowid < 5 else { throw .outOfBudget }
                return .damage
            }
        }
    }
}
