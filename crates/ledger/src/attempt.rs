//! Attempts: what a run tried for the objectives of a function that it left open, and with which effort.
//!
//! An attempt says nothing about the program. It lets a later run with no more effort take over the reasons
//! for which objectives are unknown, instead of finding them again. It counts for the same code and
//! configuration as the evidence does, and for the same [settings](Effort::settings) of the engines.
//!
//! **Invariant:** only a run that came to its end leaves an attempt: it was not interrupted, and found no
//! contradiction.

use std::collections::BTreeMap;

use lydian_objective::LabelKey;
use lydian_objective::evidence::UnknownReason;
use lydian_objective::fingerprint::TextPosition;
use rusqlite::params;
use serde::{Deserialize, Serialize};

use crate::{EvidenceScope, FunctionName, Ledger, LedgerError, LedgerTransaction, function_id};

/// An attempt to decide objectives of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionAttempt {
    /// What it might take.
    pub effort: Effort,
    /// What it took: wall-clock time in milliseconds.
    pub spent: u64,
    /// The objectives that it left open, by their keys. It had been asked for more, which it decided.
    pub left: BTreeMap<String, LeftOpen>,
}

/// What work may take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// What is neither more nor less: the way of searching, the seed, the version of Lydian. As text or as a
    /// digest.
    pub settings: String,
    /// The limits, by name. A greater number is more effort; none is no limit.
    pub limits: BTreeMap<String, Option<u64>>,
}

impl Effort {
    /// Whether work with this effort gets no further than with another one.
    pub fn is_within(&self, other: &Self) -> bool {
        let is_within =
            |(name, limit): (&String, &Option<u64>)| match (limit, other.limits.get(name)) {
                (_, Some(None)) => true,
                (Some(limit), Some(Some(most))) => limit <= most,
                (None, Some(Some(_))) | (_, None) => false,
            };
        self.settings == other.settings
            && self.limits.len() == other.limits.len()
            && self.limits.iter().all(is_within)
    }
}

/// An objective that an attempt left open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOpen {
    /// The reason for which it is unknown. None where other evidence says why, as for an objective that is
    /// infeasible as assumed.
    pub reason: Option<UnknownReason>,
    /// The places that the reason names, as it spells them, and where they lie in the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<(String, TextPosition)>,
}

impl DecisionAttempt {
    /// Whether it says about another one's objectives all that the other one says.
    fn replaces(&self, other: &Self) -> bool {
        other.effort.is_within(&self.effort)
            && other.left.keys().all(|label| self.left.contains_key(label))
    }
}

impl Ledger {
    /// The attempts for a function in a scope, oldest first.
    ///
    /// # Errors
    /// Trouble with the file or its contents.
    pub fn attempts(
        &self,
        function: FunctionName<'_>,
        scope: &EvidenceScope,
    ) -> Result<Vec<DecisionAttempt>, LedgerError> {
        let Some(id) = self.wrap(function_id(&self.connection, function))? else {
            return Ok(Vec::new());
        };
        let rows: Vec<String> = self.wrap(
            self.connection
                .prepare_cached(
                    "SELECT detail FROM attempt
                     WHERE function = ?1 AND code = ?2 AND configuration = ?3 ORDER BY id",
                )
                .and_then(|mut query| {
                    let given = params![id, scope.code, scope.configuration];
                    query.query_map(given, |row| row.get(0))?.collect()
                }),
        )?;
        let read =
            |text: &String| serde_json::from_str(text).map_err(|error| self.contents(&error));
        rows.iter().map(read).collect()
    }
}

impl LedgerTransaction<'_> {
    /// Records an attempt for the function. Those that it [says all of](DecisionAttempt::left) with no less effort are
    /// removed.
    ///
    /// # Errors
    /// Trouble with the file or its contents.
    pub fn attempt(&mut self, attempt: &DecisionAttempt) -> Result<(), LedgerError> {
        let known = self.known_attempts();
        let known = known.map_err(|error| LedgerError::from_sqlite(&self.path, error))?;
        let mut old = Vec::new();
        for (id, detail) in known {
            let other: DecisionAttempt = serde_json::from_str(&detail).map_err(|error| {
                LedgerError::Corrupt { path: self.path.clone(), detail: error.to_string() }
            })?;
            old.extend(attempt.replaces(&other).then_some(id));
        }
        let written = self.write_attempt(attempt, &old);
        written.map_err(|error| LedgerError::from_sqlite(&self.path, error))
    }

    fn known_attempts(&self) -> rusqlite::Result<Vec<(i64, String)>> {
        let mut query = self.transaction.prepare_cached(
            "SELECT id, detail FROM attempt WHERE function = ?1 AND code = ?2 AND configuration = ?3",
        )?;
        let given = params![self.function, self.scope.code, self.scope.configuration];
        query.query_map(given, |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    fn write_attempt(&self, attempt: &DecisionAttempt, old: &[i64]) -> rusqlite::Result<()> {
        let mut delete = self.transaction.prepare_cached("DELETE FROM attempt WHERE id = ?1")?;
        for id in old {
            delete.execute([id])?;
        }
        let detail = serde_json::to_string(attempt).expect("an attempt is valid JSON");
        self.transaction
            .prepare_cached(
                "INSERT INTO attempt(function, code, configuration, detail) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![self.function, self.scope.code, self.scope.configuration, detail])?;
        Ok(())
    }
}

/// The reason of an objective, if some attempt with no less effort left it open; the last one counts.
pub fn left_open<'a>(
    attempts: &'a [DecisionAttempt],
    effort: &Effort,
    label: &LabelKey,
) -> Option<&'a LeftOpen> {
    let enough = attempts.iter().rev().filter(|attempt| effort.is_within(&attempt.effort));
    enough.filter_map(|attempt| attempt.left.get(&label.0)).next()
}
