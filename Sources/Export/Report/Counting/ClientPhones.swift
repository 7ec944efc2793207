import Bundle

/// The latest app and phone model of each client.
///
/// To save memory, each client refers to its app and its model by numbers.
struct ClientPhones: Sendable {
    /// The numbers of an app and a phone model.
    ///
    /// The number 0 means unknown.
    private struct Numbers: Sendable {
        var app: UInt32 = 0
        var model: UInt32 = 0
    }

    /// The maximum number of apps, and of models, that are distinguished.
    private static let limit = 16_384

    private var numbers: [ClientKey: Numbers] = [:]
    /// The clients in the order of their first occurrence.
    private var order: [ClientKey] = []
    /// The keys for records without a client.
    ///
    /// There is at most one key for each system.
    private var withoutClient: Set<ClientKey> = []
    private var apps = NumberedValues(ReportApp())
    private var models = NumberedValues(ReportModel())

    /// Updates the app and the phone model of a client with the known properties of `phone`.
    mutating func update(_ client: ClientKey, _ phone: ReportPhone, isClient: Bool) {
        if !isClient { withoutClient.insert(client) }
        if numbers[client] == nil { order.append(client) }
        var known = numbers[client] ?? Numbers()
        let (app, model) = (apps[known.app].updated(by: phone.app), models[known.model].updated(by: phone.model))
        known.app = apps.number(of: app, limit: Self.limit) ?? known.app
        known.model = models.number(of: model, limit: Self.limit) ?? known.model
        numbers[client] = known
    }

    mutating func add(_ later: ClientPhones) {
        for client in later.order { update(client, later[client], isClient: !later.withoutClient.contains(client)) }
    }

    subscript(client: ClientKey) -> ReportPhone {
        let known = numbers[client] ?? Numbers()
        return ReportPhone(app: apps[known.app], model: models[known.model])
    }

    var clientsByApp: [ReportApp: Int] { clients { apps[$0.app] } }

    var clientsByModel: [ReportModel: Int] { clients { models[$0.model] } }

    private func clients<Key: Hashable>(by key: (Numbers) -> Key) -> [Key: Int] {
        var counts: [Key: Int] = [:]
        for (client, known) in numbers where !withoutClient.contains(client) { counts[key(known), default: 0] += 1 }
        return counts
    }
}
