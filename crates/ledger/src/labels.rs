//! The labels of a function: what evidence is about.
//!
//! A label is written once, with its line as seen from the function's first one. So a function that only moved in
//! its file is one row that changes, and one that did not change at all is read, not written.

use blake3::Hasher;
use lydian_base::Place;
use lydian_objective::evidence::{AssumedObjective, Contradiction, CriterionRow, Verdict};
use lydian_objective::{AcceptedAssumptions, Criterion, FunctionObjectives, LabelKey};
use rusqlite::{OptionalExtension, params};
use rustc_hash::FxHashMap;

use crate::{FunctionName, Ledger, LedgerError, LedgerTransaction, function_id};

/// The text in the column `site` for a hyperlabel.
const HYPERLABEL: &str = "hyperlabel";

/// The objectives of a function, as the table `recorded` knows them.
#[derive(PartialEq, Eq)]
struct Recorded {
    /// A digest of all that is written of them.
    digest: String,
    /// The line from which their lines are counted.
    first_line: i64,
}

/// A label as it is written.
struct Row<'o> {
    key: &'o LabelKey,
    site: String,
    text: &'o str,
    place: &'o Place,
}

impl Row<'_> {
    fn line_from(&self, first: i64) -> i64 {
        i64::from(self.place.line) - first
    }
}

fn rows(objectives: &FunctionObjectives) -> impl Iterator<Item = Row<'_>> {
    let labels = objectives.labels.values().map(|label| Row {
        key: &label.key,
        site: format!("{:?}", label.site),
        text: &label.text,
        place: &label.place,
    });
    let hypers = objectives.hypers.values().map(|hyper| Row {
        key: &hyper.key,
        site: HYPERLABEL.to_owned(),
        text: &hyper.text,
        place: &hyper.place,
    });
    labels.chain(hypers)
}

impl Recorded {
    fn of(objectives: &FunctionObjectives) -> Self {
        let first_line = rows(objectives).next().map_or(0, |row| i64::from(row.place.line));
        let mut hasher = Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        };
        for row in rows(objectives) {
            add(row.key.0.as_bytes());
            add(row.site.as_bytes());
            add(row.text.as_bytes());
            add(row.place.file.as_bytes());
            add(&row.line_from(first_line).to_le_bytes());
            add(&row.place.column.to_le_bytes());
        }
        Self { digest: hasher.finalize().to_hex()[..32].to_owned(), first_line }
    }
}

impl Ledger {
    /// Whether the objectives of a function are recorded, at their places.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn has_objectives(
        &self,
        function: FunctionName<'_>,
        objectives: &FunctionObjectives,
    ) -> Result<bool, LedgerError> {
        let found = function_id(&self.connection, function)
            .and_then(|id| id.map_or(Ok(None), |id| recorded(&self.connection, id)));
        Ok(self.wrap(found)?.is_some_and(|found| found == Recorded::of(objectives)))
    }
}

fn recorded(
    connection: &rusqlite::Connection,
    function: i64,
) -> rusqlite::Result<Option<Recorded>> {
    let mut query =
        connection.prepare_cached("SELECT digest, first_line FROM recorded WHERE function = ?1")?;
    let read =
        |row: &rusqlite::Row<'_>| Ok(Recorded { digest: row.get(0)?, first_line: row.get(1)? });
    query.query_row([function], read).optional()
}

