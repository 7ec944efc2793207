-- Answers six questions with the tables in the folder phone.parquet, which `pingferry convert -o phone.parquet` writes:
--   duckdb < duckdb.sql
-- Each table is a file of its own. Do not read 'phone.parquet/*.parquet', which would mix the rows of all tables.
CREATE VIEW records AS FROM 'phone.parquet/records.parquet';
CREATE VIEW events AS FROM 'phone.parquet/events.parquet';
CREATE VIEW core AS FROM 'phone.parquet/core.parquet';
CREATE VIEW searches AS FROM 'phone.parquet/searches.parquet';
CREATE VIEW holds AS FROM 'phone.parquet/holds.parquet';

-- Days with an impossible time result from a wrong clock and are left out.
-- # daily-active-clients
SELECT day, count(DISTINCT system || ' ' || client_key) AS clients
FROM records WHERE clock = 'plausible' GROUP BY day ORDER BY day;

-- Events without a documented meaning have no label. Their names are used instead.
-- # events-by-label
SELECT at_day AS day, coalesce(label, name) AS label, count(*) AS events
FROM events WHERE at_clock = 'plausible' AND coalesce(label, name) IS NOT NULL GROUP BY ALL ORDER BY day, events DESC, label;

-- The sum of BIGINT is HUGEINT, which a forged number does not exceed.
-- # usage-by-day
SELECT day, coalesce(sum(durations), 0) AS seconds
FROM core JOIN records USING (record) WHERE clock = 'plausible' GROUP BY day ORDER BY day;

-- The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
-- # sequence-gaps
SELECT client_key AS client, min(seq) AS first_number, max(seq) AS last_number,
  max(seq)::HUGEINT - min(seq) + 1 - count(DISTINCT seq) AS missing
FROM core JOIN records USING (record) WHERE client_key IS NOT NULL GROUP BY 1 HAVING missing > 0 ORDER BY 1;

-- # searches-by-engine
SELECT engine, coalesce(sum("count"), 0) AS searches FROM searches GROUP BY engine ORDER BY searches DESC, engine;

-- # what-waits
SELECT code, count(DISTINCT record) AS records, count(n) AS events
FROM (SELECT DISTINCT record, code FROM holds) LEFT JOIN events USING (record) GROUP BY code ORDER BY code;
