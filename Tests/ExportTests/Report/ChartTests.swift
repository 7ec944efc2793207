import Testing

@testable import Export

/// Tests of charts.
@Suite struct ChartTests {
    @Test(
        "A scale ends at a round number and has few steps",
        arguments: [
            (0, [0, 1]), (1, [0, 1]), (3, [0, 1, 2, 3]), (5, [0, 1, 2, 3, 4, 5]), (6, [0, 2, 4, 6]),
            (11, [0, 5, 10, 15]), (26, [0, 10, 20, 30]), (100, [0, 20, 40, 60, 80, 100]),
            (250_001, [0, 100_000, 200_000, 300_000]),
        ])
    func scale(largest: Int, ticks: [Int]) {
        #expect(AxisScale(largest).ticks == ticks)
        #expect(AxisScale(largest).maxValue == ticks.last)
    }

    @Test func hugeScaleDoesNotOverflow() { #expect(AxisScale(.max).ticks.first == 0) }

    @Test func scaleWithLargeSteps() {
        #expect(AxisScale(5, minStep: 5).ticks == [0, 5])
        #expect(AxisScale(21, minStep: 7).ticks == [0, 10, 20, 30])
    }

    private func chart(_ values: [[Int]], days: [Int]? = nil, minimumCount: Int = 1) -> StackedBars {
        StackedBars(
            title: "A & B", bars: (days ?? Array(values[0].indices)).map { DaySpan(days: $0..<$0 + 1) },
            series: values.enumerated().map { ChartSeries(name: "<\($0)>", values: $1) },
            countFormatter: CountFormatter(minimumCount: minimumCount))
    }

    /// Returns the classes, y coordinates and heights of the rectangles of a chart.
    private func rectangles(_ svg: String) -> [(name: String, y: Double, height: Double)] {
        svg.matches(of: #/<rect class="(s\d)" x="[^"]+" y="([^"]+)" width="[^"]+" height="([^"]+)"/#).compactMap {
            guard let y = Double($0.2), let height = Double($0.3) else { return nil }
            return (String($0.1), y, height)
        }
    }

    @Test func seriesAreStacked() {
        let found = rectangles(chart([[2, 0], [1, 4]]).svg(id: "x").text)
        #expect(found.map(\.name) == ["s0", "s1", "s1"])
        // The plot has a height of 186 for the value 4, and its bottom is at 204.
        #expect(found.map(\.height) == [93, 46.5, 186])
        #expect(found.map(\.y) == [111, 64.5, 18])
    }

    @Test func smallCountsAreNotDrawn() {
        let svg = chart([[1, 4, 10, 13]], minimumCount: 5).svg(id: "x").text
        #expect(rectangles(svg).map(\.height) == [186, 186])
        #expect(svg.matches(of: /10<\/title>/).count == 2)
        #expect(!svg.contains("13</title>"))
    }

    @Test func omittedTimeIsALine() {
        let svg = chart([[1, 1]], days: [0, 4000]).svg(id: "x").text
        #expect(svg.contains(#"<line class="omission" x1="389" x2="389" y1="18" y2="204"/>"#))
        #expect(svg.contains(">1980-12-14</text>"))
        #expect(!chart([[1, 1]]).svg(id: "x").text.contains("omission"))
    }

    @Test func titleNamesTheChart() {
        let svg = chart([[1]]).svg(id: "x").text
        #expect(
            svg.hasPrefix(
                #"<svg class="chart" role="img" aria-labelledby="x" viewBox="0 0 720 238"><title id="x">A &amp; B</title>"#
            ))
        #expect(svg.contains("<title>1970-01-01: &lt;0&gt; 1</title>"))
    }

    @Test func emptyChart() {
        let svg = chart([[0, 0]]).svg(id: "x").text
        #expect(!svg.contains("<rect"))
        #expect(svg.hasSuffix("</svg>"))
    }

    @Test(arguments: [(0, 10, "0"), (1, 1000, "5"), (5, 10, "500"), (10, 10, "1000"), (3, 0, "5")])
    func barInACell(value: Int, largest: Int, width: String) {
        #expect(Bar(value: value, maxValue: largest).svg.text.contains("<rect class=\"s0\" width=\"\(width)\""))
    }
}
