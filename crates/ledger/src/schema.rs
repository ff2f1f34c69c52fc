//! The tables of a ledger, and the check that a file is one.
//!
//! `application_id` says that a database is a ledger, `user_version` in which format. A new format
//! adds a step to [`MIGRATIONS`] and never changes an old one.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::LedgerError;

/// "LYDI" in ASCII.
const APPLICATION_ID: i64 = 0x4c59_4449;

/// From each format to the next, from an empty database on.
const MIGRATIONS: [&str; 7] = [
    FIRST,
    // Evidence of the first format may be of labels that a run passed only after undefined
    // behaviour. The tests stay, and are measured again when they are next asked for.
    "DELETE FROM evidence WHERE kind = 'measured';
     CREATE INDEX unconfirmed ON evidence(function, test, code) WHERE kind = 'unconfirmed';",
    // Evidence may name several tests, and a label may be a hyperlabel: versions that do not know of
    // these are to leave the file alone.
    "",
    // Explorations did not say which of their preconditions were assumptions that nobody stated. They are
    // made again when they are next asked for.
    "DELETE FROM evidence WHERE kind = 'complete';",
    // Certificates, and the programs that they are about. Evidence names them.
    "CREATE TABLE document(name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;",
    // What runs tried for objectives that they left open, the small tests that they made, what tests did when
    // they ran, and what is known of mutants. These are notes of work, and no evidence.
    "CREATE TABLE attempt(
         id INTEGER PRIMARY KEY,
         function INTEGER NOT NULL REFERENCES function(id),
         code TEXT NOT NULL,
         configuration TEXT NOT NULL,
         detail TEXT NOT NULL
     ) STRICT;
     CREATE INDEX attempt_of ON attempt(function, code, configuration);
     CREATE TABLE reduction(
         function INTEGER NOT NULL REFERENCES function(id),
         key TEXT NOT NULL,
         detail TEXT NOT NULL,
         PRIMARY KEY(function, key)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE note(
         function INTEGER NOT NULL REFERENCES function(id),
         kind TEXT NOT NULL,
         key TEXT NOT NULL,
         detail TEXT NOT NULL,
         PRIMARY KEY(function, kind)
     ) STRICT, WITHOUT ROWID;",
    // What criteria count follows from the objectives that a run has, so it is not kept. Lines of labels count
    // from a line of their function.
    "DROP TABLE IF EXISTS entry;
     CREATE TABLE recorded(
         function INTEGER PRIMARY KEY REFERENCES function(id),
         digest TEXT NOT NULL,
         first_line INTEGER NOT NULL
     ) STRICT;",
];

const FIRST: &str = "
    CREATE TABLE function(
        id INTEGER PRIMARY KEY,
        unit TEXT NOT NULL,
        name TEXT NOT NULL,
        UNIQUE(unit, name)
    ) STRICT;

    CREATE TABLE label(
        function INTEGER NOT NULL REFERENCES function(id),
        key TEXT NOT NULL,
        site TEXT NOT NULL,
        predicate TEXT NOT NULL,
        file TEXT NOT NULL,
        line INTEGER NOT NULL,
        col INTEGER NOT NULL,
        PRIMARY KEY(function, key)
    ) STRICT, WITHOUT ROWID;

    -- What each criterion counts, in its order.
    CREATE TABLE entry(
        function INTEGER NOT NULL,
        criterion TEXT NOT NULL,
        position INTEGER NOT NULL,
        label TEXT NOT NULL,
        name TEXT NOT NULL,
        duplicate_of INTEGER,
        PRIMARY KEY(function, criterion, position),
        FOREIGN KEY(function, label) REFERENCES label(function, key)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE test(
        id INTEGER PRIMARY KEY,
        function INTEGER NOT NULL REFERENCES function(id),
        hash TEXT NOT NULL,
        json TEXT NOT NULL,
        UNIQUE(function, hash)
    ) STRICT;

    CREATE TABLE evidence(
        id INTEGER PRIMARY KEY,
        function INTEGER NOT NULL,
        label TEXT NOT NULL,
        kind TEXT NOT NULL,
        code TEXT NOT NULL,
        -- Empty where the evidence does not depend on it.
        configuration TEXT NOT NULL,
        test TEXT,
        detail TEXT NOT NULL,
        UNIQUE(function, label, code, configuration, detail),
        FOREIGN KEY(function, label) REFERENCES label(function, key),
        FOREIGN KEY(function, test) REFERENCES test(function, hash)
    ) STRICT;
";

/// Checks that the database is a sound ledger, or an empty database that becomes one.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), LedgerError> {
    let wrap = |error| LedgerError::from_sqlite(path, error);
    let known = MIGRATIONS.len() as i64;
    match identify(connection).map_err(wrap)? {
        Identity::Foreign => return Err(LedgerError::Foreign { path: path.to_owned() }),
        Identity::Ledger(found) if found > known => {
            return Err(LedgerError::Newer { path: path.to_owned(), found, known });
        }
        Identity::Ledger(_) => {
            check(connection, path)?;
            set_up(connection).map_err(wrap)?;
        }
        // Nothing is in it that could be lost.
        Identity::Empty => {
            connection.pragma_update(None, "synchronous", "OFF").map_err(wrap)?;
            set_up(connection).map_err(wrap)?;
            // The log is nothing without the file's first page, which says that there is one.
            let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
            synced.map_err(|error| LedgerError::from_system(path, &error))?;
        }
    }
    wait_for_disk(connection, true).map_err(wrap)
}

/// Sets whether a commit waits until it is on disk. One that does not wait is on disk when the log is written
/// back or a later commit waits. The order of the log keeps transactions whole.
pub(super) fn wait_for_disk(connection: &Connection, waits: bool) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", if waits { "FULL" } else { "NORMAL" })
}

/// Chooses the write-ahead log and the newest format.
fn set_up(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    migrate(connection)
}

enum Identity {
    Empty,
    Ledger(i64),
    Foreign,
}

fn identify(connection: &Connection) -> rusqlite::Result<Identity> {
    let number = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(match (application, version, tables) {
        (APPLICATION_ID, version, _) => Identity::Ledger(version),
        (0, 0, 0) => Identity::Empty,
        _ => Identity::Foreign,
    })
}

fn check(connection: &Connection, path: &Path) -> Result<(), LedgerError> {
    let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match found {
        Ok(ok) if ok == "ok" => Ok(()),
        Ok(detail) => Err(LedgerError::Corrupt { path: path.to_owned(), detail }),
        Err(error) => Err(LedgerError::from_sqlite(path, error)),
    }
}

/// Takes the database to the newest format. Another process may do the same: the second one finds nothing
/// left to do.
fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let version =
        |connection: &Connection| connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    if version(connection)? == MIGRATIONS.len() as i64 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from: i64 = version(&transaction)?;
    for step in MIGRATIONS.iter().skip(from as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()
}
