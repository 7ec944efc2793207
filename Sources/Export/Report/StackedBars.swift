/// A chart of stacked bars in SVG.
///
/// The SVG contains no scripts and no styles. The style sheet of the page defines the colors.
struct StackedBars {

    private let title: String
    /// The time span of each bar, from left to right.
    private let bars: [DaySpan]
    /// The number of pauses that are omitted before each bar.
    private let pauseCounts: [Int]
    private let series: [ChartSeries]
    private let countFormatter: CountFormatter

    init(title: String, bars: [DaySpan], series: [ChartSeries], countFormatter: CountFormatter) {
        self.title = title
        self.bars = bars
        self.series = series
        self.countFormatter = countFormatter
        var count = 0
        pauseCounts = bars.indices.map { index in
            if bars.pause(before: index) != nil { count += 1 }
            return count
        }
    }

    private static let width = 720.0
    private static let height = 238.0
    private static let leftMargin = 66.0
    private static let rightMargin = 8.0
    private static let topMargin = 18.0
    private static let bottomMargin = 34.0
    /// The formatter for axis labels, which are never hidden because they are not counts.
    private static let axisFormatter = CountFormatter(minimumCount: 1)
    /// The width, in SVG units, of the break in place of an omitted pause.
    ///
    /// The label of the break fits into it on narrow pages, too.
    private static let breakWidth = 30.0

    /// Returns the chart as an SVG element.
    func svg(id: String) -> HTML {
        let scale = AxisScale(
            series.isEmpty ? 0 : bars.indices.map(total).max() ?? 0, minStep: countFormatter.minimumCount)
        return """
            <svg class="chart" role="img" aria-labelledby="\(id)" viewBox="0 0 720 238">\
            <title id="\(id)">\(title)</title>\(scale.ticks.map { gridLine($0, scale) })\
            \(bars.indices.map { bar($0, scale) })\(bars.indices.map(axisBreak))\(labels)</svg>
            """
    }

    private func total(_ bar: Int) -> Int { series.reduce(0) { $0 + countFormatter.chartValue($1.values[bar]) } }

    private func y(_ value: Int, _ scale: AxisScale) -> Double {
        let plotHeight = Self.height - Self.topMargin - Self.bottomMargin
        return Self.height - Self.bottomMargin - plotHeight * Double(value) / Double(max(1, scale.maxValue))
    }

    private func gridLine(_ value: Int, _ scale: AxisScale) -> HTML {
        let y = y(value, scale)
        return """
            <line x1="\(Self.coordinate(Self.leftMargin))" x2="\(Self.coordinate(Self.width - Self.rightMargin))" y1="\(Self.coordinate(y))" \
            y2="\(Self.coordinate(y))"/><text class="y" x="\(Self.coordinate(Self.leftMargin - 6))" y="\(Self.coordinate(y + 4))">\(Self.axisFormatter.text(value))</text>
            """
    }

    /// The distance between adjacent bars.
    private var step: Double {
        let breaks = Self.breakWidth * Double(pauseCounts.last ?? 0)
        return (Self.width - Self.leftMargin - Self.rightMargin - breaks) / Double(max(1, bars.count))
    }

    /// Returns the left end of the room for a bar.
    private func start(_ bar: Int) -> Double {
        Self.leftMargin + step * Double(bar) + Self.breakWidth * Double(pauseCounts[bar])
    }

    private func x(_ bar: Int) -> Double { start(bar) + (step - min(step, Self.maxBarWidth)) / 2 }

    /// The maximum width of a bar, so that a single bar does not fill the chart.
    private static let maxBarWidth = 80.0

    private func bar(_ index: Int, _ scale: AxisScale) -> HTML {
        var below = 0
        var parts: [HTML] = []
        let width = min(step, Self.maxBarWidth) * 0.86
        for (number, series) in series.enumerated() {
            let value = countFormatter.chartValue(series.values[index])
            guard value > 0 else { continue }
            let (start, end) = (y(below, scale), y(below + value, scale))
            // A gap separates the parts of a bar, and each part is visible.
            let height = max(1, start - end - (below > 0 ? 1 : 0))
            below += value
            parts.append(
                """
                <rect class="s\(number)" x="\(Self.coordinate(x(index)))" y="\(Self.coordinate(min(end, start - 1)))" width="\(Self.coordinate(width))" \
                height="\(Self.coordinate(height))"><title>\(bars[index].name): \(series.name) \(countFormatter.text(value))</title></rect>
                """)
        }
        return HTML(parts)
    }

