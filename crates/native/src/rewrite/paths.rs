//! Paths: an automaton beside each activation that knows which paths have just ended.
//!
//! The paths that are asked for are words over the nodes of the function; the automaton is that of
//! Aho and Corasick, "Efficient String Matching", run over the nodes as control enters them. It
//! need move only where control has a choice, since what follows up to the next choice is known.
//! `lydian_p0` is the row of its state in a table with one entry a way; each move sets the cell of
//! the entry and takes the next row from it, whatever the number and length of the paths. Where a
//! way leads to one row from all states in which control can be there, as it does for pairs of
//! edges, that row is a constant, and no table is read.
//!
//! A path with gaps, between whose nodes others may lie, has an automaton of its own, whose states are
//! the sets of the nodes up to which it may have come.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

use indexmap::{IndexMap, IndexSet};
use lydian_ir::libc::model_named;
use lydian_ir::nonlocal;
use lydian_ir::stmt::{Callee, Edge, Terminator};
use lydian_ir::{BlockId, Body, ConditionId, DecisionId, Program, Stmt};
use lydian_objective::hyper::{Atom, Passage, SequenceScope};
use lydian_objective::paths::{NodeGraph, NodeId};
use lydian_objective::{FunctionObjectives, LabelId, Pred, Sequence, SequenceId, Site};
use rustc_hash::FxHashMap;

use super::switches::OnWayOut;
use crate::plan::{Cell, Plan};

/// What the text of one function must record of its paths.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// What is recorded where a condition is false, and where it is true.
    pub(super) conditions: IndexMap<(DecisionId, ConditionId), [String; 2]>,
    /// The cells that are set where a condition is false, and where it is true, whatever the state is.
    pub(super) cells: IndexMap<Choice, [Vec<u32>; 2]>,
    /// The tables of which ways set one cell.
    pub(super) tables: Vec<PathTable>,
    /// What is recorded on a way out of a switch, but for tables.
    pub(super) switches: IndexMap<(BlockId, u32), OnWayOut>,
    /// Variables and records at the start of the function's body.
    pub(super) declarations: String,
    /// What is asked for.
    pub(super) sequences: Vec<SequenceId>,
    pub(super) labels: Vec<LabelId>,
    /// Why nothing of it can be recorded.
    pub(super) unmeasured: Option<&'static str>,
}

impl Paths {
    /// Says that nothing of the paths can be measured because an edit could not be made.
    pub(super) fn lose(&self, function: u32, plan: &mut Plan) {
        super::uninstrumentable::add_sequences(function, &self.sequences, super::OVERLAP, plan);
        super::uninstrumentable::add_labels(function, &self.labels, super::OVERLAP, plan);
    }
}

/// A way on which control goes on at a choice.
#[derive(Clone, Copy, Debug)]
pub(super) enum WayOn {
    /// That of a condition with this value.
    Condition(Choice, bool),
    /// One out of a switch.
    Out(Edge),
}

/// A table of which a way sets one cell, whichever state control is in.
#[derive(Clone, Debug)]
pub(super) struct PathTable {
    pub(super) way: WayOn,
    /// The text of the index of the cell.
    pub(super) index: String,
    pub(super) cells: Vec<u32>,
    /// The block with which the condition's node begins, and the cell that is set where control came
    /// there from a block, as far as that says which it is.
    pub(super) by_origin: Option<(BlockId, Vec<(BlockId, u32)>)>,
}

/// What the end of a path covers.
#[derive(Clone, Copy, Debug)]
enum Covers {
    Sequence(SequenceId),
    Label(LabelId),
}

