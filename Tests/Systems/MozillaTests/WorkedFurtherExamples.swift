import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Further examples of event pings in section 10 of the format document.
extension WorkedExample {
    static let further = [
        WorkedExample(
            section: "10.8", path: "Documents/MozTelemetry-Default-focus-event/-t-1546300800.01267.json",
            stored: #"""
                {
                  "timestamp" : 1546300800.0123451,
                  "documentId" : "D9C8B7A6-F5E4-4D3C-8B2A-190817263544",
                  "pingType" : "focus-event",
                  "uploadPath" : "\/submit\/telemetry\/D9C8B7A6-F5E4-4D3C-8B2A-190817263544\/focus-event\/Focus\/7.0.4\/release\/11?v=4",
                  "measurements" : {
                    "tz" : 60,
                    "seq" : 19,
                    "created" : 1546300800000,
                    "processStartTimestamp" : 1546300711999,
                    "os" : "iOS",
                    "osversion" : "12.1",
                    "device" : "iPhone9,3",
                    "arch" : "arm64",
                    "locale" : "de-DE",
                    "v" : 1,
                    "clientId" : "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083",
                    "settings" : {
                      "BlockAds" : "true"
                    }
                  }
                }
                """#,
            lines: [
                #"""
                {"app":{"build":"11","channel":"release","name":"Focus","version":"7.0.4"},\#
                "client":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","held":["schema: events missing"],\#
                "id":"D9C8B7A6-F5E4-4D3C-8B2A-190817263544","notes":[],"payload":{"arch":"arm64",\#
                "clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","created":1546300800000,"device":"iPhone9,3",\#
                "locale":"de-DE","os":"iOS","osversion":"12.1","processStartTimestamp":1546300711999,"seq":19,\#
                "settings":{"BlockAds":"true"},"tz":60,"v":1},"source":{"capture":"capture","index":0,\#
                "path":"Documents/MozTelemetry-Default-focus-event/-t-1546300800.01267.json",\#
                "store":"mozilla-ping-file"},"system":"mozilla",\#
                "target":{"path":"/submit/telemetry/D9C8B7A6-F5E4-4D3C-8B2A-190817263544/focus-event/Focus/7.0.4/release/\#
                11?v=4"},"time":"2019-01-01T00:00:00.012Z","type":"focus-event"}
                """#
            ]),
        WorkedExample(
            section: "10.10", path: "Library/Caches/MozTelemetry-Default-mobile-event/-t-1517590730.32231.json",
            stored: #"""
                {
                  "timestamp" : 1517590730.3210011,
                  "documentId" : "E7D6C5B4-A392-4817-8605-F4E3D2C1B0A9",
                  "pingType" : "mobile-event",
                  "uploadPath" : "\/submit\/telemetry\/E7D6C5B4-A392-4817-8605-F4E3D2C1B0A9\/mobile-event\/WebXR\/1.03\/Release\/9?v=4",
                  "measurements" : {
                    "tz" : -240,
                    "seq" : 1,
                    "os" : "iOS",
                    "created" : 1517590730320,
                    "processStartTimestamp" : 1517590700101,
                    "clientId" : "E1C07B5D-62A4-4F18-93CE-5A0D8B7F2146",
                    "osversion" : "11.2",
                    "device" : "iPad7,1",
                    "arch" : "arm64",
                    "settings" : {

                    },
                    "v" : 1,
                    "events" : [
                      [2147, "action", "foreground", "app"],
                      [2190, "api", "webXR", "init"],
                      [2213, "action", "tap", "record_picture_butto"]
                    ],
                    "locale" : "en-US"
                  }
                }
                """#,
            lines: [
                #"""
                {"app":{"build":"9","channel":"Release","name":"WebXR","version":"1.03"},\#
                "client":"E1C07B5D-62A4-4F18-93CE-5A0D8B7F2146","held":[],"id":"E7D6C5B4-A392-4817-8605-F4E3D2C1B0A9",\#
                "notes":[],"payload":{"arch":"arm64","clientId":"E1C07B5D-62A4-4F18-93CE-5A0D8B7F2146",\#
                "created":1517590730320,"device":"iPad7,1","events":[[2147,"action","foreground","app"],[2190,"api",\#
                "webXR","init"],[2213,"action","tap","record_picture_butto"]],"locale":"en-US","os":"iOS",\#
                "osversion":"11.2","processStartTimestamp":1517590700101,"seq":1,"settings":{},"tz":-240,"v":1},\#
                "source":{"capture":"capture","index":0,\#
                "path":"Library/Caches/MozTelemetry-Default-mobile-event/-t-1517590730.32231.json",\#
                "store":"mozilla-ping-file"},"system":"mozilla",\#
                "target":{"path":"/submit/telemetry/E7D6C5B4-A392-4817-8605-F4E3D2C1B0A9/mobile-event/WebXR/1.03/Release/\#
                9?v=4"},"time":"2018-02-02T16:58:50.321Z","type":"mobile-event"}
                """#
            ]),
    ]
}
