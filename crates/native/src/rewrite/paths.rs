//! Probes of paths: an automaton beside each activation that finds the wanted paths that end.
//!
//! The wanted paths are words over the nodes of the function. The automaton is that of Aho and
//! Corasick, "Efficient String Matching", and reads the nodes as control enters them. It moves only
//! at choices of control, since the nodes up to the next choice are known. `lydian_p0` is the row
//! of its state in a table with one entry for each way. A move sets the cell of an entry and takes
//! the next row from it, whatever the number and the length of the paths. If a way leads to one row
//! from all states that are possible there, as with pairs of edges, the row is a constant and no
//! table is read.
//!
//! A path with gaps (other nodes may lie between its nodes) has an automaton of its own, by subset
//! construction: a state has the set of the path's nodes that may have been reached.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

use indexmap::{IndexMap, IndexSet};
use lydian_ir::libc::model_named;
use lydian_ir::stmt::{Callee, Edge, Terminator};
use lydian_ir::{BlockId, Body, ConditionId, DecisionId, Program, Stmt, nonlocal};
use lydian_objective::hyper::{Atom, Passage, SequenceScope};
use lydian_objective::paths::{NodeGraph, NodeId};
use lydian_objective::{FunctionObjectives, LabelId, Pred, Sequence, SequenceId, Site};
use rustc_hash::FxHashMap;

use crate::plan::{Cell, Plan};
use crate::rewrite::edges::ExitProbes;
use crate::rewrite::uninstrumentable;
use crate::rewrite::uninstrumentable::OVERLAP;

/// The probes of a function's paths.
#[derive(Debug, Default)]
pub(crate) struct PathProbes {
    /// Probes where a condition is false, and where it is true.
    pub(crate) conditions: IndexMap<(DecisionId, ConditionId), [String; 2]>,
    /// Cells that are set where a condition is false, and where it is true, on every state.
    pub(crate) cells: IndexMap<Choice, [Vec<u32>; 2]>,
    /// The probes of ways that set one of several cells.
    pub(crate) tables: Vec<PathTable>,
    /// Probes on a way out of a switch, without tables.
    pub(crate) switches: IndexMap<(BlockId, u32), ExitProbes>,
    /// Variables and probes at the start of the function's body.
    pub(crate) declarations: String,
    /// The wanted sequences and labels.
    pub(crate) sequences: Vec<SequenceId>,
    pub(crate) labels: Vec<LabelId>,
    /// The reason why none of them can be recorded, if that is so.
    pub(crate) unmeasured: Option<&'static str>,
}

impl PathProbes {
    /// Makes all paths uninstrumentable, since an edit was refused.
    pub(crate) fn add_uninstrumentable(&self, function: u32, plan: &mut Plan) {
        uninstrumentable::add_sequences(function, &self.sequences, OVERLAP, plan);
        uninstrumentable::add_labels(function, &self.labels, OVERLAP, plan);
    }
}

/// A way that control takes at a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChoiceExit {
    /// The way of a condition with this value.
    Condition(Choice, bool),
    /// A way out of a switch.
    Out(Edge),
}

/// A probe on a way that sets one of several cells, which the automaton's state chooses.
#[derive(Clone, Debug)]
pub(crate) struct PathTable {
    pub(crate) way: ChoiceExit,
    /// The text of the index of the cell.
    pub(crate) index: String,
    pub(crate) cells: Vec<u32>,
    /// The first block of the condition's node and, for each block from which control may have
    /// come, the cell that is set then, if there is only one.
    pub(crate) by_origin: Option<(BlockId, Vec<(BlockId, u32)>)>,
}

/// The objective that the end of a path covers.
#[derive(Clone, Copy, Debug)]
enum PathObjective {
    Sequence(SequenceId),
    Label(LabelId),
}