/// Works out the records of one function, whose cells it adds to the plan. `recorded` are the labels
/// that are to be recorded beside sequences.
pub(super) fn paths(
    program: &Program,
    body: &Body,
    objectives: &FunctionObjectives,
    recorded: &[LabelId],
    number: u32,
    plan: &mut Plan,
) -> Paths {
    let mut out = Paths::default();
    let asks = |label: &LabelId| matches!(objectives.labels[*label].site, Site::Block(_));
    let is_asked = |sequence: &Sequence| is_way(objectives, sequence);
    if !objectives.sequences.values().any(is_asked) && !recorded.iter().any(asks) {
        return out;
    }
    let graph = NodeGraph::of(body);
    let (words, ways) = words(objectives, recorded, &graph, &mut out);
    if words.is_empty() && ways.is_empty() {
        return out;
    }
    let (conditions, switches) = choices(body, &graph);
    out.unmeasured = obstacle(program, body, &graph, &conditions, &switches);
    if out.unmeasured.is_some() {
        return out;
    }
    let mut steps: Vec<Steps> = Vec::new();
    if !words.is_empty() {
        let mut automaton = Automaton::new(graph.nodes.len(), &words);
        let rows = Rows::new(&graph, &mut automaton, usize::MAX);
        steps.extend(rows.map(|rows| Steps::new(rows, 0, number, plan)));
    }
    for (variable, way) in (1..).zip(ways) {
        let sequence = way.sequence;
        let fits = way.nodes.len() < u64::BITS as usize;
        let rows = fits.then(|| Rows::new(&graph, &mut WayAutomaton::new(way), ENTRIES));
        match rows.flatten() {
            Some(rows) => steps.push(Steps::new(rows, variable, number, plan)),
            None => super::uninstrumentable::add_sequences(number, &[sequence], TOO_MANY, plan),
        }
    }
    let mut step = |nodes: &[NodeId], way: u32| -> Vec<Move> {
        steps.iter_mut().filter_map(|steps| steps.step(&graph, nodes, way as usize)).collect()
    };
    for (choice, nodes) in conditions {
        for (value, way) in [(false, 1), (true, 0)] {
            for Move { text, record } in step(&nodes, way) {
                let moves = out.conditions.entry(choice).or_default();
                moves[usize::from(value)].push_str(&format!("{text}, "));
                match record {
                    MoveRecord::None => {}
                    MoveRecord::Cell(cell) => {
                        let cells = out.cells.entry(choice).or_default();
                        cells[usize::from(value)].push(cell);
                    }
                    MoveRecord::Table { index, cells, by_origin } => {
                        let way = WayOn::Condition(choice, value);
                        out.tables.push(PathTable { way, index, cells, by_origin });
                    }
                }
            }
        }
    }
    for ((block, ways), nodes) in switches {
        for way in 0..ways {
            for Move { text, record } in step(&nodes, way) {
                let on_way = out.switches.entry((block, way)).or_default();
                let _ = write!(on_way.text, "{text}; ");
                match record {
                    MoveRecord::None => {}
                    MoveRecord::Cell(cell) => on_way.cells.push(cell),
                    MoveRecord::Table { index, cells, by_origin } => {
                        let way = WayOn::Out(Edge { from: block, way });
                        out.tables.push(PathTable { way, index, cells, by_origin });
                    }
                }
            }
        }
    }
    out.declarations = steps.iter().map(Steps::declaration).collect();
    out
}

/// The most entries of the table of a path with gaps.
const ENTRIES: usize = 1 << 16;
const TOO_MANY: &str = "there are too many ways on which it may have come so far";

/// A move of an automaton on a way.
struct Move {
    /// The expression that moves it.
    text: String,
    /// What is recorded before.
    record: MoveRecord,
}

/// What a move records.
enum MoveRecord {
    /// Nothing.
    None,
    /// A cell, whatever the state is.
    Cell(u32),
    /// One of some cells, as [`PathTable`] says.
    Table { index: String, cells: Vec<u32>, by_origin: Option<(BlockId, Vec<(BlockId, u32)>)> },
}

/// How one automaton moves.
struct Steps {
    variable: usize,
    /// The cell of what is covered before the first choice; those of the entries follow it.
    first: usize,
    rows: Rows,
    /// Whether a move reads the table.
    reads_table: bool,
}

impl Steps {
    /// Adds the cells of the entries to the plan.
    fn new(rows: Rows, variable: usize, number: u32, plan: &mut Plan) -> Self {
        let first = plan.cells.len();
        for covered in std::iter::once(&rows.at_entry).chain(&rows.covered) {
            let mut cell = Cell { function: number, ..Cell::default() };
            for covered in covered {
                match covered {
                    Covers::Sequence(id) => cell.sequences.push(*id),
                    Covers::Label(id) => cell.labels.push(*id),
                }
            }
            plan.cells.push(cell);
        }
        Self { variable, first, rows, reads_table: false }
    }

