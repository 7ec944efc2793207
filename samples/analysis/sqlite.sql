-- Answers six questions with the database that `pingferry convert -o phone.sqlite` writes:
--   sqlite3 phone.sqlite < sqlite.sql
.mode csv
.headers on

-- Days with an impossible time result from a wrong clock and are left out.
.print # daily-active-clients
SELECT day, count(DISTINCT system || ' ' || client_key) AS clients
FROM records WHERE clock = 'plausible' GROUP BY day ORDER BY day;

-- Events without a documented meaning have no label. Their names are used instead.
.print # events-by-label
SELECT at_day AS day, coalesce(label, name) AS label, count(*) AS events
FROM events WHERE at_clock = 'plausible' AND coalesce(label, name) IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2;

-- The function sum fails if a forged number makes the sum too large. The function total returns a floating-point number instead.
.print # usage-by-day
SELECT day, printf('%.0f', total(durations)) AS seconds
FROM core JOIN records USING (record) WHERE clock = 'plausible' GROUP BY day ORDER BY day;

-- The core pings of a client have consecutive sequence numbers, so that missing numbers are missing pings.
.print # sequence-gaps
SELECT client_key AS client, min(seq) AS first_number, max(seq) AS last_number,
  max(seq) - min(seq) + 1 - count(DISTINCT seq) AS missing
FROM core JOIN records USING (record) WHERE client_key IS NOT NULL GROUP BY 1 HAVING missing > 0 ORDER BY 1;

.print # searches-by-engine
SELECT engine, printf('%.0f', total(count)) AS searches FROM searches GROUP BY engine ORDER BY total(count) DESC, engine;

.print # what-waits
SELECT code, count(DISTINCT record) AS records, count(n_event) AS events
FROM (SELECT DISTINCT record, code FROM holds) LEFT JOIN (SELECT record, n AS n_event FROM events) USING (record)
GROUP BY code ORDER BY code;
