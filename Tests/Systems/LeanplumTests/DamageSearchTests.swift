import SQLite
import Testing

@testable import Leanplum

/// Tests the search for the first row after damage.
///
/// Tables are described by their rows and by the ids from which a search fails.
@Suite struct DamageSearchTests {
    /// A simulated table that counts searches.
    private final class Table {
        let rows: [Int64]
        let damaged: [ClosedRange<Int64>]
        private(set) var searchCount = 0

        init(rows: [Int64], damaged: [ClosedRange<Int64>]) {
            self.rows = rows
            self.damaged = damaged
        }

        func search(_ rowid: Int64) -> DamageSearch.Finding {
            searchCount += 1
            if damaged.contains(where: { $0.contains(rowid) }) { return .damage }
            return .row(rows.first { $0 >= rowid })
        }

        func firstRow(after start: Int64) throws -> Int64? {
            try DamageSearch.firstRowid(after: start) { rowid throws(PrivateDatabaseError) in search(rowid) }
        }
    }

    @Test("The row after damage of any length is found.", arguments: [1, 2, 3, 1023, 1024, 1025, 5000])
    func nextRow(length: Int64) throws {
        let table = Table(rows: [2, 10 + length, 20 + length], damaged: [10...(9 + length)])
        #expect(try table.firstRow(after: 10) == 10 + length)
    }

    @Test("A row some ids after the damage is found at once.")
    func gap() throws {
        let table = Table(rows: [5000], damaged: [10...12])
        #expect(try table.firstRow(after: 10) == 5000)
        #expect(table.searchCount == 3)
    }

    @Test("No row is found after damage at the end.")
    func end() throws {
        #expect(try Table(rows: [1, 2], damaged: [3...9]).firstRow(after: 3) == nil)
        #expect(try Table(rows: [], damaged: [0...5000]).firstRow(after: 0) == nil)
    }

    @Test("The search in endless damage stops after few attempts.")
    func noEnd() throws {
        let table = Table(rows: [1], damaged: [2...Int64.max])
        #expect(try table.firstRow(after: 2) == nil)
        #expect(table.searchCount < 1024 + 70)
    }

    @Test("The search does not try negative ids.", arguments: [Int64.min, -1, 0])
    func lowestStart(start: Int64) throws {
        let table = Table(rows: [7], damaged: [Int64.min...6])
        #expect(try table.firstRow(after: start) == 7)
        #expect(table.searchCount == 7)
    }

    @Test("The number of attempts is logarithmic in the length of the damage, after the ids that are tried one by one.")
    func longDamage() throws {
        let end: Int64 = 1 << 50
        let table = Table(rows: [end], damaged: [100...(end - 1)])
        #expect(try table.firstRow(after: 100) == end)
        #expect(table.searchCount < 1024 + 2 * 64)
    }

    @Test("Damage at the highest ids is handled.")
    func highestIDs() throws {
        #expect(try Table(rows: [.max], damaged: [3...(.max - 1)]).firstRow(after: 3) == .max)
        #expect(try Table(rows: [.max], damaged: [(.max - 5)...(.max - 1)]).firstRow(after: .max - 5) == .max)
        #expect(try Table(rows: [], damaged: [Int64.max...Int64.max]).firstRow(after: .max) == nil)
    }

    @Test("Rows between two damaged ranges are not skipped.")
    func nearDamage() throws {
        let table = Table(rows: [14, 30], damaged: [10...13, 15...29])
        #expect(try table.firstRow(after: 10) == 14)
        #expect(try table.firstRow(after: 15) == 30)
    }

    @Test("Errors other than damage end the search.")
    func otherErrors() {
        #expect(throws: PrivateDatabaseError.outOfBudget) {
            try DamageSearch.firstRowid(after: 1) { rowid throws(PrivateDatabaseError) in
                guard rowid < 5 else { throw .outOfBudget }
                return .damage
            }
        }
    }
}