    /// The move on a way of a choice that these nodes end with. None where control cannot be there.
    fn step(&mut self, graph: &NodeGraph, nodes: &[NodeId], way: usize) -> Option<Move> {
        let Self { variable, first, rows, .. } = self;
        let here: Vec<&State> =
            rows.states.iter().filter(|state| nodes.contains(&state.node)).collect();
        let mut entries = here.iter().map(|state| state.row + way);
        let next = rows.next[entries.clone().next()?];
        let is_constant = entries.clone().all(|entry| rows.next[entry] == next);
        let cell_of = |state: &State| (*first + 1 + state.row + way) as u32;
        let record = match here[..] {
            _ if entries.all(|entry| rows.covered[entry].is_empty()) => MoveRecord::None,
            [state] => MoveRecord::Cell(cell_of(state)),
            _ => MoveRecord::Table {
                index: format!("{} + lydian_p{variable}", *first + 1 + way),
                cells: here.iter().map(|state| cell_of(state)).collect(),
                by_origin: by_origin(graph, nodes, &here, cell_of),
            },
        };
        self.reads_table |= !is_constant;
        let text = match is_constant {
            true => format!("lydian_p{variable} = {next}"),
            false => format!("lydian_p{variable} = lydian_P{variable}[lydian_p{variable} + {way}]"),
        };
        Some(Move { text, record })
    }

    /// The table, if a move reads it, and the variable.
    fn declaration(&self) -> String {
        let Self { variable, first, rows, reads_table } = self;
        let mut text = String::new();
        if *reads_table {
            let next: Vec<String> = rows.next.iter().map(usize::to_string).collect();
            let _ = write!(
                text,
                "static const unsigned int lydian_P{variable}[] = {{{}}}; ",
                next.join(", ")
            );
        }
        let _ = write!(text, "unsigned long lydian_p{variable} = {}; ", rows.start);
        if !rows.at_entry.is_empty() {
            let _ = write!(text, "lydian_hit[{first}] = 1; ");
        }
        text
    }
}

/// The block with which a node begins, and the cell of the one state in which control is there, where
/// it came from a block.
fn by_origin(
    graph: &NodeGraph,
    nodes: &[NodeId],
    states: &[&State],
    cell_of: impl Fn(&State) -> u32,
) -> Option<(BlockId, Vec<(BlockId, u32)>)> {
    let [node] = nodes else { return None };
    let origins: BTreeSet<NodeId> = states.iter().flat_map(|s| &s.origins).copied().collect();
    let cell = |origin: NodeId| {
        let mut from_there = states.iter().filter(|state| state.origins.contains(&origin));
        let state = from_there.next().filter(|_| from_there.next().is_none())?;
        Some((graph.nodes[origin].last, cell_of(state)))
    };
    Some((graph.nodes[*node].head, origins.into_iter().filter_map(cell).collect()))
}

/// Whether a sequence is one of nodes of its own function, and so recorded here.
pub(super) fn is_way(objectives: &FunctionObjectives, sequence: &Sequence) -> bool {
    let at_block = |atom: &Atom| {
        atom.function == objectives.function
            && matches!(objectives.labels[atom.label].site, Site::Block(_))
    };
    let of_nodes = |passage: &Passage| matches!(passage, Passage::Adjacent | Passage::Free);
    sequence.scope == SequenceScope::Activation
        && sequence.flow.is_none()
        && sequence.passages.iter().all(of_nodes)
        && sequence.atoms.iter().all(at_block)
}

/// The paths that are asked for, as words, with what each covers; and those with gaps.
fn words(
    objectives: &FunctionObjectives,
    recorded: &[LabelId],
    graph: &NodeGraph,
    out: &mut Paths,
) -> (Vec<(Vec<NodeId>, Covers)>, Vec<Way>) {
    let heads: FxHashMap<BlockId, NodeId> =
        graph.nodes.iter().enumerate().map(|(node, of)| (of.head, node)).collect();
    let node = |label: LabelId| match objectives.labels[label].site {
        Site::Block(block) => heads.get(&block).copied(),
        _ => None,
    };
    let (mut words, mut ways) = (Vec::new(), Vec::new());
    for id in recorded {
        if objectives.labels[*id].pred == Pred::Const(true)
            && let Some(node) = node(*id)
        {
            words.push((vec![node], Covers::Label(*id)));
            out.labels.push(*id);
        }
    }
    for (id, sequence) in objectives.sequences.iter() {
        if !is_way(objectives, sequence) {
            continue;
        }
        let word: Option<Vec<_>> = sequence.atoms.iter().map(|atom| node(atom.label)).collect();
        let Some(nodes) = word else { continue };
        out.sequences.push(id);
        if sequence.is_path() {
            words.push((nodes, Covers::Sequence(id)));
        } else {
            let gaps = sequence.passages.iter().map(|passage| *passage == Passage::Free);
            ways.push(Way { sequence: id, nodes, gaps: gaps.collect() });
        }
    }
    (words, ways)
}

