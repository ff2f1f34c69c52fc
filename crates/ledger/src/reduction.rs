//! Reductions: the small tests that a suite has in place of tests of the ledger.
//!
//! To make tests small takes many runs, and gives the same each time. So the outcome is kept under a key that
//! follows from all that it depends on. A function has its last one.

use lydian_ir::CTypes;
use lydian_ir::test::Test;
use rusqlite::{OptionalExtension, params};

use crate::{
    FunctionName, Ledger, LedgerError, LedgerTransaction, PortableTest, function_id, stored_test,
};

/// The outcome of making tests small.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// The time that it had, in milliseconds, where that was too short; none where it came to its end.
    pub cut_after: Option<u64>,
    /// The small test for each of some tests, in their order; none where a test stays as it is.
    pub tests: Vec<Option<Test>>,
}

impl Ledger {
    /// The reduction of a key; none if there is no such reduction, or the program lacks a type of its tests.
    ///
    /// # Errors
    /// Trouble with the file or its contents.
    pub fn reduction(
        &self,
        function: FunctionName<'_>,
        key: &str,
        types: &CTypes,
    ) -> Result<Option<Reduction>, LedgerError> {
        let Some(id) = self.wrap(function_id(&self.connection, function))? else {
            return Ok(None);
        };
        let found: Option<String> = self.wrap(
            self.connection
                .prepare_cached("SELECT detail FROM reduction WHERE function = ?1 AND key = ?2")
                .and_then(|mut query| {
                    query.query_row(params![id, key], |row| row.get(0)).optional()
                }),
        )?;
        let Some(detail) = found else { return Ok(None) };
        let (cut_after, all): (Option<u64>, Vec<Option<PortableTest>>) =
            serde_json::from_str(&detail).map_err(|error| self.contents(&error))?;
        let spelled = stored_test::by_spelling(types);
        let mut tests = Vec::with_capacity(all.len());
        for portable in all {
            let Some(portable) = portable else {
                tests.push(None);
                continue;
            };
            let test = portable.with_spelled(&spelled).map_err(|error| self.contents(&error))?;
            let Some(test) = test else { return Ok(None) };
            tests.push(Some(test));
        }
        Ok(Some(Reduction { cut_after, tests }))
    }
}

impl LedgerTransaction<'_> {
    /// Records the reduction of a key for the function, in place of its last one.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn reduction(
        &mut self,
        key: &str,
        Reduction { cut_after, tests }: &Reduction,
        types: &CTypes,
    ) -> Result<(), LedgerError> {
        let portable = tests.iter().map(|test| Some(PortableTest::new(test.as_ref()?, types)));
        let portable: Vec<Option<PortableTest>> = portable.collect();
        let detail = serde_json::to_string(&(cut_after, portable)).expect("tests are valid JSON");
        let write = || {
            self.transaction
                .prepare_cached("DELETE FROM reduction WHERE function = ?1")?
                .execute([self.function])?;
            self.transaction
                .prepare_cached("INSERT INTO reduction(function, key, detail) VALUES (?1, ?2, ?3)")?
                .execute(params![self.function, key, detail])
        };
        write().map(drop).map_err(|error| LedgerError::from_sqlite(&self.path, error))
    }
}
