import SQLite

extension Database {
    func hasRow(_ sql: StaticString, _ values: [any DatabaseValue]) throws -> Bool {
        let found: Int? = try first(sql, values)
        return found != nil
    }

    func changeCount(running sql: StaticString, _ values: [any DatabaseValue]) throws -> Int {
        try run(sql, values)
        return changeCount
    }

    /// Returns the keys in the first two columns of the rows that a query produces.
    func keys(_ sql: StaticString, _ values: [any DatabaseValue] = []) throws -> Set<DeliveryKey> {
        var keys: Set<DeliveryKey> = []
        try rows(sql, values) { row in
            if let key = DeliveryKey(row, at: 0) { keys.insert(key) }
        }
        return keys
    }
}
