-- Answers five questions with the database that `pingferry convert -o phone.sqlite` writes:
--   sqlite3 phone.sqlite < sqlite.sql
.mode csv
.headers on

.print # daily-active-clients
SELECT day, count(DISTINCT system || ' ' || lower(client)) AS clients
FROM records WHERE day IS NOT NULL GROUP BY day ORDER BY day;

-- Events without a documented meaning have no label. Their names are used instead.
.print # events-by-label
SELECT substr(at, 1, 10) AS day, coalesce(label, name) AS label, count(*) AS events
FROM events WHERE at IS NOT NULL AND coalesce(label, name) IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2;

-- The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
.print # sequence-gaps
SELECT lower(client) AS client, min(seq) AS first, max(seq) AS last, max(seq) - min(seq) + 1 - count(DISTINCT seq) AS missing
FROM core JOIN records USING (record) GROUP BY 1 HAVING missing > 0 ORDER BY 1;

.print # searches-by-engine
SELECT engine, sum(count) AS searches FROM searches GROUP BY engine ORDER BY searches DESC, engine;

.print # what-waits
SELECT code, count(DISTINCT record) AS records, count(n_event) AS events
FROM (SELECT DISTINCT record, code FROM holds) LEFT JOIN (SELECT record, n AS n_event FROM events) USING (record)
GROUP BY code ORDER BY code;
