import JSONText
import Telemetry

extension GleanRows {
    static let metrics = RowTable<MetricRow>(
        ofRecords: "metrics", aRowForEach: "metric of a Glean ping, and for each label of a labeled metric",
        indexes: [["name"]],
        [
            .cell(
                "metric_type", .text, "the type of the metric, such as `counter` or `labeled_counter`", isRequired: true
            ) { $0.type },
            .cell("name", .text, "the category and the name of the metric, separated by a dot") { $0.name },
            .cell("label", .text, "the label, if the metric is labeled; the key of a dual-labeled counter") {
                $0.label
            },
            .cell("second_label", .text, "the second label: the category of a dual-labeled counter") {
                $0.secondLabel
            },
            .cell("value", .text, "the value in the ping: a string as it is, any other value as JSON") { $0.value },
            .cell(
                "number", .real,
                "the value of a counter, quantity or timespan, the sum of a distribution, or the quotient of a rate; an "
                    + "integer above 2⁵³ is rounded"
            ) { $0.number },
            .cell(
                "unit", .text,
                "the unit of `number`: that of the ping, `nanosecond` for timing distributions, `byte` for memory "
                    + "distributions, otherwise that of the definition"
            ) { $0.unit },
            .cell("description", .text, "the first sentence of the description, if there is a definition") {
                $0.description
            },
        ])

    static let definitions = RowTable<GleanDefinition>(
        "metric_definitions", aRowForEach: "Glean metric or event that `--glean-definitions` defines",
        key: ["name"],
        [
            .text("name", "the category and the name, separated by a dot, as in `metrics` and `events`") { $0.name },
            .text("metric_type", "the type of the metric, which is `event` for an event") { $0.type },
            .text("description", "the description") { $0.description },
            .text("unit", "the unit of a quantity or of a custom distribution") { $0.unit },
            .text("time_unit", "the resolution of a time or of a duration") { $0.timeUnit },
            .text("memory_unit", "the unit in which the app records memory sizes") { $0.memoryUnit },
            .text(
                "sensitivity", "the categories of the collected data, separated by a comma and a space"
            ) { $0.sensitivities?.joined(separator: ", ") },
            .text("expires", "the date or version at which recording ends, or `never`") { $0.expiration },
            .text("lifetime", "the lifetime of the value on the device: `ping`, `application` or `user`") {
                $0.lifetime
            },
            .text("pings", "the names of the pings that contain the value, separated by a comma and a space") {
                $0.pings?.joined(separator: ", ")
            },
            .json("labels", "the permitted labels, if the definition lists them") { $0.labels },
            .json("second_labels", "the permitted second labels, if the definition lists them") { $0.secondLabels },
            .stored("extra_keys", .json, "the definitions of the extras of an event") { definition, buffer in
                definition.extraKeys.map { buffer.keep($0.span) } ?? .null
            },
        ])
}

/// The cells of a row in the table `metrics`.
struct MetricRow {
    var type = Cell.null
    var name = Cell.null
    var label = Cell.null
    var secondLabel = Cell.null
    var value = Cell.null
    var number = Cell.null
    var unit = Cell.null
    var description = Cell.null
}

/// A collector of the rows for the metrics of a ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 9.
struct MetricRows {
    private let definitions: GleanDefinitions
    private var rows: [MetricRow] = []

    init(_ definitions: GleanDefinitions) { self.definitions = definitions }

    /// Returns a row for each metric, or for each label of a labeled metric.
    ///
    /// A metric type whose value is not an object gets a single row.
    func rows(of metrics: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer) -> [MetricRow] {
        var collector = self
        for type in document.members(of: metrics) {
            var row = MetricRow(type: buffer.keep(string: type.key, of: document))
            guard document.kind(of: type.value) == .object else {
                row.value = buffer.keep(value: type.value, of: document)
                collector.rows.append(row)
                continue
            }
            let kind = MetricKind(document.string(of: type.key))
            for metric in document.members(of: type.value) {
                row.name = buffer.keep(string: metric.key, of: document)
                let definition = definitions.count == 0 ? nil : definitions[document.string(of: metric.key)]
                row.description = buffer.keep(definition?.summary)
                collector.add(metric.value, kind, definition, row, in: document, &buffer)
            }
        }
        return collector.rows
    }

