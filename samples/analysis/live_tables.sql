-- Answers two questions with the rows in the folder phone.rows, which have the form of Mozilla's live tables:
--   pingferry convert --to bigquery --schemas schemas/ -o phone.rows phone/
--   duckdb < live_tables.sql
-- In BigQuery, the same queries read moz-fx-data-shared-prod.telemetry_live.core_v7, with a filter on submission_timestamp.
CREATE VIEW core_v7 AS FROM read_ndjson('phone.rows/telemetry.core_v7.ndjson', columns = {
  client_id: 'VARCHAR', document_id: 'VARCHAR', seq: 'BIGINT', searches: 'STRUCT("key" VARCHAR, "value" BIGINT)[]'});

-- The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
-- # sequence-gaps
SELECT lower(client_id) AS client, min(seq) AS first, max(seq) AS last,
  max(seq) - min(seq) + 1 - count(DISTINCT seq) AS missing
FROM core_v7 GROUP BY 1 HAVING missing > 0 ORDER BY 1;

-- A key such as actionbar.Google consists of the source and the engine.
-- # searches-by-engine
SELECT regexp_replace(search."key", '^[^.]*\.', '') AS engine, sum(search."value") AS searches
FROM core_v7 CROSS JOIN UNNEST(core_v7.searches) AS list(search) GROUP BY engine ORDER BY searches DESC, engine;