/// A path with gaps.
struct Way {
    sequence: SequenceId,
    nodes: Vec<NodeId>,
    /// For each node but the first whether others may lie before it.
    gaps: Vec<bool>,
}

/// A condition that decides which way control goes.
pub(super) type Choice = (DecisionId, ConditionId);

/// A switch, by its block, and how many ways it has.
pub(super) type Switch = (BlockId, u32);

/// The conditions and the switches (with how many ways) that the graph's nodes end with, each with
/// these nodes.
pub(super) fn choices(
    body: &Body,
    graph: &NodeGraph,
) -> (IndexMap<Choice, Vec<NodeId>>, IndexMap<Switch, Vec<NodeId>>) {
    let (mut conditions, mut switches) =
        (IndexMap::<_, Vec<_>>::new(), IndexMap::<_, Vec<_>>::new());
    for (id, node) in graph.nodes.iter().enumerate().filter(|(_, node)| node.branches) {
        match &body.blocks[node.last].term {
            Terminator::Branch { origin: Some(origin), .. } => {
                conditions.entry((origin.decision, origin.condition)).or_default().push(id);
            }
            Terminator::Switch { .. } => {
                switches.entry((node.last, node.ways.len() as u32)).or_default().push(id);
            }
            _ => {}
        }
    }
    (conditions, switches)
}

/// Whether a call of the function may return again after others have followed it.
pub(super) fn returns_twice(program: &Program, body: &Body) -> bool {
    body.stmts.values().any(|stmt| match stmt {
        Stmt::Call { callee: Callee::Direct(callee), .. } => {
            let model = model_named(&program.functions[*callee].name);
            model.is_some_and(|model| nonlocal::sets(model.function))
        }
        _ => false,
    })
}

/// Why the automaton could not follow control.
pub(super) fn obstacle(
    program: &Program,
    body: &Body,
    graph: &NodeGraph,
    conditions: &IndexMap<Choice, Vec<NodeId>>,
    switches: &IndexMap<Switch, Vec<NodeId>>,
) -> Option<&'static str> {
    let sites = &body.source.decisions;
    let has_place = |(decision, _): &Choice| sites.iter().any(|s| s.decision == *decision);
    let is_plain = |(block, _): &Switch| {
        body.source.switches.iter().any(|site| site.block == *block && !site.computed)
    };
    match () {
        () if graph.has_hidden_branch => Some("the function branches where its text does not"),
        () if returns_twice(program, body) => {
            Some("control can return to a setjmp of the function")
        }
        () if !switches.keys().all(is_plain) => Some("the function has a computed goto"),
        () if !conditions.keys().all(has_place) => {
            Some("a decision's place in the text is not known")
        }
        () => None,
    }
}

/// What follows control over the nodes. State 0 is that before the function is entered.
trait Follow {
    /// The state after a node was entered.
    fn enter(&mut self, state: usize, node: NodeId) -> usize;
    /// What is covered where a state is entered.
    fn covers(&self, state: usize) -> &[Covers];
    /// A state from which all goes on as from this one.
    fn settled(&self, state: usize) -> usize;
    /// The node in which control is in a state.
    fn node(&self, state: usize) -> NodeId;
    /// How many nodes without a choice meet all that they can, of so many that there are: they may
    /// go round for ever.
    fn longest(&self, nodes: usize) -> usize;
}

impl Follow for Automaton {
    fn enter(&mut self, state: usize, node: NodeId) -> usize {
        self.step(state, node)
    }

    fn covers(&self, state: usize) -> &[Covers] {
        &self.covers[state]
    }

    /// A word that no longer one begins with goes on as its longest part at the end does.
    fn settled(&self, mut state: usize) -> usize {
        while self.children[state].is_empty() && self.fail[state] != 0 {
            state = self.fail[state];
        }
        state
    }

    fn node(&self, state: usize) -> NodeId {
        self.last[state]
    }

