-- Answers questions to a database that `pingferry convert -o phone.sqlite` made:
--   sqlite3 phone.sqlite < sqlite.sql
.mode csv
.headers on

.print # daily-active-clients
SELECT day, count(DISTINCT system || ' ' || lower(client)) AS clients
FROM records WHERE day IS NOT NULL GROUP BY day ORDER BY day;

-- An event that no document names has its technical name alone.
.print # events-by-label
SELECT substr(time, 1, 10) AS day, coalesce(label, name) AS label, count(*) AS events
FROM events WHERE time IS NOT NULL AND coalesce(label, name) IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2;

-- The phone counts the core pings of a client one by one: what lies between the first and the last has to be there.
.print # sequence-gaps
SELECT lower(client) AS client, min(seq) AS first, max(seq) AS last, max(seq) - min(seq) + 1 - count(DISTINCT seq) AS missing
FROM core JOIN records USING (record) GROUP BY 1 HAVING missing > 0 ORDER BY 1;

.print # searches-by-engine
SELECT engine, sum(count) AS searches FROM searches GROUP BY engine ORDER BY searches DESC, engine;

.print # what-waits
SELECT code, count(DISTINCT record) AS records, count(n_event) AS events
FROM (SELECT DISTINCT record, code FROM holds) LEFT JOIN (SELECT record, n AS n_event FROM events) USING (record)
GROUP BY code ORDER BY code;
