/// A bar beside a number in a cell of a table.
///
/// The bar is hidden from screen readers, because they read the number.
struct Bar {
    let value: Int
    let maxValue: Int

    var svg: HTML {
        let tenths = maxValue <= 0 ? 0 : Int((1000 * Double(min(value, maxValue)) / Double(maxValue)).rounded())
        let width = "\(max(tenths, value > 0 ? 5 : 0))"
        return """
            <svg class="bar" aria-hidden="true" viewBox="0 0 1000 10" preserveAspectRatio="none">\
            <rect class="s0" width="\(width)" height="10"/></svg>
            """
    }
}