    /// Twice round meets every word.
    fn longest(&self, nodes: usize) -> usize {
        2 * nodes + 2 * self.children.len()
    }
}

/// The automaton of a path with gaps. A state is the node in which control is, how far the path may
/// have come (as bits: so many of its nodes were passed), and whether it has just ended.
struct WayAutomaton {
    way: Way,
    states: IndexSet<(NodeId, u64, bool)>,
    ends: [Covers; 1],
}

impl WayAutomaton {
    fn new(way: Way) -> Self {
        let ends = [Covers::Sequence(way.sequence)];
        Self { way, states: [(NodeId::MAX, 1, false)].into_iter().collect(), ends }
    }
}

impl Follow for WayAutomaton {
    fn enter(&mut self, state: usize, node: NodeId) -> usize {
        let (_, come, _) = self.states[state];
        let Way { nodes, gaps, .. } = &self.way;
        let (mut next, mut ends) = (0, false);
        for (passed, wanted) in nodes.iter().enumerate().filter(|(at, _)| come >> at & 1 == 1) {
            if passed == 0 || gaps[passed - 1] {
                next |= 1 << passed;
            }
            if *wanted == node {
                match passed + 1 == nodes.len() {
                    true => ends = true,
                    false => next |= 1 << (passed + 1),
                }
            }
        }
        self.states.insert_full((node, next, ends)).0
    }

    fn covers(&self, state: usize) -> &[Covers] {
        if self.states[state].2 { &self.ends } else { &[] }
    }

    fn settled(&self, state: usize) -> usize {
        state
    }

    fn node(&self, state: usize) -> NodeId {
        self.states[state].0
    }

    /// Each round can bring it a node further.
    fn longest(&self, nodes: usize) -> usize {
        nodes * (self.way.nodes.len() + 1)
    }
}

/// States, the root being 0 and the one-letter words following it in order.
struct Automaton {
    children: Vec<FxHashMap<NodeId, usize>>,
    fail: Vec<usize>,
    covers: Vec<Vec<Covers>>,
    /// The last letter of each state's word.
    last: Vec<NodeId>,
}

impl Automaton {
    /// Every letter is a word too, so that a state knows the node in which control is.
    fn new(letters: usize, words: &[(Vec<NodeId>, Covers)]) -> Self {
        let mut this = Self {
            children: vec![FxHashMap::default()],
            fail: vec![0],
            covers: vec![Vec::new()],
            last: vec![0],
        };
        (0..letters).for_each(|letter| _ = this.child(0, letter));
        for (word, covers) in words {
            let state = word.iter().fold(0, |state, letter| this.child(state, *letter));
            this.covers[state].push(*covers);
        }
        this.link();
        this
    }

    fn child(&mut self, state: usize, letter: NodeId) -> usize {
        if let Some(child) = self.children[state].get(&letter) {
            return *child;
        }
        let new = self.children.len();
        self.children[state].insert(letter, new);
        self.children.push(FxHashMap::default());
        self.fail.push(0);
        self.covers.push(Vec::new());
        self.last.push(letter);
        new
    }

    /// Sets the failure links, breadth first, and joins what they cover.
    fn link(&mut self) {
        let mut queue: VecDeque<usize> = self.children[0].values().copied().collect();
        while let Some(state) = queue.pop_front() {
            let mut children: Vec<_> =
                self.children[state].iter().map(|(letter, child)| (*letter, *child)).collect();
            children.sort_unstable();
            for (letter, child) in children {
                self.fail[child] = self.step(self.fail[state], letter);
                let joined = self.covers[self.fail[child]].clone();
                self.covers[child].extend(joined);
                queue.push_back(child);
            }
        }
    }

    fn step(&self, mut state: usize, letter: NodeId) -> usize {
        loop {
            match self.children[state].get(&letter) {
                Some(child) => return *child,
                None if state == 0 => return 0,
                None => state = self.fail[state],
            }
        }
    }
}

/// The table: the entries of a state's row are its ways.
struct Rows {
    /// The row with which the function begins.
    start: usize,
    /// The states in which control has a choice.
    states: Vec<State>,
    /// What is covered between the entry and the first choice.
    at_entry: Vec<Covers>,
    /// The row that each entry leads to.
    next: Vec<usize>,
    /// What each entry covers.
    covered: Vec<Vec<Covers>>,
}

