//! Merge scopes: the states of the ways through a loop, a call or a branch without a goal are merged
//! behind it.
//!
//! A *scope* is a natural loop, entered at its header and left where control comes to a block
//! outside of it, or a call, from the first block of the callee to its return. Where an exploration asks
//! for few of many labels ([`Config::merge_silent_code`](crate::Config::merge_silent_code)), so are the
//! blocks from a branch to the first block where all its ways meet. A scope has no goal if no
//! label that is left, and no part of a hyperlabel, lies in it or in its callees. Since covered
//! labels are deleted, a scope may lose its last goal in the midst of an exploration.
//!
//! A state that comes to such a scope is run through it at once: with all its forks, before any
//! other state goes on. The steps are the ordinary ones, so that traps, limits, calls and memory
//! are as anywhere. In a loop, states that come back to the header in the same iteration are merged
//! before the next iteration, so that iterations do not multiply. Behind the scope, the states at
//! one place are merged ([`crate::merging::state_merging`] argues why that is exact). A loop that
//! may be left after any of n iterations gives one path instead of n.
//!
//! Nothing need be known about the scope's end. A path that traps, or is cut by a limit inside,
//! ends as it would elsewhere. Where a scope takes too many steps or states, the states that are
//! still inside are put in the queue like others, and only those that left it are merged.
//!
//! Scopes are worth it where all paths are followed anyway, to show that no input covers the labels
//! left. As long as there are labels that no path reached, and the exploration stops once all are
//! covered, it looks for the next such label instead, and scopes are executed like other code. With few
//! labels most code is on the way to them, and scopes are run from the first time on.
//!
//! Where labels lie has no effect on exactness, only on the benefit: a label that is met inside a
//! scope is looked at on each state as usual.

use std::collections::BTreeMap;
use std::rc::Rc;

