-- Answers five questions with the tables in the folder phone.parquet, which `pingferry convert -o phone.parquet` writes:
--   duckdb < duckdb.sql
SET TimeZone = 'UTC';
CREATE VIEW records AS FROM 'phone.parquet/records.parquet';
CREATE VIEW events AS FROM 'phone.parquet/events.parquet';
CREATE VIEW core AS FROM 'phone.parquet/core.parquet';
CREATE VIEW searches AS FROM 'phone.parquet/searches.parquet';
CREATE VIEW holds AS FROM 'phone.parquet/holds.parquet';

-- # daily-active-clients
SELECT day, count(DISTINCT system || ' ' || lower(client)) AS clients
FROM records WHERE day IS NOT NULL GROUP BY day ORDER BY day;

-- Events without a documented meaning have no label. Their names are used instead.
-- # events-by-label
SELECT "at"::DATE AS day, coalesce(label, name) AS label, count(*) AS events
FROM events WHERE "at" IS NOT NULL AND coalesce(label, name) IS NOT NULL GROUP BY ALL ORDER BY day, events DESC, label;

-- The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
-- # sequence-gaps
SELECT lower(client) AS client, min(seq) AS first, max(seq) AS last,
  max(seq) - min(seq) + 1 - count(DISTINCT seq) AS missing
FROM core JOIN records USING (record) GROUP BY 1 HAVING missing > 0 ORDER BY 1;

-- # searches-by-engine
SELECT engine, sum("count") AS searches FROM searches GROUP BY engine ORDER BY searches DESC, engine;

-- # what-waits
SELECT code, count(DISTINCT record) AS records, count(n) AS events
FROM (SELECT DISTINCT record, code FROM holds) LEFT JOIN events USING (record) GROUP BY code ORDER BY code;
