/// The character set of names in zip archives that do not say theirs.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", appendix D. Many programs write UTF-8 there all the same.
enum CodePage437 {
    /// The characters of the bytes from 0x80 on.
    private static let upper = Array(
        """
        ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
        └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ 
        """.unicodeScalars)

    /// A name as UTF-8: left alone if it is that already.
    static func text(_ name: [UInt8]) -> [UInt8] {
        guard (try? UTF8Span(validating: name.span)) == nil else { return name }
        var text = String.UnicodeScalarView()
        for byte in name { text.append(byte < 0x80 ? Unicode.Scalar(byte) : upper[Int(byte) - 0x80]) }
        return Array(String(text).utf8)
    }
}
