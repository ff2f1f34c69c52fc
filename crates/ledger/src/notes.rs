//! Notes about a function for later runs: what its tests did, what is known of its mutants. Of each kind a
//! function has one, under a key that follows from all that it depends on.

use rusqlite::{OptionalExtension, params};

use crate::{
    EvidenceScope, FunctionName, Ledger, LedgerError, LedgerTransaction, TESTS, function_id,
};

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// What the tests of the function did when they ran.
    Runs,
    /// What is known of its mutants.
    Mutants,
    /// What is known of the calls of error functions in a program that begins in it.
    Errors,
}

impl NoteKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Mutants => "mutants",
            Self::Errors => "errors",
        }
    }
}

impl Ledger {
    /// A note about a function under a key; none if there is no such note.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn note(
        &self,
        function: FunctionName<'_>,
        kind: NoteKind,
        key: &str,
    ) -> Result<Option<String>, LedgerError> {
        let Some(id) = self.wrap(function_id(&self.connection, function))? else {
            return Ok(None);
        };
        let found = self
            .connection
            .prepare_cached(
                "SELECT detail FROM note WHERE function = ?1 AND kind = ?2 AND key = ?3",
            )
            .and_then(|mut query| {
                query.query_row(params![id, kind.name(), key], |row| row.get(0)).optional()
            });
        self.wrap(found)
    }

    /// The hashes of the tests that [`Ledger::tests`] gives, whether the program has their types or not.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn test_hashes(
        &self,
        function: FunctionName<'_>,
        scope: &EvidenceScope,
    ) -> Result<Vec<String>, LedgerError> {
        let rows = self.connection.prepare_cached(TESTS).and_then(|mut query| {
            let given = [function.unit, function.name, &scope.code];
            query.query_map(given, |row| row.get(0))?.collect()
        });
        self.wrap(rows)
    }
}

impl LedgerTransaction<'_> {
    /// Records a note about the function under a key, in place of the last one of its kind.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn note(&mut self, kind: NoteKind, key: &str, detail: &str) -> Result<(), LedgerError> {
        let written = self
            .transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO note(function, kind, key, detail) VALUES (?1, ?2, ?3, ?4)",
            )
            .and_then(|mut insert| {
                insert.execute(params![self.function, kind.name(), key, detail])
            });
        written.map(drop).map_err(|error| LedgerError::from_sqlite(&self.path, error))
    }
}
