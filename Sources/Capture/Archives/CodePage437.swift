/// Code page 437, the default character set of names in zip archives.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", appendix D.
enum CodePage437 {
    private static let upperHalf = Array(
        """
        ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
        └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ 
        """.unicodeScalars)

    /// Returns `name` in UTF-8.
    ///
    /// A name that is valid UTF-8 is returned unchanged, because many programs store UTF-8 without stating it.
    static func utf8(_ name: [UInt8]) -> [UInt8] {
        guard (try? UTF8Span(validating: name.span)) == nil else { return name }
        var text = String.UnicodeScalarView()
        for byte in name { text.append(byte < 0x80 ? Unicode.Scalar(byte) : upperHalf[Int(byte) - 0x80]) }
        return Array(String(text).utf8)
    }
}