    /// Returns a break of the axis with the length of the pause before a bar, or nothing if no pause is omitted.
    private func axisBreak(_ bar: Int) -> HTML {
        guard let pause = bars.pause(before: bar) else { return "" }
        let (left, width) = (start(bar) - Self.breakWidth + 3, Self.breakWidth - 6)
        let (top, height) = (Self.topMargin - 1, Self.height - Self.bottomMargin - Self.topMargin + 2)
        let (x, y) = (Self.coordinate(left + width / 2), Self.coordinate(top + height / 2))
        return """
            <rect class="break" x="\(Self.coordinate(left))" y="\(Self.coordinate(top))" width="\(Self.coordinate(width))" \
            height="\(Self.coordinate(height))"/><text class="pause" x="\(x)" y="\(y)" transform="rotate(-90 \(x) \(y))">\(pause.length)</text>
            """
    }

    /// The date labels below the first bars after pauses and, if there is enough room, below other bars.
    private var labels: [HTML] {
        var labels: [AxisLabel] = []
        func add(_ bar: Int, minDistance: Double) {
            let label = AxisLabel(text: bars[bar].start, center: x(bar) + min(step, Self.maxBarWidth) * 0.43)
            if !labels.contains(where: { label.overlaps($0, minDistance: minDistance) }) { labels.append(label) }
        }
        for bar in bars.indices where bar == 0 || bars.pause(before: bar) != nil { add(bar, minDistance: 8) }
        for bar in bars.indices { add(bar, minDistance: AxisLabel.width / 2) }
        labels.sort { $0.center < $1.center }
        var last: AxisLabel?
        return labels.map { label in
            // On narrow pages, labels have twice the width, and are hidden if they would overlap.
            let isHidden = last?.overlaps(label, minDistance: 8, scale: 2) ?? false
            if !isHidden { last = label }
            let (anchor, x) = label.anchor
            return """
                <text class="x \(anchor)\(isHidden ? " second" : "" as HTML)" x="\(Self.coordinate(x))" \
                y="\(Self.coordinate(Self.height - 10))">\(label.text)</text>
                """
        }
    }

    /// A date below the axis.
    private struct AxisLabel {
        let text: String
        /// The x coordinate of the center of the bar.
        let center: Double

        /// The approximate width in SVG units.
        static let width = 80.0
        private static let axis = StackedBars.leftMargin...StackedBars.width - StackedBars.rightMargin

        /// The class and the x coordinate of the label, which does not extend beyond the ends of the axis.
        var anchor: (name: HTML, x: Double) {
            if center - Self.width / 2 < Self.axis.lowerBound { return ("first", Self.axis.lowerBound) }
            if center + Self.width / 2 > Self.axis.upperBound { return ("last", Self.axis.upperBound) }
            return ("middle", center)
        }

        /// Returns whether the labels are closer than `minDistance` if their text is enlarged by a factor.
        func overlaps(_ other: AxisLabel, minDistance: Double, scale: Double = 1) -> Bool {
            let (left, right) = center < other.center ? (self, other) : (other, self)
            return right.start(scale) - left.start(scale) < Self.width * scale + minDistance
        }

        private func start(_ scale: Double) -> Double {
            let (name, x) = anchor
            return x - Self.width * scale * (name.text == "first" ? 0 : name.text == "last" ? 1 : 0.5)
        }
    }

    /// Formats a coordinate with at most one decimal digit.
    private static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

/// A series of values that are drawn in the same color.
struct ChartSeries {
    let name: String
    /// The value for each bar.
    let values: [Int]
}

/// An axis scale with at most five steps that ends at a round number.
struct AxisScale {
    let maxValue: Int
    /// The values of the grid lines, starting with 0.
    let ticks: [Int]

    /// Creates a scale for values up to `largest`, with steps of at least `minStep`.
    init(_ largest: Int, minStep: Int = 1) {
        var step = 1
        var factor = 0
        // The steps are 1, 2, 5, 10, 20, 50, and so on.
        while step < Int.max / 100, step < minStep || step * 5 < largest {
            step = factor % 3 == 1 ? step / 2 * 5 : step * 2
            factor += 1
        }
        let count = max(1, largest / step + (largest % step == 0 ? 0 : 1))
        ticks = (0...min(count, 5)).map { $0 * step }
        maxValue = min(count, 5) * step
    }
}
