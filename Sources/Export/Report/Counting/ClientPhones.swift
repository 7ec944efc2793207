import Bundle

/// What is known of the phone of each client. Many have the same app and the same model, so that a client takes two small numbers.
struct ClientPhones: Sendable {
    /// The numbers of an app and a model. 0 stands for an unknown one.
    private struct Places: Sendable {
        var app: UInt32 = 0
        var model: UInt32 = 0
    }

    /// The maximum number of apps and of models. A capture may name any number of them.
    private static let limit = 16_384

    private var places: [ClientKey: Places] = [:]
    /// The clients as they were first met, so that equal input is counted in one order.
    private var order: [ClientKey] = []
    /// What stands for records without a client: at most one for each system.
    private var withoutClient: Set<ClientKey> = []
    private var apps = NumberedValues(ReportApp())
    private var models = NumberedValues(ReportModel())

    /// Learns from a record: what it does not tell stays as it was.
    /// - Parameter isClient: false for the records of a system without a client.
    mutating func update(_ client: ClientKey, _ phone: ReportPhone, isClient: Bool) {
        if !isClient { withoutClient.insert(client) }
        if places[client] == nil { order.append(client) }
        var known = places[client] ?? Places()
        let (app, model) = (apps[known.app].updated(by: phone.app), models[known.model].updated(by: phone.model))
        known.app = apps.number(of: app, limit: Self.limit) ?? known.app
        known.model = models.number(of: model, limit: Self.limit) ?? known.model
        places[client] = known
    }

    mutating func add(_ later: ClientPhones) {
        for client in later.order { update(client, later[client], isClient: !later.withoutClient.contains(client)) }
    }

    subscript(client: ClientKey) -> ReportPhone {
        let known = places[client] ?? Places()
        return ReportPhone(app: apps[known.app], model: models[known.model])
    }

    var clientsByApp: [ReportApp: Int] { clients { apps[$0.app] } }

    var clientsByModel: [ReportModel: Int] { clients { models[$0.model] } }

    private func clients<Key: Hashable>(by key: (Places) -> Key) -> [Key: Int] {
        var counts: [Key: Int] = [:]
        for (client, known) in places where !withoutClient.contains(client) { counts[key(known), default: 0] += 1 }
        return counts
    }
}
