//! Path history: probes of def-use pairs that must be reached by a given path.
//!
//! An activation keeps in `lydian_ways` the ways that it took at its last choices (conditions and
//! switches), and in `lydian_way` the number of choices so far. A definition of such a pair notes
//! this number beside its own. A use then knows the last definition and the ways taken since. It
//! follows them through a trie of the wanted paths, whose leaves number the use's cells. A path
//! passes no node twice, so few ways need to be kept.
//!
//! A definition of a variable that outlives activations notes the number plus `lydian_act`, the
//! number of the activation. Activation numbers are [`SPACING`] apart, more than the choices that
//! one activation is expected to make, so the sums of two activations differ.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lydian_base::Span;
use lydian_ir::{BlockId, Body, Program, StmtId};
use lydian_objective::SequenceId;
use lydian_objective::dataflow::{DataFlow, DefinitionSite, Use, UseSite};
use lydian_objective::paths::{NodeGraph, NodeId};
use rustc_hash::FxHashMap;

use crate::plan::Plan;
use crate::rewrite::data_flow::pairs::PathPair;
use crate::rewrite::paths::{Choice, PathProbes, SwitchKey, choices, path_obstacle};
use crate::rewrite::statement_probes::{ProbeHost, StatementProbes};
use crate::rewrite::uninstrumentable;
use crate::rewrite::uninstrumentable::NO_PLACE;

/// The distance between the numbers of activations, in C.
const SPACING: &str = "(1ul << sizeof(long) * 4)";

const BRANCHES: &str = "control branches within its text";
const COPIED: &str = "its text stands for several places of the function";

/// The path history of one function. Functions without pairs that have a path keep none.
pub(crate) struct PathHistory<'a> {
    body: &'a Body,
    graph: NodeGraph,
    /// The node of each statement.
    places: FxHashMap<StmtId, NodeId>,
    conditions: Vec<Choice>,
    switches: Vec<SwitchKey>,
    obstacle: Option<&'static str>,
    /// The most choices on a path.
    longest: usize,
    tries: usize,
    sequences: Vec<SequenceId>,
    declarations: String,
}

/// The trie of the wanted paths of one use.
pub(crate) struct PathTrie {
    name: String,
    /// The cell of the first leaf's first way.
    pub(crate) first: usize,
}

impl PathTrie {
    /// The number of the leaf at a use: `number` is that of the last definition, `from` how many
    /// choices there were before it.
    pub(crate) fn leaf(&self, number: &str, from: &str) -> String {
        let name = &self.name;
        format!("lydian_by({name}, {number}, lydian_ways, lydian_most, {from}, lydian_way)")
    }
}

/// The declarations for texts with path histories.
pub(crate) fn path_history_declarations() -> String {
    "static unsigned long lydian_acts;\n\
     static __inline__ __attribute__((always_inline, unused)) unsigned long lydian_by(\
     const unsigned *t, unsigned long number, const unsigned short *ways, unsigned long most, \
     unsigned long from, unsigned long to) \
     { unsigned long s = t[1 + number]; if (to - from > most) return 0; \
     for (; s && from != to; from++) s = t[s + 1 + ways[from & most]]; return t[s]; }\n"
        .to_owned()
}

impl<'a> PathHistory<'a> {
    /// The path history of a function.
    pub(crate) fn new(program: &Program, body: &'a Body) -> Self {
        let graph = NodeGraph::of(body);
        let mut places = FxHashMap::default();
        for (node, blocks) in graph.blocks(body).into_iter().enumerate() {
            let stmts = blocks.iter().flat_map(|block| &body.blocks[*block].stmts);
            places.extend(stmts.map(|stmt| (*stmt, node)));
        }
        let (conditions, switches) = choices(body, &graph);
        let obstacle = path_obstacle(program, body, &graph, &conditions, &switches);
        Self {
            body,
            graph,
            places,
            conditions: conditions.into_keys().collect(),
            switches: switches.into_keys().collect(),
            obstacle,
            longest: 0,
            tries: 0,
            sequences: Vec::new(),
            declarations: String::new(),
        }
    }

