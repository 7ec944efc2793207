import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// The examples of core pings in section 10 of the format document.
extension WorkedExample {
    static let core = [
        WorkedExample(
            section: "10.1", path: "Documents/MozTelemetry-Default-core/-t-1527163208.41924.json",
            stored: #"""
                {
                  "timestamp" : 1527163208.4180789,
                  "documentId" : "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11",
                  "pingType" : "core",
                  "uploadPath" : "\/submit\/telemetry\/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11\/core\/Focus\/5.0\/release\/2?v=4",
                  "measurements" : {
                    "tz" : -240,
                    "sessions" : 1,
                    "durations" : 34,
                    "searches" : {
                      "actionbar.Google" : 2
                    },
                    "clientId" : "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083",
                    "profileDate" : 17626,
                    "v" : 7,
                    "device" : "iPhone10,6",
                    "defaultSearch" : "Google",
                    "locale" : "en-US",
                    "seq" : 12,
                    "os" : "iOS",
                    "osversion" : "11.3.1",
                    "created" : "2018-05-24",
                    "arch" : "arm64"
                  }
                }
                """#,
            lines: [
                #"""
                {"app":{"build":"2","channel":"release","name":"Focus","version":"5.0"},\#
                "client":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","held":[],"id":"0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11",\#
                "notes":[],"payload":{"arch":"arm64","clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083",\#
                "created":"2018-05-24","defaultSearch":"Google","device":"iPhone10,6","durations":34,"locale":"en-US",\#
                "os":"iOS","osversion":"11.3.1","profileDate":17626,"searches":{"actionbar.Google":2},"seq":12,\#
                "sessions":1,"tz":-240,"v":7},"source":{"capture":"capture","index":0,\#
                "path":"Documents/MozTelemetry-Default-core/-t-1527163208.41924.json","store":"mozilla-ping-file"},\#
                "system":"mozilla",\#
                "target":{"path":"/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11/core/Focus/5.0/release/2?v=4"},\#
                "time":"2018-05-24T12:00:08.418Z","type":"core"}
                """#
            ]),
        WorkedExample(
            section: "10.3", path: "Documents/MozTelemetry-Default-core.json",
            stored: #"""
                [
                  {
                    "timestamp" : 1502100000.120013,
                    "documentId" : "1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10",
                    "pingType" : "core",
                    "uploadPath" : "\/submit\/telemetry\/1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10\/core\/Focus\/3.5\/release\/unknown?v=4",
                    "measurements" : {
                      "tz" : 120,
                      "sessions" : 1,
                      "durations" : 41,
                      "clientId" : "B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44",
                      "profileDate" : 17300,
                      "v" : 7,
                      "device" : "iPad",
                      "defaultSearch" : "Google",
                      "locale" : "de-DE",
                      "seq" : 8,
                      "os" : "iOS",
                      "osversion" : "10.3.2",
                      "created" : "2017-08-07",
                      "arch" : "arm64"
                    }
                  },
                  {
                    "timestamp" : 1502103612.7400451,
                    "documentId" : "1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10",
                    "pingType" : "core",
                    "uploadPath" : "\/submit\/telemetry\/1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10\/core\/Focus\/3.5\/release\/unknown?v=4",
                    "measurements" : {
                      "tz" : 120,
                      "sessions" : 1,
                      "durations" : 17,
                      "clientId" : "B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44",
                      "profileDate" : 17300,
                      "v" : 7,
                      "device" : "iPad",
                      "defaultSearch" : "Google",
                      "locale" : "de-DE",
                      "seq" : 9,
                      "os" : "iOS",
                      "osversion" : "10.3.2",
                      "created" : "2017-08-07",
                      "arch" : "arm64",
                      "searches" : null
                    }
                  }
                ]
                """#,
            lines: [
                #"""
                {"app":{"build":"unknown","channel":"release","name":"Focus","version":"3.5"},\#
                "client":"B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44","held":[],"id":"1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10",\#
                "notes":[],"payload":{"arch":"arm64","clientId":"B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44",\#
                "created":"2017-08-07","defaultSearch":"Google","device":"iPad","durations":41,"locale":"de-DE",\#
                "os":"iOS","osversion":"10.3.2","profileDate":17300,"seq":8,"sessions":1,"tz":120,"v":7},\#
                "source":{"capture":"capture","index":0,"path":"Documents/MozTelemetry-Default-core.json",\#
                "store":"mozilla-ping-array"},"system":"mozilla",\#
                "target":{"path":"/submit/telemetry/1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10/core/Focus/3.5/release/unknown?v\#
                =4"},"time":"2017-08-07T10:00:00.120Z","type":"core"}
                """#,
                #"""
                {"app":{"build":"unknown","channel":"release","name":"Focus","version":"3.5"},\#
                "client":"B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44","held":[],"id":"1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10",\#
                "notes":["C8"],"payload":{"arch":"arm64","clientId":"B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44",\#
                "created":"2017-08-07","defaultSearch":"Google","device":"iPad","durations":17,"locale":"de-DE",\#
                "os":"iOS","osversion":"10.3.2","profileDate":17300,"seq":9,"sessions":1,"tz":120,"v":7},\#
                "source":{"capture":"capture","index":1,"path":"Documents/MozTelemetry-Default-core.json",\#
                "store":"mozilla-ping-array"},"system":"mozilla",\#
                "target":{"path":"/submit/telemetry/1D2F0C64-8B1E-4B55-9C07-3E8A5F7B6A10/core/Focus/3.5/release/unknown?v\#
                =4"},"time":"2017-08-07T11:00:12.740Z","type":"core"}
                """#,
            ]),
        WorkedExample(
            section: "10.6", path: "Library/Caches/MozTelemetry-Default-core/-t-1587376800.104172.json",
            stored: #"""
                {
                  "timestamp" : 1587376800.1020031,
                  "documentId" : "A4E9C7D0-3F21-4B6A-9E0C-D1B2A3F4C5E6",
                  "pingType" : "core",
                  "uploadPath" : "\/submit\/telemetry\/A4E9C7D0-3F21-4B6A-9E0C-D1B2A3F4C5E6\/core\/Fennec\/24.1\/release\/18412?v=4",
                  "measurements" : {
                    "tz" : 0,
                    "sessions" : 2,
                    "durations" : 611,
                    "searches" : {

                    },
                    "clientId" : "7F0B2C1D-9E3A-4C5B-8D7E-6A5B4C3D2E1F",
                    "profileDate" : 17634,
                    "v" : 7,
                    "device" : "iPhone11,2",
                    "defaultSearch" : "unknown",
                    "locale" : "en-GB",
                    "seq" : 4031,
                    "os" : "iOS",
                    "osversion" : "13.3.1",
                    "created" : "2020-04-20",
                    "arch" : "arm64",
                    "settings" : {
                      "crashedLastLaunch" : 0
                    },
                    "openTabCount" : 14,
                    "systemTheme" : "dark",
                    "defaultMailClient" : "googlegmail:\/\/",
                    "defaultNewTabExperience" : "TopSites"
                  }
                }
                """#,
            lines: [
                #"""
                {"app":{"build":"18412","channel":"release","name":"Fennec","version":"24.1"},\#
                "client":"7F0B2C1D-9E3A-4C5B-8D7E-6A5B4C3D2E1F","held":[],"id":"A4E9C7D0-3F21-4B6A-9E0C-D1B2A3F4C5E6",\#
                "notes":[],"payload":{"arch":"arm64","clientId":"7F0B2C1D-9E3A-4C5B-8D7E-6A5B4C3D2E1F",\#
                "created":"2020-04-20","defaultMailClient":"googlegmail://","defaultNewTabExperience":"TopSites",\#
                "defaultSearch":"unknown","device":"iPhone11,2","durations":611,"locale":"en-GB","openTabCount":14,\#
                "os":"iOS","osversion":"13.3.1","profileDate":17634,"searches":{},"seq":4031,"sessions":2,\#
                "settings":{"crashedLastLaunch":0},"systemTheme":"dark","tz":0,"v":7},"source":{"capture":"capture",\#
                "index":0,"path":"Library/Caches/MozTelemetry-Default-core/-t-1587376800.104172.json",\#
                "store":"mozilla-ping-file"},"system":"mozilla",\#
                "target":{"path":"/submit/telemetry/A4E9C7D0-3F21-4B6A-9E0C-D1B2A3F4C5E6/core/Fennec/24.1/release/18412?v\#
                =4"},"time":"2020-04-20T10:00:00.102Z","type":"core"}
                """#
            ]),
    ]
}