/// Makes the probes of one function, and adds their cells to the plan. `recorded` are the labels
/// that have cells of their own.
pub(crate) fn path_probes(
    program: &Program,
    body: &Body,
    objectives: &FunctionObjectives,
    recorded: &[LabelId],
    number: u32,
    plan: &mut Plan,
) -> PathProbes {
    let mut out = PathProbes::default();
    let asks = |label: &LabelId| matches!(objectives.labels[*label].site, Site::Block(_));
    let is_asked = |sequence: &Sequence| is_node_path(objectives, sequence);
    if !objectives.sequences.values().any(is_asked) && !recorded.iter().any(asks) {
        return out;
    }
    let graph = NodeGraph::of(body);
    let (words, ways) = words(objectives, recorded, &graph, &mut out);
    if words.is_empty() && ways.is_empty() {
        return out;
    }
    let (conditions, switches) = choices(body, &graph);
    out.unmeasured = path_obstacle(program, body, &graph, &conditions, &switches);
    if out.unmeasured.is_some() {
        return out;
    }
    let mut steps: Vec<AutomatonText> = Vec::new();
    if !words.is_empty() {
        let mut automaton = WordAutomaton::new(graph.nodes.len(), &words);
        let rows = TransitionTable::new(&graph, &mut automaton, usize::MAX);
        steps.extend(rows.map(|rows| AutomatonText::new(rows, 0, number, plan)));
    }
    for (variable, way) in (1..).zip(ways) {
        let sequence = way.sequence;
        let fits = way.nodes.len() < u64::BITS as usize;
        let rows =
            fits.then(|| TransitionTable::new(&graph, &mut GapPathAutomaton::new(way), ENTRIES));
        match rows.flatten() {
            Some(rows) => steps.push(AutomatonText::new(rows, variable, number, plan)),
            None => uninstrumentable::add_sequences(number, &[sequence], TOO_MANY, plan),
        }
    }
    let mut step = |nodes: &[NodeId], way: u32| -> Vec<Transition> {
        steps.iter_mut().filter_map(|steps| steps.step(&graph, nodes, way as usize)).collect()
    };
    for (choice, nodes) in conditions {
        for (value, way) in [(false, 1), (true, 0)] {
            for Transition { text, record } in step(&nodes, way) {
                let moves = out.conditions.entry(choice).or_default();
                moves[usize::from(value)].push_str(&format!("{text}, "));
                match record {
                    TransitionProbe::None => {}
                    TransitionProbe::Cell(cell) => {
                        let cells = out.cells.entry(choice).or_default();
                        cells[usize::from(value)].push(cell);
                    }
                    TransitionProbe::Table { index, cells, by_origin } => {
                        let way = ChoiceExit::Condition(choice, value);
                        out.tables.push(PathTable { way, index, cells, by_origin });
                    }
                }
            }
        }
    }
    for ((block, ways), nodes) in switches {
        for way in 0..ways {
            for Transition { text, record } in step(&nodes, way) {
                let on_way = out.switches.entry((block, way)).or_default();
                let _ = write!(on_way.text, "{text}; ");
                match record {
                    TransitionProbe::None => {}
                    TransitionProbe::Cell(cell) => on_way.cells.push(cell),
                    TransitionProbe::Table { index, cells, by_origin } => {
                        let way = ChoiceExit::Out(Edge { from: block, way });
                        out.tables.push(PathTable { way, index, cells, by_origin });
                    }
                }
            }
        }
    }
    out.declarations = steps.iter().map(AutomatonText::declaration).collect();
    out
}

/// The most entries of the table of a path with gaps.
const ENTRIES: usize = 1 << 16;
const TOO_MANY: &str = "there are too many ways on which it may have come so far";

/// A move of an automaton on a way.
struct Transition {
    /// The expression that moves it.
    text: String,
    /// The probe before the move.
    record: TransitionProbe,
}

/// The probe of a move.
enum TransitionProbe {
    /// Nothing.
    None,
    /// A cell, whatever the state is.
    Cell(u32),
    /// One of several cells ([`PathTable`]).
    Table { index: String, cells: Vec<u32>, by_origin: Option<(BlockId, Vec<(BlockId, u32)>)> },
}

/// The text of one automaton: its variable, its table and its moves.
struct AutomatonText {
    variable: usize,
    /// The cell of the paths that end before the first choice. The cells of the table's entries
    /// follow it.
    first: usize,
    rows: TransitionTable,
    /// Whether a move reads the table.
    reads_table: bool,
}

