//! The ledger: evidence in, verdicts out, kept in one SQLite file.
//!
//! Engines record tests and evidence, and [`verdict()`] alone derives verdicts from them. Every
//! [`LedgerTransaction`] is a transaction in SQLite's write-ahead log, so after a crash of the process or
//! the machine the ledger holds whole transactions only. A crash of the process loses no committed
//! transaction. A crash of the machine loses none if the ledger was closed before it; else it may lose
//! those of the last second that the system had not yet written to the disk. Not every commit waits for
//! the disk, since that takes longer than the work between two commits.
//!
//! Hyperlabels are kept among the labels: they have keys too, and verdicts.
//!
//! # What survives an edit
//! Labels are known by their [`LabelKey`], which follows from the function's own text. Evidence
//! also carries the [`EvidenceScope`] for which it was found, and counts only while that holds:
//!
//! | evidence | valid for the same |
//! |---|---|
//! | a measured test, an unconfirmed claim | code |
//! | a local proof | code |
//! | a complete exploration, a reason for knowing nothing | code and configuration |
//! | the withdrawal of an argument | code |
//! | a [`DecisionAttempt`] | code and configuration, with the same settings and no more effort |
//!
//! Evidence out of scope is kept: if the edit is undone, it counts again.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lydian_base::Place;
use lydian_ir::CTypes;
use lydian_ir::test::Test;
use lydian_objective::evidence::{
    Contradiction, Engine, Evidence, TestHash, UnknownReason, Verdict, verdict,
};
use lydian_objective::{AcceptedAssumptions, LabelKey};
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use rustc_hash::FxHashMap;

pub use attempt::{DecisionAttempt, Effort, LeftOpen, left_open};
pub use error::LedgerError;
pub use labels::criterion_rows;
pub use notes::NoteKind;
pub use reduction::Reduction;
pub use stored_test::{PortableTest, SpelledTypes, StoredTest, hash_of};

mod attempt;
mod error;
mod labels;
mod notes;
mod reduction;
mod schema;
mod stored_test;
#[cfg(test)]
mod tests;

/// The tests of a function of a unit, but for those with an unconfirmed claim on some code.
const TESTS: &str = "SELECT hash, json FROM test JOIN function ON function.id = test.function
     WHERE unit = ?1 AND name = ?2 AND NOT EXISTS (
         SELECT 1 FROM evidence WHERE evidence.function = test.function
         AND evidence.test = test.hash AND code = ?3 AND kind = 'unconfirmed')
     ORDER BY test.id";

/// The time to wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The time after which a commit waits for the disk again.
const SYNC_AFTER: Duration = Duration::from_secs(1);

/// A ledger file, open.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
    /// When it was last surely on disk.
    synced: Instant,
    /// Whether a commit waits until it is on disk.
    waits: bool,
}

/// Identifies a function by its translation unit (its main file as the user names it) and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionName<'a> {
    /// The translation unit.
    pub unit: &'a str,
    /// The function.
    pub name: &'a str,
}

/// The conditions under which evidence on a label is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceScope {
    /// The fingerprint of the function's meaning: [`lydian_objective::code_fingerprint`].
    pub code: String,
    /// The runs that are considered: preconditions and the specification of inputs, as a fingerprint
    /// or as text.
    pub configuration: String,
}

/// The verdict on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelVerdict {
    /// The label.
    pub label: LabelKey,
    /// Its verdict, without regard to whether a criterion counts it as a duplicate.
    pub verdict: Result<Verdict, Contradiction>,
}

/// An argument for infeasibility that has certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedEvidence {
    /// The translation unit.
    pub unit: String,
    /// The function.
    pub function: String,
    /// The conditions under which it is valid.
    pub scope: EvidenceScope,
    /// The objective.
    pub label: LabelKey,
    /// The objective in words.
    pub text: String,
    /// Its place.
    pub place: Place,
    /// The argument.
    pub evidence: Evidence,
}