    /// Adds a row for a value, or rows for its labels if the kind of the metric has labels.
    private mutating func add(
        _ value: JSONNode, _ kind: MetricKind, _ definition: GleanDefinition?, _ start: MetricRow,
        in document: JSONDocument, _ buffer: inout RowBuffer
    ) {
        var row = start
        guard kind.labelCount > 0, document.memberCount(of: value) > 0 else {
            row.value = buffer.keep(value: value, of: document)
            // Without the expected labels, the value is not that of the underlying type.
            if kind.labelCount == 0 {
                row.number = kind.number(value, in: document, &buffer)
                if row.number != .null { row.unit = kind.unit(value, definition, in: document, &buffer) }
            }
            return rows.append(row)
        }
        for label in document.members(of: value) {
            let cell = buffer.keep(string: label.key, of: document)
            if start.label == .null { row.label = cell } else { row.secondLabel = cell }
            add(label.value, kind.withoutLabel, definition, row, in: document, &buffer)
        }
    }
}

/// The numeric contents and the number of labels of a metric type.
private struct MetricKind {
    /// The values of the underlying type, of which labeled types have one for each label.
    ///
    /// The raw value is the name of the type.
    private enum Values: String {
        /// Values that are numbers, including those of the type `quantity`.
        case number = "counter"
        case timespan
        case timingDistribution = "timing_distribution"
        case memoryDistribution = "memory_distribution"
        case customDistribution = "custom_distribution"
        case rate
        /// Values without a number, or values of an unknown type.
        case other = ""
    }

    private let values: Values
    /// The number of levels of labels.
    let labelCount: Int

    /// Creates the kind of the metric type called `type`, such as `labeled_counter`.
    init(_ type: String) {
        var name = type[...]
        if name.hasPrefix("dual_labeled_") {
            name.removeFirst("dual_labeled_".count)
            labelCount = 2
        } else if name.hasPrefix("labeled_") {
            name.removeFirst("labeled_".count)
            labelCount = 1
        } else {
            labelCount = 0
        }
        values = name == "quantity" ? .number : Values(rawValue: String(name)) ?? .other
    }

    private init(_ values: Values, labelCount: Int) {
        self.values = values
        self.labelCount = labelCount
    }

    /// The kind of the values for a label.
    var withoutLabel: MetricKind { MetricKind(values, labelCount: labelCount - 1) }

    /// Returns the number in `value`, or null if it has none.
    func number(_ value: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer) -> Cell {
        func member(_ key: JSONKey) -> JSONNode? { document.value(of: key, in: value) }
        func integer(_ key: JSONKey) -> Double? {
            guard case .integer(let number) = buffer.keep(integer: member(key), of: document) else { return nil }
            return Double(number)
        }
        switch values {
        case .number: return buffer.keep(real: value, of: document)
        case .timespan: return buffer.keep(real: member(GleanKeys.timespanValue), of: document)
        case .timingDistribution, .memoryDistribution, .customDistribution:
            return buffer.keep(real: member(GleanKeys.sum), of: document)
        case .rate:
            guard let numerator = integer(GleanKeys.numerator), let denominator = integer(GleanKeys.denominator) else {
                return .null
            }
            return buffer.keep(numerator / denominator)
        case .other: return .null
        }
    }

    /// Returns the unit of the number in `value`, or null if it is unknown.
    ///
    /// The SDK stores the times of timing distributions in nanoseconds and the sizes of memory distributions in bytes,
    /// whatever unit the app uses. Source: "Timing Distribution" and "Memory Distribution" in the Glean book.
    func unit(
        _ value: JSONNode, _ definition: GleanDefinition?, in document: JSONDocument, _ buffer: inout RowBuffer
    ) -> Cell {
        let stated = buffer.keep(string: document.value(of: GleanKeys.timeUnit, in: value), of: document)
        guard stated == .null else { return stated }
        switch values {
        case .timespan: return buffer.keep(definition?.timeUnit)
        case .timingDistribution: return buffer.keep("nanosecond")
        case .memoryDistribution: return buffer.keep("byte")
        case .number, .customDistribution: return buffer.keep(definition?.unit)
        case .rate, .other: return .null
        }
    }
}
