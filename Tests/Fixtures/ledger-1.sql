-- A ledger as the first release leaves it, with every table and every state of a record. Whatever becomes of the tables,
-- the program has to find all of this in it. Not to be changed: a later form of the ledger gets a file of its own.
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1346784324;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES ('1');
CREATE TABLE kinds (id INTEGER PRIMARY KEY, system TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (system, type));
CREATE TABLE clients (id INTEGER PRIMARY KEY, system TEXT NOT NULL, client TEXT);
CREATE UNIQUE INDEX client_names ON clients (system, ifnull(client, ''), client IS NULL);
CREATE TABLE settled (
    identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
    time INTEGER NOT NULL, status INTEGER NOT NULL, refused INTEGER NOT NULL, PRIMARY KEY (identity, content)
) WITHOUT ROWID;
CREATE TABLE remarks (
    identity BLOB NOT NULL, content BLOB NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (identity, content)
) WITHOUT ROWID;
CREATE INDEX remark_ids ON remarks (id);
CREATE TABLE flights (
    identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
    day INTEGER NOT NULL, time INTEGER NOT NULL, uncertain INTEGER NOT NULL, PRIMARY KEY (identity, content)
) WITHOUT ROWID;
CREATE TABLE items (key BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE quotas (
    day INTEGER NOT NULL, client INTEGER NOT NULL, taken INTEGER NOT NULL, seen INTEGER,
    PRIMARY KEY (day, client)
) WITHOUT ROWID;
CREATE TABLE releases (id TEXT NOT NULL, code TEXT NOT NULL, PRIMARY KEY (id, code)) WITHOUT ROWID;
CREATE TABLE waiting (
    client INTEGER NOT NULL, kind INTEGER NOT NULL, reason TEXT NOT NULL, records INTEGER NOT NULL,
    PRIMARY KEY (client, kind, reason)
) WITHOUT ROWID;
CREATE TABLE jobs (id INTEGER PRIMARY KEY CHECK (id = 1), time INTEGER NOT NULL, day INTEGER NOT NULL);

INSERT INTO kinds VALUES
    (1, 'mozilla', 'core'),
    (2, 'mozilla', 'focus-event'),
    (3, 'sift', 'mobile_events'),
    (4, 'leanplum', 'multi'),
    (5, 'activity-stream', 'activity-stream-mobile-sessions');
INSERT INTO clients VALUES
    (1, 'mozilla', 'c'),
    (2, 'mozilla', NULL),
    (3, 'mozilla', 'd'),
    (4, 'sift', 'i'),
    (5, 'leanplum', 'd');
-- Delivered; refused; nothing was left to send; delivered with a remark.
INSERT INTO settled VALUES
    (X'57C9C14D058AFA5BCE1279C0C0F88E11', X'B41E95C43F388D561B146326D84E3A6B', 1, 1, 1583154000, 200, 0),
    (X'58F6820A0CC1D4D69FBB011F045CA296', X'B41E95C43F388D561B146326D84E3A6B', 2, 1, 1583154060, 413, 1),
    (X'1676C4FAB66BC80B5C41C0336C282EE2', X'B60DC2E7B295E1E6E11A19E6575EA795', 3, 4, 1583154120, 0, 0),
    (X'F9D811492BC49D35F75BA05E02E97F8E', X'6D6316C08A861BAE6DE83FA58F10181C', 4, 5, 1583154180, 200, 0);
INSERT INTO remarks VALUES
    (X'58F6820A0CC1D4D69FBB011F045CA296', X'B41E95C43F388D561B146326D84E3A6B', 'refused', 'the body is too large: 10 MB'),
    (X'F9D811492BC49D35F75BA05E02E97F8E', X'6D6316C08A861BAE6DE83FA58F10181C', 'sha256:6d6316c08a861bae6de83fa58f10181c8d745b97e233ee30b69217a179e144ef', '1 of the events not successful: no such user');
-- Of this job; of an earlier one that may have arrived.
INSERT INTO flights VALUES
    (X'BCD2DA427EC766B22A85B6C0DF3D2747', X'B41E95C43F388D561B146326D84E3A6B', 1, 2, 18323, 1583154240, 0),
    (X'FD2D73417F515DF8533027D96516849D', X'B41E95C43F388D561B146326D84E3A6B', 1, 3, 18322, 1583067600, 1);
-- Two events of Sift, one of Leanplum by its request id.
INSERT INTO items VALUES
    (X'E1EC8E31AA52EE6B0FE7EE2A1BE34AFD'),
    (X'7793406E1412EBE67E5AA3981023C0B7'),
    (X'D806A4EE0AF5F04E8E129C39D48378E6');
-- Of yesterday, of today, of a clock a day ahead, and of one that was years ahead, noticed yesterday.
INSERT INTO quotas VALUES
    (18322, 3, 1, NULL),
    (18323, 1, 2, NULL),
    (18323, 2, 1, NULL),
    (18324, 4, 1, NULL),
    (23323, 5, 3, 18322);
INSERT INTO releases VALUES
    ('held', 'too-few-events');
INSERT INTO waiting VALUES
    (1, 1, 'daily limit', 7),
    (2, 1, 'held: too-few-events', 1),
    (2, 1, 'not sent', 1);
INSERT INTO jobs VALUES
    (1, 1583154300, 18323);