impl CertifiedEvidence {
    /// The objective and the code.
    fn about(&self) -> [&str; 4] {
        [&self.unit, &self.function, &self.label.0, &self.scope.code]
    }
}

impl Ledger {
    /// Opens the ledger at a path, or makes an empty one there. The whole file is checked, which
    /// takes time linear in its size.
    ///
    /// # Errors
    /// A file that is damaged, is no ledger, or was written by a newer version is left untouched;
    /// the error says what the user can do.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let wrap = |error| LedgerError::from_sqlite(path, error);
        let mut connection = Connection::open_with_flags(path, flags).map_err(wrap)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(wrap)?;
        schema::prepare(&mut connection, path)?;
        Ok(Self { connection, path: path.to_owned(), synced: Instant::now(), waits: true })
    }

    /// Renames a ledger that cannot be used, with the files that belong to it, to the first free name of
    /// `<path>.1`, `<path>.2` and so on. Returns the new name; `None` where there is no ledger.
    ///
    /// # Errors
    /// Those of renaming.
    pub fn set_aside(path: &Path) -> std::io::Result<Option<PathBuf>> {
        let with = |base: &Path, ending: &str| {
            let mut name = base.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        if !path.try_exists()? {
            return Ok(None);
        }
        let mut number = 1u32;
        let new = loop {
            let candidate = with(path, &format!(".{number}"));
            if !candidate.try_exists()? {
                break candidate;
            }
            number += 1;
        };
        // The log goes first: a database without its log is whole, if old; a log that another
        // database finds beside it is not its own.
        for ending in ["-wal", "-shm", ""] {
            if with(path, ending).try_exists()? {
                std::fs::rename(with(path, ending), with(&new, ending))?;
            }
        }
        Ok(Some(new))
    }

    /// Where the ledger is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins to record findings about a function. Nothing is kept before [`LedgerTransaction::commit`].
    ///
    /// # Errors
    /// Another process that keeps writing; trouble with the file.
    pub fn record(
        &mut self,
        function: FunctionName<'_>,
        scope: &EvidenceScope,
    ) -> Result<LedgerTransaction<'_>, LedgerError> {
        let path = self.path.clone();
        let wrap = |error| LedgerError::from_sqlite(&path, error);
        let waits = self.synced.elapsed() >= SYNC_AFTER;
        if waits != self.waits {
            // To set it makes all statements be prepared anew.
            schema::wait_for_disk(&self.connection, waits).map_err(wrap)?;
            self.waits = waits;
        }
        if waits {
            self.synced = Instant::now();
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(wrap)?;
        let id = function_made(&transaction, function).map_err(wrap)?;
        Ok(LedgerTransaction { transaction, path, function: id, scope: scope.clone() })
    }

    /// The verdict on each label that was recorded for a function, by key, for a user who accepts some
    /// assumptions.
    ///
    /// # Errors
    /// Trouble with the file or its contents.
    pub fn verdicts(
        &self,
        function: FunctionName<'_>,
        scope: &EvidenceScope,
        accepted: &AcceptedAssumptions,
    ) -> Result<Vec<LabelVerdict>, LedgerError> {
        let Some(id) = self.wrap(function_id(&self.connection, function))? else {
            return Ok(Vec::new());
        };
        let mut evidence = self.evidence_of(id, scope)?;
        let labels: Vec<String> = self.wrap(
            self.connection
                .prepare_cached("SELECT key FROM label WHERE function = ?1 ORDER BY key")
                .and_then(|mut query| query.query_map([id], |row| row.get(0))?.collect()),
        )?;
        let verdict_of = |key: String| {
            let evidence = evidence.remove(&key).unwrap_or_default();
            LabelVerdict { verdict: verdict(None, &evidence, accepted), label: LabelKey(key) }
        };
        Ok(labels.into_iter().map(verdict_of).collect())
    }

    /// The tests recorded for a function, oldest first, with their types found in `types`. Left out
    /// are tests with a type that the program no longer has, and those for which some engine's claim
    /// was not confirmed on the code of `scope`.
    ///
    /// # Errors
    /// Trouble with the file or its contents.
    pub fn tests(
        &self,
        function: FunctionName<'_>,
        scope: &EvidenceScope,
        types: &CTypes,
    ) -> Result<Vec<StoredTest>, LedgerError> {
        let rows: Vec<(String, String)> =
            self.wrap(self.connection.prepare_cached(TESTS).and_then(|mut query| {
                let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
                let given = [function.unit, function.name, &scope.code];
                query.query_map(given, read)?.collect()
            }))?;
        let spelled = stored_test::by_spelling(types);
        let mut tests = Vec::with_capacity(rows.len());
        for (hash, json) in rows {
            let test = stored_test::decode(&json, &spelled);
            let test = test.map_err(|error| self.contents(&error))?;
            tests.extend(test.map(|test| StoredTest { hash: TestHash(hash), test }));
        }
        Ok(tests)
    }

    /// The evidence on a function's labels that is valid in a scope, by label, oldest first.
    fn evidence_of(
        &self,
        function: i64,
        scope: &EvidenceScope,
    ) -> Result<FxHashMap<String, Vec<Evidence>>, LedgerError> {
        let rows: Vec<(String, String, String)> = self.wrap(
            self.connection
                .prepare_cached(
                    "SELECT label, configuration, detail FROM evidence
                     WHERE function = ?1 AND code = ?2 ORDER BY id",
                )
                .and_then(|mut query| {
                    let read =
                        |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
                    query.query_map(params![function, scope.code], read)?.collect()
                }),
        )?;
        let mut by_label: FxHashMap<String, Vec<Evidence>> = FxHashMap::default();
        for (label, configuration, detail) in rows {
            let evidence: Evidence =
                serde_json::from_str(&detail).map_err(|error| self.contents(&error))?;
            if configuration == scope.configuration || !evidence.depends_on_configuration() {
                by_label.entry(label).or_default().push(evidence);
            }
        }
        Ok(by_label)
    }

    /// The text of a document; none if there is no document of this name.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn document(&self, name: &str) -> Result<Option<String>, LedgerError> {
        let found = self
            .connection
            .prepare_cached("SELECT text FROM document WHERE name = ?1")
            .and_then(|mut query| query.query_row([name], |row| row.get(0)).optional());
        self.wrap(found)
    }

    /// All arguments with certificates that are not withdrawn, whatever their scope, oldest first.
    ///
    /// # Errors
    /// Trouble with the file or its contents.
    pub fn certified(&self) -> Result<Vec<CertifiedEvidence>, LedgerError> {
        let rows = self.wrap(self.all_evidence())?;
        let mut all = Vec::new();
        for (mut found, detail) in rows {
            found.evidence =
                serde_json::from_str(&detail).map_err(|error| self.contents(&error))?;
            all.push(found);
        }
        let mut by_label: FxHashMap<[&str; 4], Vec<Evidence>> = FxHashMap::default();
        for found in &all {
            by_label.entry(found.about()).or_default().push(found.evidence.clone());
        }
        let counts = |found: &&CertifiedEvidence| {
            !found.evidence.certificates().is_empty()
                && !found.evidence.is_withdrawn(&by_label[&found.about()])
        };
        Ok(all.iter().filter(counts).cloned().collect())
    }

    /// All evidence that argues for infeasibility or withdraws an argument, with its text, not yet read.
    fn all_evidence(&self) -> rusqlite::Result<Vec<(CertifiedEvidence, String)>> {
        let mut query = self.connection.prepare_cached(
            "SELECT unit, name, code, configuration, label, predicate, file,
                 max(0, line + coalesce(first_line, 0)), col, detail
             FROM evidence JOIN function ON function.id = evidence.function
             JOIN label ON label.function = evidence.function AND label.key = evidence.label
             LEFT JOIN recorded ON recorded.function = evidence.function
             WHERE kind IN ('complete', 'withdrawn') ORDER BY evidence.id",
        )?;
        let read = |row: &rusqlite::Row<'_>| {
            let file: String = row.get(6)?;
            let evidence = Evidence::Unknown { reason: UnknownReason::NotTried };
            let found = CertifiedEvidence {
                unit: row.get(0)?,
                function: row.get(1)?,
                scope: EvidenceScope { code: row.get(2)?, configuration: row.get(3)? },
                label: LabelKey(row.get(4)?),
                text: row.get(5)?,
                place: Place { file: file.into(), line: row.get(7)?, column: row.get(8)? },
                evidence,
            };
            Ok((found, row.get(9)?))
        };
        query.query_map([], read)?.collect()
    }

    fn wrap<T>(&self, result: rusqlite::Result<T>) -> Result<T, LedgerError> {
        result.map_err(|error| LedgerError::from_sqlite(&self.path, error))
    }

    fn contents(&self, error: &dyn std::fmt::Display) -> LedgerError {
        LedgerError::Corrupt { path: self.path.clone(), detail: error.to_string() }
    }
}