impl AutomatonText {
    /// Adds the cells of the entries to the plan.
    fn new(rows: TransitionTable, variable: usize, number: u32, plan: &mut Plan) -> Self {
        let first = plan.cells.len();
        for covered in std::iter::once(&rows.at_entry).chain(&rows.covered) {
            let mut cell = Cell { function: number, ..Cell::default() };
            for covered in covered {
                match covered {
                    PathObjective::Sequence(id) => cell.sequences.push(*id),
                    PathObjective::Label(id) => cell.labels.push(*id),
                }
            }
            plan.cells.push(cell);
        }
        Self { variable, first, rows, reads_table: false }
    }

    /// The move on a way of the choice with which `nodes` end. `None` if control cannot be there.
    fn step(&mut self, graph: &NodeGraph, nodes: &[NodeId], way: usize) -> Option<Transition> {
        let Self { variable, first, rows, .. } = self;
        let here: Vec<&ChoiceState> =
            rows.states.iter().filter(|state| nodes.contains(&state.node)).collect();
        let mut entries = here.iter().map(|state| state.row + way);
        let next = rows.next[entries.clone().next()?];
        let is_constant = entries.clone().all(|entry| rows.next[entry] == next);
        let cell_of = |state: &ChoiceState| (*first + 1 + state.row + way) as u32;
        let record = match here[..] {
            _ if entries.all(|entry| rows.covered[entry].is_empty()) => TransitionProbe::None,
            [state] => TransitionProbe::Cell(cell_of(state)),
            _ => TransitionProbe::Table {
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
        Some(Transition { text, record })
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

/// The first block of the node and, for each block from which control may have come, the cell of
/// the state, if there is only one.
fn by_origin(
    graph: &NodeGraph,
    nodes: &[NodeId],
    states: &[&ChoiceState],
    cell_of: impl Fn(&ChoiceState) -> u32,
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

/// Whether a sequence consists of nodes of its own function, so that an automaton records it.
pub(crate) fn is_node_path(objectives: &FunctionObjectives, sequence: &Sequence) -> bool {
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

/// The wanted paths: words with the objective of each, and paths with gaps.
fn words(
    objectives: &FunctionObjectives,
    recorded: &[LabelId],
    graph: &NodeGraph,
    out: &mut PathProbes,
) -> (Vec<(Vec<NodeId>, PathObjective)>, Vec<GapPath>) {
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
            words.push((vec![node], PathObjective::Label(*id)));
            out.labels.push(*id);
        }
    }
    for (id, sequence) in objectives.sequences.iter() {
        if !is_node_path(objectives, sequence) {
            continue;
        }
        let word: Option<Vec<_>> = sequence.atoms.iter().map(|atom| node(atom.label)).collect();
        let Some(nodes) = word else { continue };
        out.sequences.push(id);
        if sequence.is_path() {
            words.push((nodes, PathObjective::Sequence(id)));
        } else {
            let gaps = sequence.passages.iter().map(|passage| *passage == Passage::Free);
            ways.push(GapPath { sequence: id, nodes, gaps: gaps.collect() });
        }
    }
    (words, ways)
}

/// A path with gaps.
struct GapPath {
    sequence: SequenceId,
    nodes: Vec<NodeId>,
    /// For each node but the first whether others may lie before it.
    gaps: Vec<bool>,
}

/// A condition that decides which way control goes.
pub(crate) type Choice = (DecisionId, ConditionId);

/// A switch, by its block, and how many ways it has.
pub(crate) type SwitchKey = (BlockId, u32);

/// The conditions and the switches (with how many ways) that the graph's nodes end with, each with
/// these nodes.
pub(crate) fn choices(
    body: &Body,
    graph: &NodeGraph,
) -> (IndexMap<Choice, Vec<NodeId>>, IndexMap<SwitchKey, Vec<NodeId>>) {
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
pub(crate) fn returns_twice(program: &Program, body: &Body) -> bool {
    body.stmts.values().any(|stmt| match stmt {
        Stmt::Call { callee: Callee::Direct(callee), .. } => {
            let model = model_named(&program.functions[*callee].name);
            model.is_some_and(|model| nonlocal::sets(model.function))
        }
        _ => false,
    })
}

/// Why the automaton could not follow control.
pub(crate) fn path_obstacle(
    program: &Program,
    body: &Body,
    graph: &NodeGraph,
    conditions: &IndexMap<Choice, Vec<NodeId>>,
    switches: &IndexMap<SwitchKey, Vec<NodeId>>,
) -> Option<&'static str> {
    let sites = &body.source.decisions;
    let has_place = |(decision, _): &Choice| sites.iter().any(|s| s.decision == *decision);
    let is_plain = |(block, _): &SwitchKey| {
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

/// An automaton that reads the nodes which control enters. State 0 is before the function is
/// entered.
trait NodeAutomaton {
    /// The state after a node was entered.
    fn enter(&mut self, state: usize, node: NodeId) -> usize;
    /// The objectives that are covered when control enters a state.
    fn covers(&self, state: usize) -> &[PathObjective];
    /// An equivalent state: all continuations cover the same.
    fn settled(&self, state: usize) -> usize;
    /// The node in which control is in a state.
    fn node(&self, state: usize) -> NodeId;
    /// How many nodes to enter at most between two choices. A cycle without a choice covers nothing
    /// new after so many of the graph's `nodes`.
    fn longest(&self, nodes: usize) -> usize;
}

impl NodeAutomaton for WordAutomaton {
    fn enter(&mut self, state: usize, node: NodeId) -> usize {
        self.step(state, node)
    }

    fn covers(&self, state: usize) -> &[PathObjective] {
        &self.covers[state]
    }

    /// A word that is no prefix of a longer word is equivalent to its longest proper suffix in the
    /// automaton.
    fn settled(&self, mut state: usize) -> usize {
        while self.children[state].is_empty() && self.fail[state] != 0 {
            state = self.fail[state];
        }
        state
    }

    fn node(&self, state: usize) -> NodeId {
        self.last[state]
    }

    /// After two rounds of a cycle every word has ended.
    fn longest(&self, nodes: usize) -> usize {
        2 * nodes + 2 * self.children.len()
    }
}

/// A state of the automaton of a path with gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct GapState {
    /// The node in which control is.
    node: NodeId,
    /// For each number of the path's nodes, whether so many may have been passed, as bits.
    passed: u64,
    /// Whether the path has just ended.
    ends: bool,
}

/// The automaton of a path with gaps.
struct GapPathAutomaton {
    way: GapPath,
    states: IndexSet<GapState>,
    ends: [PathObjective; 1],
}

impl GapPathAutomaton {
    fn new(way: GapPath) -> Self {
        let ends = [PathObjective::Sequence(way.sequence)];
        Self {
            way,
            states: [GapState { node: NodeId::MAX, passed: 1, ends: false }].into_iter().collect(),
            ends,
        }
    }
}

impl NodeAutomaton for GapPathAutomaton {
    fn enter(&mut self, state: usize, node: NodeId) -> usize {
        let come = self.states[state].passed;
        let GapPath { nodes, gaps, .. } = &self.way;
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
        self.states.insert_full(GapState { node, passed: next, ends }).0
    }

    fn covers(&self, state: usize) -> &[PathObjective] {
        if self.states[state].ends { &self.ends } else { &[] }
    }

    fn settled(&self, state: usize) -> usize {
        state
    }

    fn node(&self, state: usize) -> NodeId {
        self.states[state].node
    }

    /// Each round of a cycle may reach one more node of the path.
    fn longest(&self, nodes: usize) -> usize {
        nodes * (self.way.nodes.len() + 1)
    }
}

/// The states of the automaton. State 0 is the root, and the words of one letter follow it in
/// order.
struct WordAutomaton {
    children: Vec<FxHashMap<NodeId, usize>>,
    fail: Vec<usize>,
    covers: Vec<Vec<PathObjective>>,
    /// The last letter of each state's word.
    last: Vec<NodeId>,
}

impl WordAutomaton {
    /// Every letter is a word too, so that a state knows the node in which control is.
    fn new(letters: usize, words: &[(Vec<NodeId>, PathObjective)]) -> Self {
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

    /// Sets the failure links, breadth first, and adds the objectives of the linked states.
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
struct TransitionTable {
    /// The row with which the function begins.
    start: usize,
    /// The states in which control has a choice.
    states: Vec<ChoiceState>,
    /// The objectives that are covered between the entry and the first choice.
    at_entry: Vec<PathObjective>,
    /// The row that each entry leads to.
    next: Vec<usize>,
    /// The objectives that each entry covers.
    covered: Vec<Vec<PathObjective>>,
}

/// A state in which control has a choice.
struct ChoiceState {
    /// The node in which control is.
    node: NodeId,
    /// The state's row.
    row: usize,
    /// The nodes from which control came there.
    origins: BTreeSet<NodeId>,
}

impl TransitionTable {
    /// The table of an automaton; `None` if it has more entries than `limit`.
    fn new(graph: &NodeGraph, automaton: &mut impl NodeAutomaton, limit: usize) -> Option<Self> {
        let mut at_entry = Vec::new();
        let (begin, origin) = enter_until_choice(graph, automaton, (0, None), 0, &mut at_entry);
        let mut origins: FxHashMap<usize, BTreeSet<NodeId>> = FxHashMap::default();
        origins.entry(begin).or_default().extend(origin);
        let mut row: FxHashMap<usize, usize> = FxHashMap::default();
        let mut states = vec![begin];
        row.insert(begin, 0);
        let (mut leads_to, mut covered): (Vec<usize>, Vec<Vec<PathObjective>>) =
            (Vec::new(), Vec::new());
        let mut at = 0;
        let mut size = ways(graph, automaton, begin).len();
        while at < states.len() {
            let state = states[at];
            at += 1;
            for node in ways(graph, automaton, state) {
                let mut covers = Vec::new();
                let from = (state, Some(automaton.node(state)));
                let (to, origin) = enter_until_choice(graph, automaton, from, *node, &mut covers);
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
        // A state without a choice has an empty row, at the position of the next row. No move
        // starts there. Entries after the last row keep all indices in range.
        let most = graph.nodes.iter().map(|node| node.ways.len()).max().unwrap_or(0);
        for _ in 0..most {
            next.push(size);
            covered.push(Vec::new());
        }
        let has_choice = |node: &NodeId| graph.nodes[*node].branches;
        let states = states.iter().map(|state| ChoiceState {
            node: automaton.node(*state),
            row: row[state],
            origins: origins.remove(state).unwrap_or_default(),
        });
        let states = states.filter(|state| has_choice(&state.node)).collect();
        Some(Self { start: row[&begin], states, at_entry, next, covered })
    }
}

/// The nodes to which a choice in a state can lead.
fn ways<'g>(graph: &'g NodeGraph, automaton: &impl NodeAutomaton, state: usize) -> &'g [NodeId] {
    let node = &graph.nodes[automaton.node(state)];
    if node.branches { &node.ways } else { &[] }
}

/// Enters a node, from a state and an origin node, and the nodes that follow without a choice.
/// Returns the state at the next choice, and the node from which control comes there.
fn enter_until_choice(
    graph: &NodeGraph,
    automaton: &mut impl NodeAutomaton,
    (mut state, mut origin): (usize, Option<NodeId>),
    mut node: NodeId,
    covered: &mut Vec<PathObjective>,
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

    fn sequence(index: usize) -> PathObjective {
        PathObjective::Sequence(SequenceId::from_index(index))
    }

    #[test]
    fn a_state_covers_every_word_that_ends_there() {
        let words =
            [(vec![0, 1, 2], sequence(0)), (vec![1, 2], sequence(1)), (vec![2, 2], sequence(2))];
        let automaton = WordAutomaton::new(3, &words);
        let mut state = 0;
        let mut seen = Vec::new();
        for letter in [0, 1, 2, 2, 1, 2] {
            state = automaton.step(state, letter);
            assert_eq!(automaton.last[state], letter);
            let covered = automaton.covers[state].iter().map(|covers| match covers {
                PathObjective::Sequence(id) => id.index(),
                PathObjective::Label(_) => usize::MAX,
            });
            seen.push(covered.collect::<Vec<_>>());
        }
        assert_eq!(seen, [vec![], vec![], vec![0, 1], vec![2], vec![], vec![1]]);
    }
}