    /// Makes the trie of a use, and adds its cells to the plan. `most` is the highest definition
    /// number that is looked up. Paths that cannot be followed become uninstrumentable.
    pub(crate) fn trie(
        &mut self,
        flow: &DataFlow,
        units: &StatementProbes<'_>,
        (usage, asked): (&Use, Vec<PathPair<'_>>),
        most: usize,
        plan: &mut Plan,
    ) -> Option<PathTrie> {
        let of_use = self.obstacle.or_else(|| self.obstacle_of_use(usage));
        let mut nodes = vec![TrieNode::default()];
        let mut roots: BTreeMap<u32, (usize, NodeId)> = BTreeMap::new();
        let mut leaves: Vec<Vec<(u32, (u32, SequenceId))>> = vec![Vec::new()];
        for path in asked {
            let at = flow.definition(path.definition).at;
            let reason = of_use.or_else(|| self.obstacle_of_definition(at, units));
            let start = match at {
                DefinitionSite::Entry => Some((0, &path.entered[path.entered.len().min(1)..])),
                DefinitionSite::Stmt(stmt) => {
                    self.places.get(&stmt).map(|node| (*node, path.entered))
                }
                DefinitionSite::Start | DefinitionSite::Elsewhere(..) => None,
            };
            let (Some((start, entered)), None) = (start, reason) else {
                let reason = reason.unwrap_or(NO_PLACE);
                uninstrumentable::add_all(&[path.sequence], reason, plan);
                continue;
            };
            let (root, from) = *roots.entry(path.number).or_insert_with(|| {
                nodes.push(TrieNode::default());
                (nodes.len() - 1, start)
            });
            let leaf = self.walk(&mut nodes, root, from, entered);
            let Some(leaf) = leaf else {
                uninstrumentable::add_all(&[path.sequence], NO_PLACE, plan);
                continue;
            };
            if nodes[leaf].leaf == 0 {
                nodes[leaf].leaf = leaves.len();
                leaves.push(Vec::new());
            }
            leaves[nodes[leaf].leaf].push((path.way, path.sequence));
            self.sequences.push(path.sequence.1);
        }
        if leaves.len() == 1 {
            return None;
        }
        let name = format!("lydian_T{}", self.tries);
        self.tries += 1;
        self.declare(&name, &nodes, &roots, most);
        let first = plan.cells.len();
        for leaf in &leaves {
            for way in 0..usage.ways {
                let own = leaf.iter().filter(|(of, _)| *of == way);
                plan.sequences_cell(&own.map(|(_, sequence)| *sequence).collect::<Vec<_>>());
            }
        }
        Some(PathTrie { name, first })
    }

    /// Adds a path to the trie from node `root`, where control is in `from`. Returns the node where
    /// it ends.
    fn walk(
        &mut self,
        nodes: &mut Vec<TrieNode>,
        root: usize,
        from: NodeId,
        entered: &[BlockId],
    ) -> Option<usize> {
        let (mut at, mut node, mut choices) = (root, from, 0);
        for head in entered {
            let to = self.graph.node_at(*head)?;
            let of = &self.graph.nodes[node];
            if of.branches {
                choices += 1;
                let known = nodes[at].next.iter().find(|(_, (reached, _))| *reached == to);
                let next = match known.map(|(_, (_, next))| *next) {
                    Some(next) => next,
                    None => {
                        nodes.push(TrieNode::default());
                        nodes.len() - 1
                    }
                };
                let ways = of.ways.iter().enumerate().filter(|(_, leads)| **leads == to);
                ways.for_each(|(way, _)| _ = nodes[at].next.insert(way, (to, next)));
                nodes[at].count = of.ways.len();
                at = next;
            }
            node = to;
        }
        self.longest = self.longest.max(choices);
        Some(at)
    }

    /// Declares the table of a trie: an entry that is nobody's leaf, the root of each number, then
    /// for each node its leaf and the nodes to which its ways lead.
    fn declare(
        &mut self,
        name: &str,
        nodes: &[TrieNode],
        roots: &BTreeMap<u32, (usize, NodeId)>,
        most: usize,
    ) {
        let mut places = vec![0];
        let mut size = 2 + most;
        for node in &nodes[1..] {
            places.push(size);
            // A node without paths beyond it may be left by any way.
            size += 1 + if node.next.is_empty() { self.most_ways() } else { node.count };
        }
        let mut table = vec![0];
        let numbers = 0..=most as u32;
        table.extend(numbers.map(|number| roots.get(&number).map_or(0, |(root, _)| places[*root])));
        for node in &nodes[1..] {
            table.push(node.leaf);
            let ways = if node.next.is_empty() { self.most_ways() } else { node.count };
            let next = (0..ways).map(|way| node.next.get(&way).map_or(0, |(_, to)| places[*to]));
            table.extend(next);
        }
        let table: Vec<String> = table.iter().map(usize::to_string).collect();
        let table = table.join(", ");
        let _ = write!(self.declarations, "static const unsigned int {name}[] = {{{table}}}; ");
    }

    fn most_ways(&self) -> usize {
        self.graph.nodes.iter().map(|node| node.ways.len()).max().unwrap_or(0)
    }

    /// The reason if control may branch between a definition and its probe.
    fn obstacle_of_definition(
        &self,
        at: DefinitionSite,
        units: &StatementProbes<'_>,
    ) -> Option<&'static str> {
        let DefinitionSite::Stmt(stmt) = at else { return None };
        let text = self.body.source.stmts[stmt];
        // The probe of a declaration stands before it.
        let is_before = || matches!(units.host(stmt, text), Ok(ProbeHost::Before(_)));
        match () {
            () if self.body.source.is_copied(stmt) => Some(COPIED),
            () if is_before() && self.branches_within(text, None) => Some(BRANCHES),
            () => None,
        }
    }

