import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// The examples of event pings in section 10 of the format document.
extension WorkedExample {
    static let events = [
        WorkedExample(
            section: "10.2", path: "Documents/MozTelemetry-Default-focus-event/-t-1527163208.40213.json",
            stored: #"""
                {
                  "timestamp" : 1527163208.4012341,
                  "documentId" : "9B0D6E0A-51B3-4F0B-8A3B-6C1B5A6E9D02",
                  "pingType" : "focus-event",
                  "uploadPath" : "\/submit\/telemetry\/9B0D6E0A-51B3-4F0B-8A3B-6C1B5A6E9D02\/focus-event\/Focus\/5.0\/release\/2?v=4",
                  "measurements" : {
                    "tz" : -240,
                    "seq" : 5,
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
                      [61240, "action", "background", "app", null, {"orientation" : "Portrait"}],
                      [3, "action", "foreground", "app"],
                      [212, "action", "foreground", "app"],
                      [2147, "action", "type_query", "search_bar"],
                      [9310, "action", "change", "setting", "BlockSocial", {"to" : "false"}],
                      [12892, "action", "click", "erase_button"]
                    ]
                  }
                }
                """#,
            lines: [
                #"""
                {"app":{"build":"2","channel":"release","name":"Focus","version":"5.0"},\#
                "client":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","held":[],"id":"9B0D6E0A-51B3-4F0B-8A3B-6C1B5A6E9D02",\#
                "notes":["E13"],"payload":{"arch":"arm64","clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083",\#
                "created":1527163208377,"device":"iPhone10,6","events":[[61240,"action","background","app",null,\#
                {"orientation":"Portrait"}],[3,"action","foreground","app"],[212,"action","foreground","app"],[2147,\#
                "action","type_query","search_bar"],[9310,"action","change","setting","BlockSocial",{"to":"false"}],\#
                [12892,"action","click","erase_button"]],"locale":"en-US","os":"iOS","osversion":"11.3.1",\#
                "processStartTimestamp":1527163171020,"seq":5,"settings":{"BlockAds":"true","BlockAnalytics":"true",\#
                "BlockFonts":"false","BlockOther":"false","BlockSocial":"false","prefKeyEngine":"Google"},"tz":-240,\#
                "v":1},"source":{"capture":"capture","index":0,\#
                "path":"Documents/MozTelemetry-Default-focus-event/-t-1527163208.40213.json",\#
                "store":"mozilla-ping-file"},"system":"mozilla",\#
                "target":{"path":"/submit/telemetry/9B0D6E0A-51B3-4F0B-8A3B-6C1B5A6E9D02/focus-event/Focus/5.0/release/2?\#
                v=4"},"time":"2018-05-24T12:00:08.401Z","type":"focus-event"}
                """#
            ]),
        WorkedExample(
            section: "10.4", path: "Documents/MozTelemetry-Default-focus-event/1508860835.51251.json",
            stored: #"""
                {
                  "timestamp" : 1508860835.5120001,
                  "documentId" : "5E7C8A91-2B40-4D5E-8F61-70A2C3D4E5F6",
                  "pingType" : "focus-event",
                  "uploadPath" : "\/submit\/telemetry\/5E7C8A91-2B40-4D5E-8F61-70A2C3D4E5F6\/focus-event\/Klar\/3.11\/release\/4023?v=4",
                  "measurements" : {
                    "tz" : 60,
                    "seq" : 3,
                    "created" : 1508860800120,
                    "os" : "iOS",
                    "osversion" : "11.0.3",
                    "locale" : "fr-FR",
                    "v" : 1,
                    "clientId" : "E1C07B5D-62A4-4F18-93CE-5A0D8B7F2146",
                    "settings" : {
                      "prefKeyEngine" : "Google",
                      "BlockAds" : "false",
                      "BlockAnalytics" : "true",
                      "BlockSocial" : "true",
                      "BlockOther" : "false",
                      "BlockFonts" : "false"
                    },
                    "events" : [
                      [0, "action", "foreground", "app"],
                      [5237, "action", "change", "setting", "BlockAds", "BlockAds", {"to" : "false"}],
                      [30911, "action", "background", "app", "", {"orientation" : "Landscape"}]
                    ]
                  }
                }
                """#,
            lines: [
                #"""
                {"app":{"build":"4023","channel":"release","name":"Klar","version":"3.11"},\#
                "client":"E1C07B5D-62A4-4F18-93CE-5A0D8B7F2146","held":[],"id":"5E7C8A91-2B40-4D5E-8F61-70A2C3D4E5F6",\#
                "notes":["E7"],"payload":{"clientId":"E1C07B5D-62A4-4F18-93CE-5A0D8B7F2146","created":1508860800120,\#
                "events":[[0,"action","foreground","app"],[5237,"action","change","setting","BlockAds",{"to":"false"}],\#
                [30911,"action","background","app","",{"orientation":"Landscape"}]],"locale":"fr-FR","os":"iOS",\#
                "osversion":"11.0.3","seq":3,"settings":{"BlockAds":"false","BlockAnalytics":"true","BlockFonts":"false",\#
                "BlockOther":"false","BlockSocial":"true","prefKeyEngine":"Google"},"tz":60,"v":1},\#
                "source":{"capture":"capture","index":0,\#
                "path":"Documents/MozTelemetry-Default-focus-event/1508860835.51251.json","store":"mozilla-ping-file"},\#
                "system":"mozilla",\#
                "target":{"path":"/submit/telemetry/5E7C8A91-2B40-4D5E-8F61-70A2C3D4E5F6/focus-event/Klar/3.11/release/40\#
                23?v=4"},"time":"2017-10-24T16:00:35.512Z","type":"focus-event"}
                """#
            ]),
        WorkedExample(
            section: "10.7", path: "Documents/MozTelemetry-Default-mobile-event/-t-1521676800.51621.json",
            stored: #"""
                {
                  "timestamp" : 1521676800.5150211,
                  "documentId" : "C0B1A2D3-E4F5-4061-8273-94A5B6C7D8E9",
                  "pingType" : "mobile-event",
                  "uploadPath" : "\/submit\/telemetry\/C0B1A2D3-E4F5-4061-8273-94A5B6C7D8E9\/mobile-event\/Fennec\/11.0\/beta\/9131?v=4",
                  "measurements" : {
                    "tz" : -420,
                    "seq" : 77,
                    "created" : 1521676800512,
                    "processStartTimestamp" : 1521676784410,
                    "os" : "iOS",
                    "osversion" : "11.2.6",
                    "device" : "iPad7,3",
                    "arch" : "arm64",
                    "locale" : "en-US",
                    "v" : 1,
                    "clientId" : "3D2C1B0A-9F8E-4D7C-8B6A-5F4E3D2C1B0A",
                    "settings" : {
                      "profile.blockPopups" : "true",
                      "profile.saveLogins" : "true",
                      "defaultSearchEngine" : "google",
                      "windowWidth" : 834,
                      "windowHeight" : 1112
                    },
                    "events" : [
                      [118, "action", "foreground", "app"],
                      [8823, "action", "tap", "reader-mode-open-but"],
                      [15022, "action", "add", "reading-list-item", "reader-mode-toolbar"]
                    ]
                  }
                }
                """#,
            lines: [
                #"""
                {"app":{"build":"9131","channel":"beta","name":"Fennec","version":"11.0"},\#
                "client":"3D2C1B0A-9F8E-4D7C-8B6A-5F4E3D2C1B0A","held":[],"id":"C0B1A2D3-E4F5-4061-8273-94A5B6C7D8E9",\#
                "notes":["E10","E10"],"payload":{"arch":"arm64","clientId":"3D2C1B0A-9F8E-4D7C-8B6A-5F4E3D2C1B0A",\#
                "created":1521676800512,"device":"iPad7,3","events":[[118,"action","foreground","app"],[8823,"action",\#
                "tap","reader-mode-open-but"],[15022,"action","add","reading-list-item","reader-mode-toolbar"]],\#
                "locale":"en-US","os":"iOS","osversion":"11.2.6","processStartTimestamp":1521676784410,"seq":77,\#
                "settings":{"defaultSearchEngine":"google","profile.blockPopups":"true","profile.saveLogins":"true",\#
                "windowHeight":"1112","windowWidth":"834"},"tz":-420,"v":1},"source":{"capture":"capture","index":0,\#
                "path":"Documents/MozTelemetry-Default-mobile-event/-t-1521676800.51621.json",\#
                "store":"mozilla-ping-file"},"system":"mozilla",\#
                "target":{"path":"/submit/telemetry/C0B1A2D3-E4F5-4061-8273-94A5B6C7D8E9/mobile-event/Fennec/11.0/beta/91\#
                31?v=4"},"time":"2018-03-22T00:00:00.515Z","type":"mobile-event"}
                """#
            ]),
    ]
}
