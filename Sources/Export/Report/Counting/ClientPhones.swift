/// What is known of the phone of each client. Many have the same app and the same model, so that a client takes two small numbers.
struct ClientPhones: Sendable {
    /// Places among the apps and the models; 0 where nothing is known.
    private struct Places: Sendable {
        var app: UInt16 = 0
        var model: UInt16 = 0
    }

    private var places: [ClientKey: Places] = [:]
    /// The clients as they were first met, so that equal input is counted in one order.
    private var order: [ClientKey] = []
    /// What stands for records without a client: at most one for each system.
    private var nobody: Set<ClientKey> = []
    private var apps = NumberedValues(ReportApp())
    private var models = NumberedValues(ReportModel())

    /// Learns from a record: what it does not tell stays as it was.
    /// - Parameter isClient: false for the records of a system without a client.
    mutating func note(_ client: ClientKey, _ phone: ReportPhone, isClient: Bool) {
        if !isClient { nobody.insert(client) }
        if places[client] == nil { order.append(client) }
        var known = places[client] ?? Places()
        known.app = apps.number(of: apps[known.app].updated(by: phone.app)) ?? known.app
        known.model = models.number(of: models[known.model].updated(by: phone.model)) ?? known.model
        places[client] = known
    }

    /// Adds what later records tell.
    mutating func add(_ later: ClientPhones) {
        for client in later.order { note(client, later[client], isClient: !later.nobody.contains(client)) }
    }

    subscript(client: ClientKey) -> ReportPhone {
        let known = places[client] ?? Places()
        return ReportPhone(app: apps[known.app], model: models[known.model])
    }

    /// How many clients have each app.
    var clientsByApp: [ReportApp: Int] { clients { apps[$0.app] } }

    /// How many clients have each model.
    var clientsByModel: [ReportModel: Int] { clients { models[$0.model] } }

    private func clients<Key: Hashable>(by key: (Places) -> Key) -> [Key: Int] {
        var counts: [Key: Int] = [:]
        for (client, known) in places where !nobody.contains(client) { counts[key(known), default: 0] += 1 }
        return counts
    }
}

/// Values that many things have in common, each with a number.
private struct NumberedValues<Value: Hashable & Sendable>: Sendable {
    private var values: [Value]
    private var numbers: [Value: UInt16]

    /// A capture may name any number of apps and models; beyond these, none is learned.
    private static var limit: Int { 16_384 }

    /// - Parameter unknown: the value with the number 0.
    init(_ unknown: Value) {
        values = [unknown]
        numbers = [unknown: 0]
    }

    subscript(number: UInt16) -> Value { values[Int(number)] }

    /// - Returns: nil for a value beyond the limit.
    mutating func number(of value: Value) -> UInt16? {
        if let number = numbers[value] { return number }
        guard values.count < Self.limit else { return nil }
        let number = UInt16(values.count)
        values.append(value)
        numbers[value] = number
        return number
    }
}
