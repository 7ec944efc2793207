/// A chart of stacked bars in SVG.
///
/// The SVG contains no scripts and no styles. The style sheet of the page defines the colors.
struct StackedBars {

    private let title: String
    /// The time span of each bar, from left to right.
    private let bars: [DaySpan]
    /// The index of the position of each bar, from the left.
    ///
    /// If the chart omits the time before a bar, the position to the left of the bar is empty.
    private let positions: [Int]
    private let series: [ChartSeries]
    private let countFormatter: CountFormatter

    init(title: String, bars: [DaySpan], series: [ChartSeries], countFormatter: CountFormatter) {
        self.title = title
        self.bars = bars
        self.series = series
        self.countFormatter = countFormatter
        var omissionCount = 0
        positions = bars.indices.map { index in
            if Self.isPrecededByOmission(index, bars) { omissionCount += 1 }
            return index + omissionCount
        }
    }

    private static func isPrecededByOmission(_ bar: Int, _ bars: [DaySpan]) -> Bool {
        bar > 0 && bars[bar - 1].days.upperBound < bars[bar].days.lowerBound
    }

    private static let width = 720.0
    private static let height = 238.0
    private static let leftMargin = 66.0
    private static let rightMargin = 8.0
    private static let topMargin = 18.0
    private static let bottomMargin = 34.0
    private static let maxLabels = 5
    /// The formatter for axis labels, which are never hidden because they are not counts.
    private static let axisFormatter = CountFormatter(minimumCount: 1)
    /// The approximate width, in SVG units, of a date label.
    private static let labelWidth = 80.0

    /// Returns the chart as an SVG element.
    func svg(id: String) -> HTML {
        let scale = AxisScale(
            series.isEmpty ? 0 : bars.indices.map(total).max() ?? 0, minStep: countFormatter.minimumCount)
        return """
            <svg class="chart" role="img" aria-labelledby="\(id)" viewBox="0 0 720 238">\
            <title id="\(id)">\(title)</title>\(scale.ticks.map { gridLine($0, scale) })\
            \(bars.indices.map { bar($0, scale) })\(omissionLines)\(labels)</svg>
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

    /// The distance between adjacent positions.
    private var step: Double {
        (Self.width - Self.leftMargin - Self.rightMargin) / Double(max(1, (positions.last ?? 0) + 1))
    }

    private func x(_ bar: Int) -> Double {
        let wide = min(step, Self.maxBarWidth)
        return Self.leftMargin + step * Double(positions[bar]) + (step - wide) / 2
    }

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
            below += value
            parts.append(
                """
                <rect class="s\(number)" x="\(Self.coordinate(x(index)))" y="\(Self.coordinate(end))" width="\(Self.coordinate(width))" \
                height="\(Self.coordinate(max(0.5, start - end)))"><title>\(bars[index].name): \(series.name) \(countFormatter.text(value))</title></rect>
                """)
        }
        return HTML(parts)
    }

    /// Vertical lines in place of omitted time.
    private var omissionLines: [HTML] {
        bars.indices.filter { Self.isPrecededByOmission($0, bars) }.map { bar in
            let x = Self.coordinate(Self.leftMargin + step * (Double(positions[bar]) - 0.5))
            return """
                <line class="omission" x1="\(x)" x2="\(x)" y1="\(Self.coordinate(Self.topMargin))" \
                y2="\(Self.coordinate(Self.height - Self.bottomMargin))"/>
                """
        }
    }

    /// The date labels below the first bar and, if there is enough room, below bars after omitted time and other bars.
    private var labels: HTML {
        let minDistance = (Self.width - Self.leftMargin - Self.rightMargin) / Double(Self.maxLabels)
        var labels: [HTML] = []
        var lastX = -Self.width
        for (index, bar) in bars.enumerated() {
            let isFirst = index == 0 && step < Self.labelWidth
            let x = isFirst ? Self.leftMargin : x(index) + min(step, Self.maxBarWidth) * 0.43
            let distance = x - lastX - (labels.count == 1 && step < Self.labelWidth ? Self.labelWidth / 2 : 0)
            guard distance >= (Self.isPrecededByOmission(index, bars) ? Self.labelWidth : minDistance) else { continue }
            let end = Self.width - Self.rightMargin
            let isLast = x + Self.labelWidth / 2 > end
            // On narrow pages, every second label is hidden.
            let anchor: HTML = isFirst ? "x first" : isLast ? "x last" : labels.count % 2 == 1 ? "x second" : "x"
            labels.append(
                """
                <text class="\(anchor)" x="\(Self.coordinate(isLast ? end : x))" y="\(Self.coordinate(Self.height - 10))">\(bar.start)</text>
                """)
            lastX = x
        }
        return HTML(labels)
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