fn function_id(
    connection: &Connection,
    function: FunctionName<'_>,
) -> rusqlite::Result<Option<i64>> {
    let mut query =
        connection.prepare_cached("SELECT id FROM function WHERE unit = ?1 AND name = ?2")?;
    let mut rows = query.query([function.unit, function.name])?;
    rows.next()?.map(|row| row.get(0)).transpose()
}

/// The function's number, made if there is none.
fn function_made(connection: &Connection, function: FunctionName<'_>) -> rusqlite::Result<i64> {
    if let Some(id) = function_id(connection, function)? {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO function(unit, name) VALUES (?1, ?2) RETURNING id")?
        .query_row([function.unit, function.name], |row| row.get(0))
}

/// Findings about functions, one after the other, that become part of the ledger together or not at
/// all. A commit takes some time, so findings that are known together belong in one transaction.
#[derive(Debug)]
pub struct LedgerTransaction<'l> {
    transaction: Transaction<'l>,
    path: PathBuf,
    function: i64,
    scope: EvidenceScope,
}

impl LedgerTransaction<'_> {
    /// Further findings are about this function.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn turn_to(
        &mut self,
        function: FunctionName<'_>,
        scope: &EvidenceScope,
    ) -> Result<(), LedgerError> {
        let id = function_made(&self.transaction, function);
        self.function = id.map_err(|error| LedgerError::from_sqlite(&self.path, error))?;
        self.scope = scope.clone();
        Ok(())
    }

    /// Records a test of the function and returns its hash. A test that is known is not doubled.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn test(&mut self, test: &Test, types: &CTypes) -> Result<TestHash, LedgerError> {
        let (hash, json) = stored_test::encode(test, types);
        let insert = self.transaction.prepare_cached(
            "INSERT INTO test(function, hash, json) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        );
        insert
            .and_then(|mut insert| insert.execute(params![self.function, hash.0, json]))
            .map_err(|error| LedgerError::from_sqlite(&self.path, error))?;
        Ok(hash)
    }

    /// Records a document by a name that follows from its text, such as its digest. One of that name which
    /// is there stays.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn document(&mut self, name: &str, text: &str) -> Result<(), LedgerError> {
        let insert = self.transaction.prepare_cached(
            "INSERT INTO document(name, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        );
        let inserted = insert.and_then(|mut insert| insert.execute(params![name, text]));
        inserted.map(drop).map_err(|error| LedgerError::from_sqlite(&self.path, error))
    }

    /// Records evidence on a label whose objectives are recorded. A test that the evidence names must be
    /// recorded, too. Evidence that is known is not doubled, and of several reasons for an unknown verdict
    /// only the last is kept. If a test was measured to cover the label, unconfirmed claims of the same
    /// test on the same code are deleted.
    ///
    /// # Errors
    /// A label or test that is not recorded; trouble with the file.
    pub fn evidence(&mut self, label: &LabelKey, evidence: &Evidence) -> Result<(), LedgerError> {
        self.write_evidence(label, evidence).map_err(|error| {
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) {
                return LedgerError::NotRecorded { label: label.clone() };
            }
            LedgerError::from_sqlite(&self.path, error)
        })
    }

    fn write_evidence(&mut self, label: &LabelKey, evidence: &Evidence) -> rusqlite::Result<()> {
        let EvidenceScope { code, configuration } = &self.scope;
        let configuration =
            if evidence.depends_on_configuration() { configuration.as_str() } else { "" };
        if matches!(evidence, Evidence::Unknown { .. }) {
            self.transaction
                .prepare_cached(
                    "DELETE FROM evidence WHERE function = ?1 AND label = ?2 AND code = ?3
                     AND configuration = ?4 AND kind = ?5",
                )?
                .execute(params![self.function, label.0, code, configuration, evidence.kind()])?;
        }
        if let Evidence::Measured { test } = evidence {
            self.transaction
                .prepare_cached(
                    "DELETE FROM evidence WHERE function = ?1 AND test = ?2 AND code = ?3
                     AND kind = 'unconfirmed'",
                )?
                .execute(params![self.function, test.0, code])?;
        }
        let detail = serde_json::to_string(evidence).expect("evidence is valid JSON");
        let test = evidence.test().map(|hash| hash.0.as_str());
        self.transaction
            .prepare_cached(
                "INSERT INTO evidence(function, label, kind, code, configuration, test, detail)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT(function, label, code, configuration, detail) DO NOTHING",
            )?
            .execute(params![
                self.function,
                label.0,
                evidence.kind(),
                code,
                configuration,
                test,
                detail
            ])?;
        Ok(())
    }

    /// Withdraws every argument for infeasibility that an engine gave, on the code of the scope. The
    /// arguments stay in the file. Returns their number.
    ///
    /// # Errors
    /// Trouble with the file or its contents.
    pub fn withdraw(&mut self, engine: Engine, contradiction: &str) -> Result<usize, LedgerError> {
        let arguments = self.arguments();
        let arguments = arguments.map_err(|error| LedgerError::from_sqlite(&self.path, error))?;
        let mut count = 0;
        for (label, detail) in arguments {
            let argument: Evidence = serde_json::from_str(&detail).map_err(|error| {
                LedgerError::Corrupt { path: self.path.clone(), detail: error.to_string() }
            })?;
            if argument.rests_on(engine) {
                count += 1;
                let method = argument.method().to_owned();
                let contradiction = contradiction.to_owned();
                self.evidence(&LabelKey(label), &Evidence::Withdrawn { method, contradiction })?;
            }
        }
        Ok(count)
    }

    /// The arguments for infeasibility of labels of the function, on the code of the scope.
    fn arguments(&self) -> rusqlite::Result<Vec<(String, String)>> {
        let mut query = self.transaction.prepare_cached(
            "SELECT label, detail FROM evidence WHERE function = ?1 AND code = ?2
             AND kind IN ('complete', 'local-proof') ORDER BY id",
        )?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        query.query_map(params![self.function, self.scope.code], read)?.collect()
    }

    /// Makes all findings part of the ledger. They then survive a crash of the process, and from the next
    /// write to the disk on one of the machine (see the head of the crate).
    ///
    /// # Errors
    /// A full disk or other trouble with the file: then nothing of it is kept.
    pub fn commit(self) -> Result<(), LedgerError> {
        let path = self.path;
        self.transaction.commit().map_err(|error| LedgerError::from_sqlite(&path, error))
    }
}
