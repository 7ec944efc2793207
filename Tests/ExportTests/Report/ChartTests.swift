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
        // The plot has a height of 186 for the value 4, and its bottom is at 204. A gap separates the first two parts.
        #expect(found.map(\.height) == [93, 45.5, 186])
        #expect(found.map(\.y) == [111, 64.5, 18])
    }

    @Test func smallCountsAreNotDrawn() {
        let svg = chart([[1, 4, 10, 13]], minimumCount: 5).svg(id: "x").text
        #expect(rectangles(svg).map(\.height) == [186, 186])
        #expect(svg.matches(of: /10<\/title>/).count == 2)
        #expect(!svg.contains("13</title>"))
    }

    @Test func smallPartsAreVisible() {
        let found = rectangles(chart([[1, 1], [999, 9999]]).svg(id: "x").text)
        #expect(found.count == 4 && found.allSatisfy { $0.height >= 1 })
    }

    @Test("A break with the length of the pause is in place of omitted time")
    func omittedTime() {
        let svg = chart([[1, 1]], days: [0, 4000]).svg(id: "x").text
        #expect(svg.contains(#"<rect class="break" x="377" y="17" width="24" height="188"/>"#))
        #expect(svg.contains(#"<text class="pause" x="389" y="111" transform="rotate(-90 389 111)">10 years</text>"#))
        #expect(svg.contains(">1980-12-14</text>"))
        #expect(chart([[1, 1]], days: [0, 400]).svg(id: "x").text.contains(">57 weeks</text>"))
        #expect(chart([[1, 1]], days: [0, 100]).svg(id: "x").text.contains(">99 days</text>"))
        #expect(!chart([[1, 1]]).svg(id: "x").text.contains("break"))
    }

    @Test("The first days after pauses have labels, and labels do not overlap")
    func labels() {
        let days = Array(0..<20) + Array(100..<160) + [400]
        let svg = chart([days.map { _ in 1 }], days: days).svg(id: "x").text
        let labels = svg.matches(of: #/<text class="x ([a-z ]+)" x="([^"]+)"[^>]*>([^<]+)</#)
        #expect(
            labels.contains { $0.3 == "1970-04-11" }
                && labels.contains { $0.3 == "1971-02-05" && $0.1.hasPrefix("last") })
        let positions = labels.compactMap { Double($0.2) }
        #expect(labels.count > 3 && zip(positions, positions.dropFirst()).allSatisfy { $1 - $0 >= 48 })
        // On a narrow page, labels have twice the width.
        let wide = labels.filter { !$0.1.hasSuffix("second") }.compactMap { Double($0.2) }
        #expect(wide.count < labels.count && zip(wide, wide.dropFirst()).allSatisfy { $1 - $0 >= 88 })
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
