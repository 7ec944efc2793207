-- Answers five questions with the tables in the folder phone.csv, which `pingferry convert -o phone.csv` writes:
--   duckdb < duckdb.sql
-- All columns are read as strings, because DuckDB could mistake a column with few values for numbers.
CREATE VIEW records AS FROM read_csv('phone.csv/records.csv', header = true, all_varchar = true);
CREATE VIEW events AS FROM read_csv('phone.csv/events.csv', header = true, all_varchar = true);
CREATE VIEW core AS FROM read_csv('phone.csv/core.csv', header = true, all_varchar = true);
CREATE VIEW searches AS FROM read_csv('phone.csv/searches.csv', header = true, all_varchar = true);
CREATE VIEW holds AS FROM read_csv('phone.csv/holds.csv', header = true, all_varchar = true);

-- # daily-active-clients
SELECT day, count(DISTINCT system || ' ' || lower(client)) AS clients
FROM records WHERE day IS NOT NULL GROUP BY day ORDER BY day;

-- Events without a documented meaning have no label. Their names are used instead.
-- # events-by-label
SELECT "time"[1:10] AS day, coalesce(label, name) AS label, count(*) AS events
FROM events WHERE "time" IS NOT NULL AND coalesce(label, name) IS NOT NULL GROUP BY ALL ORDER BY day, events DESC, label;

-- The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
-- # sequence-gaps
SELECT lower(client) AS client, min(seq::BIGINT) AS first, max(seq::BIGINT) AS last,
  max(seq::BIGINT) - min(seq::BIGINT) + 1 - count(DISTINCT seq::BIGINT) AS missing
FROM core JOIN records USING (record) GROUP BY 1 HAVING missing > 0 ORDER BY 1;

-- # searches-by-engine
SELECT engine, sum("count"::BIGINT) AS searches FROM searches GROUP BY engine ORDER BY searches DESC, engine;

-- # what-waits
SELECT code, count(DISTINCT record) AS records, count(n) AS events
FROM (SELECT DISTINCT record, code FROM holds) LEFT JOIN events USING (record) GROUP BY code ORDER BY code;

-- Writes the events as a Parquet file for further analysis.
COPY events TO 'phone-events.parquet' (FORMAT parquet);
