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
    private static let maxValueCount = 16_384

    private var numbers: [ClientKey: Numbers] = [:]
    /// The clients in the order of their first occurrence.
    private var clientOrder: [ClientKey] = []
    /// The keys for records without a client.
    ///
    /// There is at most one key for each system.
    private var keysWithoutClient: Set<ClientKey> = []
    private var apps = NumberedValues(ReportApp())
    private var models = NumberedValues(ReportModel())

    /// Updates the app and the phone model of a client with the known properties of `phone`.
    mutating func update(_ client: ClientKey, _ phone: ReportPhone, isClient: Bool) {
        if !isClient { keysWithoutClient.insert(client) }
        if numbers[client] == nil { clientOrder.append(client) }
        var known = numbers[client] ?? Numbers()
        let (app, model) = (apps[known.app].updated(by: phone.app), models[known.model].updated(by: phone.model))
        known.app = apps.number(of: app, limit: Self.maxValueCount) ?? known.app
        known.model = models.number(of: model, limit: Self.maxValueCount) ?? known.model
        numbers[client] = known
    }

    mutating func add(_ later: ClientPhones) {
        for client in later.clientOrder {
            update(client, later[client], isClient: !later.keysWithoutClient.contains(client))
        }
    }

    subscript(client: ClientKey) -> ReportPhone {
        let known = numbers[client] ?? Numbers()
        return ReportPhone(app: apps[known.app], model: models[known.model])
    }

    var clientCountsByApp: [ReportApp: Int] { clientCounts { apps[$0.app] } }

    var clientCountsByModel: [ReportModel: Int] { clientCounts { models[$0.model] } }

    private func clientCounts<Key: Hashable>(by key: (Numbers) -> Key) -> [Key: Int] {
        var counts: [Key: Int] = [:]
        for (client, known) in numbers where !keysWithoutClient.contains(client) { counts[key(known), default: 0] += 1 }
        return counts
    }
}