impl LedgerTransaction<'_> {
    /// Records objectives. Those that were recorded before stay, with their evidence.
    ///
    /// # Errors
    /// Trouble with the file.
    pub fn objectives(&mut self, objectives: &FunctionObjectives) -> Result<(), LedgerError> {
        let result = self.write_objectives(objectives);
        result.map_err(|error| LedgerError::from_sqlite(&self.path, error))
    }

    fn write_objectives(&mut self, objectives: &FunctionObjectives) -> rusqlite::Result<()> {
        let new = Recorded::of(objectives);
        let old = recorded(&self.transaction, self.function)?;
        if old.as_ref().is_none_or(|old| old.digest != new.digest) {
            let first_line = old.map_or(0, |old| old.first_line);
            self.write_labels(objectives, first_line, new.first_line)?;
        }
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO recorded(function, digest, first_line) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![self.function, new.digest, new.first_line])?;
        Ok(())
    }

    /// Writes labels with lines counted from another one than those that are there.
    fn write_labels(
        &self,
        objectives: &FunctionObjectives,
        before: i64,
        first_line: i64,
    ) -> rusqlite::Result<()> {
        if before != first_line {
            // Labels that are not among these stay where they are.
            self.transaction
                .prepare_cached("UPDATE label SET line = line + ?2 WHERE function = ?1")?
                .execute(params![self.function, before - first_line])?;
        }
        let mut write = self.transaction.prepare_cached(
            "INSERT INTO label(function, key, site, predicate, file, line, col)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT DO UPDATE SET predicate = ?4, file = ?5, line = ?6, col = ?7",
        )?;
        for row in rows(objectives) {
            let line = row.line_from(first_line);
            write.execute(params![
                self.function,
                row.key.0,
                row.site,
                row.text,
                row.place.file,
                line,
                row.place.column
            ])?;
        }
        Ok(())
    }
}

/// The counts of each criterion of some objectives, in their order.
pub fn criterion_rows(
    objectives: &FunctionObjectives,
    verdicts: &FxHashMap<LabelKey, Result<Verdict, Contradiction>>,
) -> Vec<CriterionRow> {
    let FunctionObjectives { labels, criteria, hypers, hyper_criteria, .. } = objectives;
    let of_labels = criteria.iter().map(|(criterion, entries)| {
        let counted = entries.iter().map(|entry| {
            let label = &labels[entry.label];
            let (name, text) = (entry.name.as_str(), &*label.text);
            Counted {
                duplicate_of: entry.duplicate_of,
                key: &label.key,
                name,
                text,
                place: &label.place,
            }
        });
        criterion_row(*criterion, counted, verdicts)
    });
    let of_hypers = hyper_criteria.iter().map(|(criterion, entries)| {
        let counted = entries.iter().map(|entry| {
            let hyper = &hypers[entry.hyper];
            let (name, text) = (entry.name.as_str(), &*hyper.text);
            Counted {
                duplicate_of: entry.duplicate_of,
                key: &hyper.key,
                name,
                text,
                place: &hyper.place,
            }
        });
        criterion_row(*criterion, counted, verdicts)
    });
    of_labels.chain(of_hypers).collect()
}

/// An objective as a criterion counts it.
struct Counted<'o> {
    duplicate_of: Option<u32>,
    key: &'o LabelKey,
    name: &'o str,
    text: &'o str,
    place: &'o Place,
}

fn criterion_row<'o>(
    criterion: Criterion,
    counted: impl Iterator<Item = Counted<'o>>,
    known: &FxHashMap<LabelKey, Result<Verdict, Contradiction>>,
) -> CriterionRow {
    let (mut verdicts, mut assumed) = (Vec::new(), Vec::new());
    for one in counted {
        if let Some(of) = one.duplicate_of {
            verdicts.push(Ok(Verdict::Duplicate { of }));
            continue;
        }
        let verdict = match known.get(one.key) {
            Some(verdict) => verdict.clone(),
            None => lydian_objective::evidence::verdict(None, &[], &AcceptedAssumptions::default()),
        };
        if let Ok(Verdict::InfeasibleAssumed { assumptions, .. }) = &verdict {
            assumed.push(AssumedObjective {
                name: one.name.to_owned(),
                place: one.place.clone(),
                text: one.text.to_owned(),
                assumptions: assumptions.clone(),
            });
        }
        verdicts.push(verdict);
    }
    let row = CriterionRow::count(criterion, verdicts);
    CriterionRow { assumed, ..row }
}