    /// The reason if control may branch between a use and its probe.
    fn obstacle_of_use(&self, usage: &Use) -> Option<&'static str> {
        let source = &self.body.source;
        let stmt = match usage.at {
            UseSite::Stmt(stmt) => Some(stmt),
            _ => usage.read_at,
        };
        let (text, own) = match usage.at {
            UseSite::Stmt(stmt) => (source.stmts[stmt], None),
            UseSite::Return(block) => (source.terms[block], None),
            UseSite::Condition(decision, condition) => {
                let span = self.body.decisions[decision].conditions[condition].span;
                (span, Some((decision, condition)))
            }
            UseSite::Switch(block) => {
                let site = source.switches.iter().find(|site| site.block == block);
                (site.map_or(usage.span, |site| site.operand), None)
            }
        };
        match () {
            () if stmt.is_some_and(|stmt| source.is_copied(stmt)) => Some(COPIED),
            () if self.branches_within(text, own) => Some(BRANCHES),
            () if self.branches_within(usage.span, own) => Some(BRANCHES),
            () => None,
        }
    }

    /// Whether control branches within a text, except at its own condition.
    fn branches_within(&self, text: Span, own: Option<Choice>) -> bool {
        let within = |span: Span| !span.is_none() && text.contains(span);
        let of_condition = |(decision, condition): &Choice| {
            Some((*decision, *condition)) != own
                && within(self.body.decisions[*decision].conditions[*condition].span)
        };
        let of_switch = |(block, _): &SwitchKey| {
            let mut sites = self.body.source.switches.iter();
            sites.any(|site| site.block == *block && site.operand != text && within(site.operand))
        };
        self.conditions.iter().any(of_condition) || self.switches.iter().any(of_switch)
    }

    /// Adds the probes that note ways, after the other probes of choices, and the declarations.
    /// Definitions may use these variables even if no path can be followed.
    pub(crate) fn note(self, out: &mut PathProbes) {
        let size = (self.longest + 1).next_power_of_two();
        let _ = write!(
            out.declarations,
            "enum {{ lydian_most = {} }}; unsigned short lydian_ways[{size}]; \
             unsigned long lydian_way = 0, lydian_act = \
             __atomic_add_fetch(&lydian_acts, {SPACING}, 0); \
             (void)lydian_act; {}",
            size - 1,
            self.declarations
        );
        if self.tries == 0 {
            return;
        }
        let step = |way: u32| format!("lydian_ways[lydian_way++ & lydian_most] = {way}");
        for condition in self.conditions {
            let texts = out.conditions.entry(condition).or_default();
            for (text, way) in texts.iter_mut().zip([1, 0]) {
                let _ = write!(text, "{}, ", step(way));
            }
        }
        for (block, ways) in self.switches {
            for way in 0..ways {
                let out = out.switches.entry((block, way)).or_default();
                let _ = write!(out.text, "{}; ", step(way));
            }
        }
        out.sequences.extend(self.sequences);
    }
}

/// A node of a trie: some ways since a definition.
#[derive(Default)]
struct TrieNode {
    /// The number of the paths that end here; 0 for none.
    leaf: usize,
    /// Where each way leads: the node of the graph, and that of the trie.
    next: BTreeMap<usize, (NodeId, usize)>,
    /// How many ways there are.
    count: usize,
}