use lydian_base::EntityId;
use lydian_ir::cfg::{Cfg, Dominators, Loops, PostDominators};
use lydian_ir::{BlockId, Body, Callee, FuncId, Program, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Machine;
use crate::State;
use crate::config::Mode;
use crate::goals::Goals;
use crate::machine::program::control_flow::places_of;
use crate::machine::program::site::SiteKey;
use crate::merging::Merging;

/// After so many futile runs a scope is not merged any more. A run is futile if no states could be
/// merged behind the scope, or if it took too long.
const FUTILE: u32 = 2;
/// The most scopes within each other that are run at once.
const MOST_DEPTH: usize = 12;

/// The beginning of a scope: the header of a loop or the block of a branch, or `None` for a call of the
/// function.
type ScopeKey = (FuncId, Option<BlockId>);

/// The knowledge about a scope.
#[derive(Debug, Default)]
struct MergeScope {
    /// Whether each block of the function lies in it.
    inside: Vec<bool>,
    /// The sites of labels in it or in its callees.
    sites: Vec<(FuncId, SiteKey)>,
    /// The position of a site at which a label was left at the last look.
    open: usize,
    /// How often control came to it.
    met: u32,
    /// The number of futile runs.
    futile: u32,
}

/// The scopes that were met, and the states inside scopes.
#[derive(Default)]
pub(crate) struct MergeScopes {
    known: FxHashMap<ScopeKey, MergeScope>,
    headers: FxHashMap<FuncId, Rc<FxHashMap<BlockId, Vec<BlockId>>>>,
    /// The scopes that are being run, each with its activation.
    active: Vec<(u64, Option<BlockId>)>,
    /// Forks of the states inside; `None` where no scope is run.
    taken: Option<Vec<Box<State>>>,
}

impl MergeScopes {
    /// Begins to collect forks. Returns those collected until now.
    pub(crate) fn take_forks(&mut self) -> Option<Vec<Box<State>>> {
        self.taken.replace(Vec::new())
    }

    /// Takes the forks collected since.
    pub(crate) fn forks(&mut self) -> Vec<Box<State>> {
        self.taken.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether a scope is being run, so that forks are collected.
    pub(crate) fn is_running(&self) -> bool {
        self.taken.is_some()
    }

    /// Begins to run a scope, and to collect forks. Returns those collected until now.
    pub(crate) fn enter(&mut self, here: &ScopeEntry) -> Option<Vec<Box<State>>> {
        self.active.push((here.serial, here.begin.1));
        self.taken.replace(Vec::new())
    }

    /// Ends the run of the scope that was entered last.
    pub(crate) fn leave(&mut self, outer: Option<Vec<Box<State>>>) {
        self.active.pop();
        self.taken = outer;
    }

    /// Notes that states met behind a scope and could not be merged.
    pub(crate) fn note_futile(&mut self, here: &ScopeEntry) {
        if let Some(scope) = self.known.get_mut(&here.begin) {
            scope.futile += 1;
        }
    }

    /// Restores the forks that were collected before.
    pub(crate) fn give_back(&mut self, taken: Option<Vec<Box<State>>>) {
        self.taken = taken;
    }

    /// Keeps a fork if a scope is being run; otherwise gives it back.
    pub(crate) fn keep(&mut self, state: Box<State>) -> Option<Box<State>> {
        match &mut self.taken {
            Some(taken) => {
                taken.push(state);
                None
            }
            None => Some(state),
        }
    }
}

/// A scope that a state has entered.
pub(crate) struct ScopeEntry {
    pub(crate) begin: ScopeKey,
    /// The number of activations at the entry.
    depth: usize,
    /// The number of the innermost activation.
    serial: u64,
}

/// The position of a state relative to a scope.
pub(crate) enum ScopePlace {
    Inside,
    /// At the header of the loop.
    Header,
    Behind,
}

impl Merging {
    /// The scope that a state is at the beginning of, if it is to be run as one.
    pub(crate) fn begins_merge_scope(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
    ) -> Option<ScopeEntry> {
        let config = &machine.context.config;
        let exhaustive =
            !config.stop_when_covered || config.merge_silent_code || goals.labels.new_ones() == 0;
        let wanted =
            config.merge && config.merge_states_after.is_some() && !config.every_path && exhaustive;
        let frame = state.frame();
        let fits = wanted
            && config.mode != Mode::Plain
            && config.label_deletion.deletes()
            && frame.next == 0
            && !frame.sites_done
            && !state.course.replay
            && !state.depends.are_some()
            && state.passing.queue.is_empty()
            && self.scopes.active.len() < MOST_DEPTH;
        if !fits {
            return None;
        }
        let (func, block, serial) = (frame.func, frame.block, frame.serial);
        let body = machine.body(state);
        let is_call = block == body.entry && state.frames.len() > 1 && body.blocks.len() > 1;
        let call = is_call.then_some(None);
        let branches = config.merge_silent_code;
        let is_header = self.headers(func, body, branches).contains_key(&block);
        for header in call.into_iter().chain(is_header.then_some(Some(block))) {
            let begin = (func, header);
            let active = self.scopes.active.contains(&(serial, header));
            if !active && self.is_due(machine, goals, begin, body) && settles(goals, state) {
                return Some(ScopeEntry { begin, depth: state.frames.len(), serial });
            }
        }
        None
    }

    /// Whether the states of a scope are to be merged now.
    fn is_due(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        begin: ScopeKey,
        body: &Body,
    ) -> bool {
        let config = &machine.context.config;
        let Some(after) = config.merge_states_after else { return false };
        let after = if config.merge_silent_code { 0 } else { after };
        if !self.scopes.known.contains_key(&begin) {
            let scope = self.scope(machine, goals, begin, body);
            self.scopes.known.insert(begin, scope);
        }
        let Some(scope) = self.scopes.known.get_mut(&begin) else { return false };
        scope.met += 1;
        if scope.met <= after || scope.futile >= FUTILE {
            return false;
        }
        let is_open = |(func, site): &(FuncId, SiteKey)| !goals.is_silent(*func, *site);
        if scope.sites.get(scope.open).is_some_and(is_open) {
            return false;
        }
        let open = scope.sites.iter().position(is_open);
        scope.open = open.unwrap_or(0);
        open.is_none()
    }

    /// Finds the blocks and sites of a scope.
    fn scope(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        (func, header): ScopeKey,
        body: &Body,
    ) -> MergeScope {
        let mut inside = vec![header.is_none(); body.blocks.len()];
        if let Some(header) = header {
            let headers = self.headers(func, body, machine.context.config.merge_silent_code);
            headers[&header].iter().for_each(|block| inside[block.index()] = true);
        }
        let mut sites = Vec::new();
        if goals.labels.has(func) {
            let places = places_of(body, goals.labels.sites(func));
            let lies_in = |places: &[(BlockId, u32)]| places.iter().any(|at| inside[at.0.index()]);
            let mut own: Vec<SiteKey> =
                places.iter().filter(|(_, at)| lies_in(at)).map(|(site, _)| *site).collect();
            own.sort_unstable();
            sites.extend(own.into_iter().map(|site| (func, site)));
        }
        let called = called_in(machine.context.program, body, &inside);
        for callee in called.into_iter().filter(|callee| *callee != func || header.is_some()) {
            sites.extend(goals.labels.sites(callee).map(|site| (callee, site)));
        }
        MergeScope { inside, sites, ..MergeScope::default() }
    }

    /// The loops of a function by their headers, with their blocks; with `branches`, also the blocks
    /// from each other branch to the place where its ways meet.
    fn headers(
        &mut self,
        func: FuncId,
        body: &Body,
        branches: bool,
    ) -> Rc<FxHashMap<BlockId, Vec<BlockId>>> {
        let headers = self.scopes.headers.entry(func).or_insert_with(|| {
            let cfg = Cfg::new(body);
            let mut headers = if branches { branch_scopes(&cfg) } else { FxHashMap::default() };
            let loops = Loops::new(&cfg, &Dominators::new(&cfg)).loops;
            headers.extend(loops.values().map(|one| (one.header, one.blocks.clone())));
            Rc::new(headers)
        });
        headers.clone()
    }

    /// Merges states behind a scope that came to one place. Also returns whether some came to one
    /// place and none could be merged.
    pub(crate) fn merge_behind(
        &mut self,
        machine: &mut Machine<'_, '_>,
        behind: Vec<Box<State>>,
    ) -> (Vec<Box<State>>, bool) {
        let count = behind.len();
        let mut groups: BTreeMap<_, Vec<Box<State>>> = BTreeMap::new();
        for state in behind {
            let frame = state.frame();
            let place = (state.frames.len(), frame.serial, frame.block, frame.next);
            groups.entry(place).or_default().push(state);
        }
        let met = groups.len() < count;
        let found: Vec<_> =
            groups.into_values().flat_map(|group| self.merge_all(machine, group)).collect();
        let futile = met && found.len() == count;
        (found, futile)
    }

    /// The position of a state relative to a scope.
    pub(crate) fn place_in(
        &self,
        goals: &Goals<'_>,
        here: &ScopeEntry,
        state: &mut State,
    ) -> ScopePlace {
        let depth = state.frames.len();
        if depth < here.depth {
            return ScopePlace::Behind;
        }
        let (frame, (_, header)) = (state.frame(), here.begin);
        let at_start = frame.next == 0 && !frame.sites_done && state.passing.queue.is_empty();
        let Some(header) = header else { return ScopePlace::Inside };
        if depth > here.depth || frame.serial != here.serial || !at_start {
            return ScopePlace::Inside;
        }
        let block = frame.block;
        let scope = &self.scopes.known[&here.begin];
        let place = match scope.inside[block.index()] {
            true if block == header => ScopePlace::Header,
            true => return ScopePlace::Inside,
            false => ScopePlace::Behind,
        };
        if settles(goals, state) { place } else { ScopePlace::Inside }
    }
}

/// The blocks from each branch to the place where all its ways meet, the branch's own first.
fn branch_scopes(cfg: &Cfg) -> FxHashMap<BlockId, Vec<BlockId>> {
    let post = PostDominators::new(cfg);
    let branches = cfg.reverse_postorder().iter().filter(|block| cfg.successors(**block).len() > 1);
    let scopes = branches.filter_map(|branch| {
        let meet = post.immediate(*branch)?;
        let mut inside = vec![*branch];
        let mut at = 0;
        while let Some(block) = inside.get(at).copied() {
            let next = cfg.successors(block).iter().filter(|next| **next != meet);
            let new: Vec<BlockId> = next.filter(|next| !inside.contains(*next)).copied().collect();
            inside.extend(new);
            at += 1;
        }
        Some((*branch, inside))
    });
    scopes.collect()
}

/// The functions with bodies that some blocks call, directly or through other functions.
fn called_in(program: &Program, body: &Body, inside: &[bool]) -> Vec<FuncId> {
    let mut found: FxHashSet<FuncId> = FxHashSet::default();
    let mut all = Vec::new();
    let blocks = body.blocks.iter().filter(|(id, _)| inside[id.index()]);
    let mut waiting: Vec<FuncId> =
        blocks.flat_map(|(_, block)| callees(body, &block.stmts)).collect();
    while let Some(func) = waiting.pop() {
        let Some(body) = &program.functions[func].body else { continue };
        if found.insert(func) {
            all.push(func);
            let stmts = body.blocks.values().flat_map(|block| &block.stmts);
            waiting.extend(callees(body, stmts));
        }
    }
    all
}

/// The functions that some statements call directly.
fn callees<'a>(
    body: &'a Body,
    stmts: impl IntoIterator<Item = &'a lydian_ir::StmtId> + 'a,
) -> impl Iterator<Item = FuncId> + 'a {
    stmts.into_iter().filter_map(|stmt| match &body.stmts[*stmt] {
        Stmt::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
        _ => None,
    })
}

/// Whether there is nothing to look at where a state just arrived. Notes the arrival if so.
fn settles(goals: &Goals<'_>, state: &mut State) -> bool {
    let func = state.frame().func;
    let evaluated = state.passing.evaluated.map(|(of, one)| SiteKey::Condition(of, one));
    let mut sites = state.passing.arrival.into_iter().chain(evaluated);
    let settles = sites.all(|site| goals.is_silent(func, site));
    if settles {
        (state.passing.arrival, state.passing.evaluated) = (None, None);
    }
    settles
}
