/// A chart of bars side by side, each of which is made of parts: numbers become SVG.
///
/// The text has no script and no style of its own: classes (`s0`, `s1`, …) name the colours, which the page has for light and dark.
struct StackedBars {
    /// Numbers that are drawn in one colour.
    struct Series {
        let name: String
        /// A value for each bar.
        let values: [Int]
    }

    let title: String
    /// The names of the bars, from left to right.
    let bars: [DaySpan]
    let series: [Series]
    /// How a value is written.
    let write: (Int) -> String
    /// How high a value is drawn, where that must not tell more than the text does.
    var draw: (Int) -> Int = { $0 }

    private static let width = 720.0
    private static let height = 238.0
    private static let left = 66.0
    private static let right = 8.0
    private static let top = 18.0
    private static let bottom = 34.0
    private static let maxLabels = 5
    /// The numbers beside the lines are no counts.
    private static let axis = CountFormatter(minimum: 1)
    /// About the width of a date.
    private static let labelWidth = 80.0

    /// - Parameter id: names its title in the page.
    func svg(id: String) -> HTML {
        let scale = AxisScale(series.isEmpty ? 0 : bars.indices.map(total).max() ?? 0)
        return """
            <svg class="chart" role="img" aria-labelledby="\(id)" viewBox="0 0 720 238">\
            <title id="\(id)">\(title)</title>\(scale.ticks.map { grid($0, scale) })\
            \(bars.indices.map { bar($0, scale) })\(labels)</svg>
            """
    }

    private func total(_ bar: Int) -> Int { series.reduce(0) { $0 + draw($1.values[bar]) } }

    private func y(_ value: Int, _ scale: AxisScale) -> Double {
        let room = Self.height - Self.top - Self.bottom
        return Self.height - Self.bottom - room * Double(value) / Double(max(1, scale.end))
    }

    private func grid(_ value: Int, _ scale: AxisScale) -> HTML {
        let y = y(value, scale)
        return """
            <line x1="\(Self.number(Self.left))" x2="\(Self.number(Self.width - Self.right))" y1="\(Self.number(y))" \
            y2="\(Self.number(y))"/><text class="y" x="\(Self.number(Self.left - 6))" y="\(Self.number(y + 4))">\(Self.axis.text(value))</text>
            """
    }

    /// The room of a bar and the gap behind it.
    private var step: Double { (Self.width - Self.left - Self.right) / Double(max(1, bars.count)) }

    private func x(_ bar: Int) -> Double {
        let wide = min(step, Self.widest)
        return Self.left + step * Double(bar) + (step - wide) / 2
    }

    /// A single bar does not fill the chart.
    private static let widest = 80.0

    private func bar(_ place: Int, _ scale: AxisScale) -> HTML {
        var below = 0
        var parts: [HTML] = []
        let width = min(step, Self.widest) * 0.86
        for (number, series) in series.enumerated() where series.values[place] > 0 {
            let value = series.values[place]
            let (start, end) = (y(below, scale), y(below + draw(value), scale))
            below += draw(value)
            parts.append(
                """
                <rect class="s\(number)" x="\(Self.number(x(place)))" y="\(Self.number(end))" width="\(Self.number(width))" \
                height="\(Self.number(max(0.5, start - end)))"><title>\(bars[place].name): \(series.name) \(write(value))</title></rect>
                """)
        }
        return HTML(parts)
    }

    /// Names under some of the bars, the first of them always.
    private var labels: HTML {
        let gap = max(1, (bars.count + Self.maxLabels - 1) / Self.maxLabels)
        return HTML(
            stride(from: 0, to: bars.count, by: gap).enumerated().map { number, place in
                let isFirst = place == 0 && step < Self.labelWidth
                let x = isFirst ? Self.left : x(place) + min(step, Self.widest) * 0.43
                // A narrow page has room for every second one.
                let anchor: HTML = isFirst ? "x first" : number % 2 == 1 ? "x second" : "x"
                return """
                    <text class="\(anchor)" x="\(Self.number(x))" y="\(Self.number(Self.height - 10))">\(bars[place].start)</text>
                    """
            })
    }

    /// A number with one digit behind the point, as SVG has it.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

/// A scale that ends at a round number, with up to five steps.
struct AxisScale {
    let end: Int
    /// The values at which there is a line, from 0 on.
    let ticks: [Int]

    init(_ largest: Int) {
        var step = 1
        var factor = 0
        // 1, 2, 5, 10, 20, 50, …
        while step < Int.max / 100, step * 5 < largest {
            step = factor % 3 == 1 ? step / 2 * 5 : step * 2
            factor += 1
        }
        let count = max(1, largest / step + (largest % step == 0 ? 0 : 1))
        ticks = (0...min(count, 5)).map { $0 * step }
        end = min(count, 5) * step
    }
}