/// A state in which control has a choice.
struct State {
    /// The node in which control is.
    node: NodeId,
    /// The state's row.
    row: usize,
    /// The nodes from which control came there.
    origins: BTreeSet<NodeId>,
}

impl Rows {
    /// The table of an automaton; `None` if it has more entries than `limit`.
    fn new(graph: &NodeGraph, automaton: &mut impl Follow, limit: usize) -> Option<Self> {
        let mut at_entry = Vec::new();
        let (begin, origin) = go(graph, automaton, (0, None), 0, &mut at_entry);
        let mut origins: FxHashMap<usize, BTreeSet<NodeId>> = FxHashMap::default();
        origins.entry(begin).or_default().extend(origin);
        let mut row: FxHashMap<usize, usize> = FxHashMap::default();
        let mut states = vec![begin];
        row.insert(begin, 0);
        let (mut leads_to, mut covered): (Vec<usize>, Vec<Vec<Covers>>) = (Vec::new(), Vec::new());
        let mut at = 0;
        let mut size = ways(graph, automaton, begin).len();
        while at < states.len() {
            let state = states[at];
            at += 1;
            for node in ways(graph, automaton, state) {
                let mut covers = Vec::new();
                let from = (state, Some(automaton.node(state)));
                let (to, origin) = go(graph, automaton, from, *node, &mut covers);
                origins.entry(to).or_default().extend(origin);
                if let Entry::Vacant(free) = row.entry(to) {
                    free.insert(size);
                    size += ways(graph, automaton, to).len();
                    states.push(to);
                }
                leads_to.push(to);
                covered.push(covers);
            }
            if size > limit {
                return None;
            }
        }
        let mut next: Vec<usize> = leads_to.iter().map(|state| row[state]).collect();
        // A state without a choice has an empty row at the place of the next one. Nothing moves
        // from there; entries for every way after the last row keep all indices inside.
        let most = graph.nodes.iter().map(|node| node.ways.len()).max().unwrap_or(0);
        for _ in 0..most {
            next.push(size);
            covered.push(Vec::new());
        }
        let has_choice = |node: &NodeId| graph.nodes[*node].branches;
        let states = states.iter().map(|state| State {
            node: automaton.node(*state),
            row: row[state],
            origins: origins.remove(state).unwrap_or_default(),
        });
        let states = states.filter(|state| has_choice(&state.node)).collect();
        Some(Self { start: row[&begin], states, at_entry, next, covered })
    }
}

/// The nodes to which a choice in a state can lead.
fn ways<'g>(graph: &'g NodeGraph, automaton: &impl Follow, state: usize) -> &'g [NodeId] {
    let node = &graph.nodes[automaton.node(state)];
    if node.branches { &node.ways } else { &[] }
}

/// Enters a node, in a state and from a node, and those that follow without a choice. Returns the
/// state at the next choice and the node before the one there.
fn go(
    graph: &NodeGraph,
    automaton: &mut impl Follow,
    (mut state, mut origin): (usize, Option<NodeId>),
    mut node: NodeId,
    covered: &mut Vec<Covers>,
) -> (usize, Option<NodeId>) {
    for _ in 0..automaton.longest(graph.nodes.len()) {
        state = automaton.enter(state, node);
        covered.extend(automaton.covers(state));
        match graph.nodes[node].ways[..] {
            [next] => (origin, node) = (Some(node), next),
            _ => break,
        }
    }
    (automaton.settled(state), origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_base::EntityId;

    fn sequence(index: usize) -> Covers {
        Covers::Sequence(SequenceId::from_index(index))
    }

    #[test]
    fn a_state_covers_every_word_that_ends_there() {
        let words =
            [(vec![0, 1, 2], sequence(0)), (vec![1, 2], sequence(1)), (vec![2, 2], sequence(2))];
        let automaton = Automaton::new(3, &words);
        let mut state = 0;
        let mut seen = Vec::new();
        for letter in [0, 1, 2, 2, 1, 2] {
            state = automaton.step(state, letter);
            assert_eq!(automaton.last[state], letter);
            let covered = automaton.covers[state].iter().map(|covers| match covers {
                Covers::Sequence(id) => id.index(),
                Covers::Label(_) => usize::MAX,
            });
            seen.push(covered.collect::<Vec<_>>());
        }
        assert_eq!(seen, [vec![], vec![], vec![0, 1], vec![2], vec![], vec![1]]);
    }
}
