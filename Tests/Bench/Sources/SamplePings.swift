/// Event pings in the format in which Foundation writes them on a device.
enum SamplePings {
    static func texts(count: Int) -> [[UInt8]] {
        (0..<count).map { Array(text($0).utf8) }
    }

    private static func text(_ number: Int) -> String {
        let id = "0C5A3B52-6E0B-4C8D-9F53-" + String(0x1D0A_7E6C_0000 + number, radix: 16, uppercase: true)
        let events = (0..<9).map { index in
            """
                  [
                    \(2147 * index + number),
                    "action",
                    "change",
                    "setting",
                    "BlockSocial",
                    {
                      "to" : "false"
                    }
                  ]
            """
        }
        return """
            {
              "timestamp" : 1527163208.4012341,
              "documentId" : "\(id)",
              "pingType" : "focus-event",
              "uploadPath" : "\\/submit\\/telemetry\\/\(id)\\/focus-event\\/Focus\\/5.0\\/release\\/2?v=4",
              "measurements" : {
                "tz" : -240,
                "seq" : \(number),
                "created" : 1527163208377,
                "processStartTimestamp" : 1527163171020,
                "os" : "iOS",
                "osversion" : "11.3.1",
                "device" : "iPhone10,6",
                "arch" : "arm64",
                "locale" : "en-US",
                "v" : 1,
                "clientId" : "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083",
                "settings" : {
                  "prefKeyEngine" : "Google",
                  "BlockAds" : "true",
                  "BlockAnalytics" : "true",
                  "BlockSocial" : "false",
                  "BlockOther" : "false",
                  "BlockFonts" : "false"
                },
                "events" : [
            \(events.joined(separator: ",\n"))
                ]
              }
            }
            """
    }
}
