//! What the tests of a function did when they ran, for later runs with the same code. A function has one record,
//! under a key that follows from all that its runs depend on.

use rusqlite::{OptionalExtension, params};

use crate::{
    EvidenceScope, FunctionName, Ledger, LedgerError, LedgerTransaction, TESTS, function_id,
};

impl Ledger {
    /// The record of a function's runs under a key; none if there is no such record.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn runs(
        &self,
        function: FunctionName<'_>,
        key: &str,
    ) -> Result<Option<String>, LedgerError> {
        let Some(id) = self.wrap(function_id(&self.connection, function))? else {
            return Ok(None);
        };
        let found = self
            .connection
            .prepare_cached("SELECT detail FROM runs WHERE function = ?1 AND key = ?2")
            .and_then(|mut query| query.query_row(params![id, key], |row| row.get(0)).optional());
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
    /// Records a function's runs under a key, in place of its last record.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn runs(&mut self, key: &str, detail: &str) -> Result<(), LedgerError> {
        let written = self
            .transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO runs(function, key, detail) VALUES (?1, ?2, ?3)",
            )
            .and_then(|mut insert| insert.execute(params![self.function, key, detail]));
        written.map(drop).map_err(|error| LedgerError::from_sqlite(&self.path, error))
    }
}
