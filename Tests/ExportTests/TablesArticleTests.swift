import Foundation
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Export

/// Tests that the article about tables matches their declarations.
@Suite struct TablesArticleTests {
    private static let path = "\(repository)/Sources/Export/Export.docc/Tables.md"

    private static var article: String {
        var lines = [
            "# Tables", "", "The tables of an export, with the types and meanings of their columns.", "",
            "The table `columns` of each export contains the same descriptions. The rules are in <doc:Exports>.",
        ]
        for table in ExportTables(Systems.table).all {
            lines += ["", "## \(table.name)", "", "A row for each \(table.rowMeaning). Key: \(names(table.key)).", ""]
            lines += ["| column | type | meaning |", "| --- | --- | --- |"]
            for column in table.columns {
                lines.append("| `\(column.name)` | \(column.typeDescription) | \(column.meaning) |")
            }
        }
        lines += [
            "", "## Views", "", "SQLite databases also contain these views, and `load.sql` creates them in DuckDB.", "",
        ]
        lines += ["| view | a row for each | columns |", "| --- | --- | --- |"]
        for view in ExportTables.views {
            lines.append("| `\(view.name)` | \(view.rowMeaning) | \(names(view.columns)) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func names(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }

    @Test func articleMatchesDeclarations() throws { try expectArticle(Self.article, at: Self.path) }

    @Test("Each table has a valid key and the documented columns")
    func declaration() throws {
        let tables = ExportTables(Systems.table).all
        #expect(Set(tables.map(\.name)).count == tables.count)
        for table in tables {
            let names = table.columns.map(\.name)
            #expect(Set(names.map { $0.lowercased() }).count == names.count, "\(table.name)")
            #expect(!table.key.isEmpty && Set(table.key).isSubset(of: names), "\(table.name)")
            #expect(table.indexes.allSatisfy { Set($0).isSubset(of: names) }, "\(table.name)")
            #expect(!table.columns.contains(where: \.refersToRecord) || names.first == "record", "\(table.name)")
            #expect(!table.columns.contains { $0.meaning.isEmpty || $0.meaning.contains("|") }, "\(table.name)")
        }
        for (name, columns) in Self.documented {
            let table = try #require(tables.first { $0.name == name })
            #expect(Set(columns.split(separator: " ").map(String.init)).isSubset(of: table.columns.map(\.name)))
        }
        #expect(Set(tables.map(\.name)) == Set(Self.documented.keys))
    }

    /// Source: "Exports", section 1.
    private static let documented = [
        "records":
            "record system type id client client_key time time_ms day clock app_id app_name app_version app_channel "
            + "app_build os os_family os_version device locale method target uploadable capture path store place payload",
        "holds": "record code detail", "notes": "record code text",
        "events":
            "record n system type client client_key time time_ms day clock time_basis at at_ms at_day at_clock at_basis "
            + "elapsed_ms name category method object value revenue currency session_duration extra label",
        "attributes": "record n event kind key value value_type label",
        "core": "record seq v clientId created profileDate tz sessions durations arch device locale os osversion "
            + "defaultSearch other",
        "searches": "record source engine count",
        "sift_states": "record n kind latitude longitude altitude state",
        "sift_readings": "record n event kind time time_ms x y z",
        "metrics": "record metric_type name label second_label value number unit description",
        "metric_definitions":
            "name metric_type description unit time_unit memory_unit sensitivity expires lifetime pings labels second_labels "
            + "extra_keys",
        "repeats": "n record system type id client time held capture path store place payload_equal",
        "clients": "system client client_key app_name records uploadable events first last",
        "stores":
            "n capture container path kind system app_id app_name app_version app_channel app_build records uploadable "
            + "held types quarantined problems pending_events facts usage_data",
        "queues": "n store capture container path system kind readiness code text sentence at state",
        "gaps":
            "n system type client run reason first_number last_number count number_before number_after "
            + "time_before time_after",
        "problems": "capture path offset code text",
        "quarantine": "capture path offset length sha256 code reason stored", "meta": "key value",
        "columns": "table column type meaning",
    ]
}
