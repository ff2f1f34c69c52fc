//! One function, compiled in several units: of a header, or with different flags.
//!
//! Parts are the same if place and text are. What only one unit has stays.

use lydian_report::coverage::{FunctionCoverage, ObjectiveStatus};

/// Adds a function to those of its file.
pub(super) fn add(functions: &mut Vec<FunctionCoverage>, new: FunctionCoverage) {
    let same = |known: &&mut FunctionCoverage| known.name == new.name && known.start == new.start;
    match functions.iter_mut().find(same) {
        Some(known) => merge(known, new),
        None => functions.push(new),
    }
}

fn merge(known: &mut FunctionCoverage, new: FunctionCoverage) {
    known.entered = match (known.entered, new.entered) {
        (Some(a), Some(b)) => Some(a || b),
        (one, other) => one.or(other),
    };
    known.end_line = known.end_line.max(new.end_line);
    unite(
        &mut known.lines,
        new.lines,
        |a, b| a.line == b.line,
        |known, new| known.covered |= new.covered,
    );
    known.lines.sort_by_key(|line| line.line);
    unite(
        &mut known.decisions,
        new.decisions,
        |a, b| a.start == b.start && a.text == b.text && a.tree == b.tree,
        |known, new| {
            known.recorded |= new.recorded;
            known.rows.extend(new.rows);
            known.rows.sort();
            known.rows.dedup();
            known.outcomes = [0, 1].map(|way| known.outcomes[way] || new.outcomes[way]);
        },
    );
    known.decisions.sort_by_key(|decision| decision.start);
    unite(
        &mut known.switches,
        new.switches,
        |a, b| a.start == b.start,
        |known, new| {
            unite(
                &mut known.ways,
                new.ways,
                |a, b| a.name == b.name,
                |known, new| known.covered |= new.covered,
            );
        },
    );
    unite(
        &mut known.objectives,
        new.objectives,
        |a, b| (a.criterion, a.start, &a.name, &a.text) == (b.criterion, b.start, &b.name, &b.text),
        |known, new| {
            if rank(&new.status) > rank(&known.status) {
                known.status = new.status;
            }
        },
    );
    unite(
        &mut known.def_uses,
        new.def_uses,
        |a, b| {
            (&a.variable, a.definition, a.usage, a.branch)
                == (&b.variable, b.definition, b.usage, b.branch)
        },
        |known, new| known.covered |= new.covered,
    );
}

/// Which of two statuses says more.
const fn rank(status: &ObjectiveStatus) -> u8 {
    match status {
        ObjectiveStatus::Covered => 4,
        ObjectiveStatus::Missing => 3,
        ObjectiveStatus::Unmeasured(_) => 2,
        ObjectiveStatus::Duplicate => 1,
        ObjectiveStatus::Excluded(_) => 0,
    }
}

/// Unites two lists that mostly are in the same order: an item that is not where its fellow stood
/// last is looked for everywhere.
fn unite<T>(
    known: &mut Vec<T>,
    new: Vec<T>,
    same: impl Fn(&T, &T) -> bool,
    join: impl Fn(&mut T, T),
) {
    let mut next = 0;
    for item in new {
        let here = known.get(next).is_some_and(|one| same(one, &item));
        let found = match here {
            true => Some(next),
            false => known.iter().position(|one| same(one, &item)),
        };
        match found {
            Some(at) => {
                join(&mut known[at], item);
                next = at + 1;
            }
            None => known.push(item),
        }
    }
}
