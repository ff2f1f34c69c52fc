//! Loads that give the same number: `if (n > p->most) n = p->most;`.
//!
//! Loads of one type whose addresses are written alike, over the same registers, are a *cell*. Cells
//! are followed like registers, under numbers after those of the body's locals, so that a test of one
//! load restricts the next one. Facts about a cell hold until memory may change, by any statement but
//! an assignment to a register, or until a register of its address changes. Between two such places
//! every load of the cell reads the same bytes, if it does not trap. Volatile loads are no cells.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::{EntityId, SideTable};
use lydian_ir::{Body, Expr, ExprId, LocalId, Type};
use rustc_hash::FxHashMap;

/// The most cells of one function. Further loads can be anything.
const MOST: usize = 256;

/// The cells of a function that are read in several places.
#[derive(Debug, Default)]
pub(super) struct LoadCells {
    /// The number of the first cell.
    first: usize,
    types: Vec<Type>,
    /// A load of each.
    samples: Vec<ExprId>,
    cells: FxHashMap<ExprId, LocalId>,
    /// The cells whose addresses are made of a register.
    over: BTreeMap<LocalId, Vec<LocalId>>,
}

impl LoadCells {
    /// The cells of a body.
    pub(super) fn of(body: &Body) -> Self {
        let mut alike: FxHashMap<Expr, ExprId> = FxHashMap::default();
        let mut first_alike: SideTable<ExprId, Option<ExprId>> = SideTable::new(None);
        let mut loads: BTreeMap<ExprId, Vec<ExprId>> = BTreeMap::new();
        for (id, expr) in body.exprs.iter() {
            // Operands come before what they are operands of.
            let with_first = expr.map_operands(|operand| first_alike[operand].unwrap_or(operand));
            let first = *alike.entry(with_first).or_insert(id);
            first_alike.set(id, Some(first));
            if let Expr::Load { volatile: false, .. } = expr {
                loads.entry(first).or_default().push(id);
            }
        }
        let mut this = Self { first: body.locals.len(), ..Self::default() };
        for (first, all) in loads.into_iter().filter(|(_, all)| all.len() > 1).take(MOST) {
            let Expr::Load { ty, addr, .. } = body.exprs[first] else { continue };
            let cell = LocalId::from_index(this.first + this.types.len());
            this.types.push(ty);
            this.samples.push(first);
            this.cells.extend(all.into_iter().map(|load| (load, cell)));
            for register in registers(body, addr) {
                this.over.entry(register).or_default().push(cell);
            }
        }
        this
    }

    /// The cell of a load.
    pub(super) fn cell(&self, load: ExprId) -> Option<LocalId> {
        self.cells.get(&load).copied()
    }

    /// The cells, each with one of its loads.
    pub(super) fn all(&self) -> impl Iterator<Item = (LocalId, ExprId)> + '_ {
        let cell = |at: usize| LocalId::from_index(self.first + at);
        self.samples.iter().enumerate().map(move |(at, load)| (cell(at), *load))
    }

    /// The type of a cell; none for what is no cell.
    pub(super) fn ty(&self, cell: LocalId) -> Option<Type> {
        self.types.get(cell.index().checked_sub(self.first)?).copied()
    }

    /// Whether it is a cell rather than a local.
    pub(super) fn is_cell(&self, local: LocalId) -> bool {
        local.index() >= self.first
    }

    /// The cells whose addresses are made of a register.
    pub(super) fn over(&self, register: LocalId) -> &[LocalId] {
        self.over.get(&register).map_or(&[], Vec::as_slice)
    }
}

/// The registers that an expression reads.
fn registers(body: &Body, expr: ExprId) -> BTreeSet<LocalId> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![expr]);
    let mut seen = BTreeSet::new();
    while let Some(expr) = waiting.pop() {
        if !seen.insert(expr) {
            continue;
        }
        if let Expr::Local(local) = body.exprs[expr] {
            found.insert(local);
        }
        body.exprs[expr].for_each_operand(|operand| waiting.push(operand));
    }
    found
}
