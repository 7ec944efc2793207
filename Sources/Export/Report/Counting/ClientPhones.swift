import Bundle

/// The latest app and phone model of each client.
///
/// Each client uses two small numbers, because many clients have the same app and the same model.
struct ClientPhones: Sendable {
    /// The numbers of an app and a model, where 0 means unknown.
    private struct Numbers: Sendable {
        var app: UInt32 = 0
        var model: UInt32 = 0
    }

    /// The maximum number of apps and of models.
    private static let limit = 16_384

    private var numbers: [ClientKey: Numbers] = [:]
    /// The clients in the order of first occurrence, so that equal input is counted in the same order.
    private var order: [ClientKey] = []
    /// The keys that stand for records without a client, at most one for each system.
    private var withoutClient: Set<ClientKey> = []
    private var apps = NumberedValues(ReportApp())
    private var models = NumberedValues(ReportModel())

    /// Updates the properties of a client that a record states.
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
