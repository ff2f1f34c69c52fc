//! Data flow between units that are compiled apart, from the data that their compilations kept.
//!
//! Each unit keeps a [`SharedFlow`]: the flow graph of its functions, reduced to variables that other
//! units may know by name. The graphs of the units of a program are joined as a linker joins their
//! symbols, and solved as that of one unit is.
//!
//! A name is one symbol within an image, a linked file. It is one symbol in two images of a program
//! if both have it among their dynamic symbols, as for the dynamic linker. A call by a name that
//! several units define may lead to any of them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::graph::{FlowBlock, FlowEvent, FlowFunction, FlowGraph, FlowUse, FlowVariable};

/// The data flow of a unit that other units need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SharedFlow {
    /// The effects of its functions on variables of external linkage.
    pub graph: FlowGraph,
    /// The variables of external linkage that it does not follow, since a function that is not
    /// supported names them.
    #[serde(rename = "lost")]
    pub untracked: Vec<String>,
    /// The functions of other units whose addresses it takes.
    pub taken: Vec<String>,
}

/// A linked file with some of the units of a program.
#[derive(Clone, Debug)]
pub struct LinkedImage<'a> {
    /// Its units, by position.
    pub units: Vec<usize>,
    /// Its dynamic symbols, defined or not.
    pub dynamic: &'a BTreeSet<String>,
    /// Whether all its functions are those of its units, so that nothing else calls them by name but
    /// other images.
    pub is_closed: bool,
}

/// A definition that reaches a use in another unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignPair {
    /// The unit of the use, by position.
    pub using: usize,
    /// The use, by its position in that unit's graph.
    pub usage: u32,
    /// The unit of the definition, by position.
    pub defining: usize,
    /// The variable, by its position in that unit's graph.
    pub variable: u32,
    /// The number of the definition there.
    pub number: u32,
}

/// The pairs between units of one program.
pub fn foreign_pairs(units: &[&SharedFlow], images: &[LinkedImage<'_>]) -> BTreeSet<ForeignPair> {
    let mut linker = Linker::new(units, images);
    if linker.variables.is_empty() {
        return BTreeSet::new();
    }
    linker.functions();
    linker.pairs()
}

/// A symbol: its image, unless several images share it, and its name.
type Symbol<'a> = (Option<usize>, &'a str);

/// A unit in an image.
#[derive(Clone, Copy)]
struct Instance<'a> {
    image: usize,
    unit: usize,
    flow: &'a SharedFlow,
}

/// Consecutive definitions of a variable of the graph that come from one instance.
#[derive(Clone, Copy)]
struct Origin {
    instance: usize,
    /// The variable's position in the graph of the instance.
    variable: u32,
    /// The number of the first of these definitions in the linked graph.
    first: u32,
}

struct Linker<'a> {
    images: &'a [LinkedImage<'a>],
    instances: Vec<Instance<'a>>,
    /// The variables that a unit defines and another one uses, by position in the graph.
    variables: FxHashMap<Symbol<'a>, u32>,
    /// For each variable of the graph, the runs of consecutive definitions that come from one
    /// instance.
    origins: Vec<Vec<Origin>>,
    graph: FlowGraph,
    /// The instance of each use of the graph, and its position there.
    uses: Vec<(usize, u32)>,
}

impl<'a> Linker<'a> {
    fn new(units: &[&'a SharedFlow], images: &'a [LinkedImage<'a>]) -> Self {
        let mut instances = Vec::new();
        for (image, found) in images.iter().enumerate() {
            let of =
                found.units.iter().map(|unit| Instance { image, unit: *unit, flow: units[*unit] });
            instances.extend(of);
        }
        let (graph, uses, variables) = Default::default();
        let mut this = Self { images, instances, variables, origins: Vec::new(), graph, uses };
        this.variables();
        this
    }

    fn symbol(&self, image: usize, name: &'a str) -> Symbol<'a> {
        match self.images[image].dynamic.contains(name) {
            true => (None, name),
            false => (Some(image), name),
        }
    }

    /// Finds the variables that one unit defines and another one uses.
    fn variables(&mut self) {
        #[derive(Default)]
        struct SymbolUse {
            defining: BTreeSet<usize>,
            using: BTreeSet<usize>,
            untracked: bool,
        }
        let mut known: BTreeMap<Symbol<'a>, SymbolUse> = BTreeMap::new();
        for instance in &self.instances {
            let Instance { image, unit, flow } = *instance;
            for name in &flow.untracked {
                known.entry(self.symbol(image, name)).or_default().untracked = true;
            }
            for variable in flow.graph.variables.iter().filter(|of| !of.definitions.is_empty()) {
                let symbol = self.symbol(image, &variable.name);
                known.entry(symbol).or_default().defining.insert(unit);
            }
            for usage in &flow.graph.uses {
                let name = &flow.graph.variables[usage.variable as usize].name;
                known.entry(self.symbol(image, name)).or_default().using.insert(unit);
            }
        }
        let matters = |of: &SymbolUse| {
            let apart = of.defining.iter().any(|unit| of.using.iter().any(|other| other != unit));
            apart && !of.untracked
        };
        let found = known.into_iter().filter(|(_, of)| matters(of)).map(|(symbol, _)| symbol);
        self.variables = found.zip(0..).collect();
        let mut all: Vec<(&Symbol<'a>, &u32)> = self.variables.iter().collect();
        all.sort_unstable_by_key(|(_, index)| **index);
        self.graph.variables = all
            .iter()
            .map(|((_, name), _)| FlowVariable {
                name: (*name).to_owned(),
                definitions: Vec::new(),
            })
            .collect();
        self.origins = vec![Vec::new(); self.graph.variables.len()];
        for (index, instance) in self.instances.iter().enumerate() {
            for (own, variable) in (0..).zip(&instance.flow.graph.variables) {
                let symbol = self.symbol(instance.image, &variable.name);
                let Some(at) = self.variables.get(&symbol) else { continue };
                let there = &mut self.graph.variables[*at as usize].definitions;
                let first = there.len() as u32 + 1;
                let origin = Origin { instance: index, variable: own, first };
                self.origins[*at as usize].push(origin);
                there.extend(&variable.definitions);
            }
        }
    }

    /// Joins the functions of all units.
    fn functions(&mut self) {
        let mut named: FxHashMap<Symbol<'a>, Vec<u32>> = FxHashMap::default();
        let (mut firsts, mut count) = (Vec::new(), 0);
        for instance in &self.instances {
            firsts.push(count);
            for (index, function) in (count..).zip(&instance.flow.graph.functions) {
                if function.external {
                    let symbol = self.symbol(instance.image, &function.name);
                    named.entry(symbol).or_default().push(index);
                }
            }
            count += instance.flow.graph.functions.len() as u32;
        }
        let taken: FxHashSet<Symbol<'a>> = self
            .instances
            .iter()
            .flat_map(|of| of.flow.taken.iter().map(|name| self.symbol(of.image, name)))
            .collect();
        for (index, first) in firsts.into_iter().enumerate() {
            let instance = self.instances[index];
            let numbers = self.numbers(index);
            let mut uses = FxHashMap::default();
            for function in &instance.flow.graph.functions {
                let symbol = self.symbol(instance.image, &function.name);
                let mut blocks = function.blocks.clone();
                for event in blocks.iter_mut().flat_map(|block| &mut block.events) {
                    *event = self.event(event, index, (first, &named), &numbers, &mut uses);
                }
                // An event on a variable that the graph does not have is left out.
                let is_kept = |event: &FlowEvent| *event != FlowEvent::CallOneOf(Vec::new());
                blocks.iter_mut().for_each(|block| block.events.retain(is_kept));
                let is_known = function.taken || function.external && taken.contains(&symbol);
                let visible = match self.images[instance.image].is_closed {
                    false => function.visible || is_known,
                    true => is_known || function.name == "main" || symbol.0.is_none(),
                };
                self.graph.functions.push(FlowFunction {
                    name: function.name.clone(),
                    external: function.external,
                    visible,
                    taken: is_known,
                    blocks,
                });
            }
        }
        self.uncalled();
    }

    /// A function that nothing of the program calls is called by unknown code.
    fn uncalled(&mut self) {
        let mut called = vec![false; self.graph.functions.len()];
        for function in &self.graph.functions {
            for event in function.blocks.iter().flat_map(|block| &block.events) {
                event.callees().iter().for_each(|callee| called[*callee as usize] = true);
            }
        }
        for (function, called) in self.graph.functions.iter_mut().zip(called) {
            function.visible |= !called;
        }
    }

    /// The variables of an instance that are in the graph: for each its position there, and the
    /// number to add to the numbers of its definitions.
    fn numbers(&self, instance: usize) -> FxHashMap<u32, (u32, u32)> {
        let mut numbers = FxHashMap::default();
        for (at, origins) in (0..).zip(&self.origins) {
            let own = origins.iter().filter(|of| of.instance == instance);
            numbers.extend(own.map(|of| (of.variable, (at, of.first - 1))));
        }
        numbers
    }

    fn event(
        &mut self,
        event: &FlowEvent,
        index: usize,
        (first, named): (u32, &FxHashMap<Symbol<'a>, Vec<u32>>),
        numbers: &FxHashMap<u32, (u32, u32)>,
        uses: &mut FxHashMap<u32, Option<u32>>,
    ) -> FlowEvent {
        let nothing = FlowEvent::CallOneOf(Vec::new());
        let instance = self.instances[index];
        let one_of = |name: &str| {
            let symbol = match self.images[instance.image].dynamic.contains(name) {
                true => (None, name),
                false => (Some(instance.image), name),
            };
            named.get(&symbol).map(|found| match found.as_slice() {
                [one] => FlowEvent::Call(*one),
                several => FlowEvent::CallOneOf(several.to_vec()),
            })
        };
        match event {
            FlowEvent::Define { variable, number, may_miss } => match numbers.get(variable) {
                Some((at, before)) => FlowEvent::Define {
                    variable: *at,
                    number: if *number > 0 { before + number } else { 0 },
                    may_miss: *may_miss,
                },
                None => nothing,
            },
            FlowEvent::Use(usage) => {
                let found = &instance.flow.graph.uses[*usage as usize];
                let known = *uses.entry(*usage).or_insert_with(|| {
                    let (at, _) = numbers.get(&found.variable)?;
                    self.graph.uses.push(FlowUse { variable: *at, reads: found.reads });
                    self.uses.push((index, *usage));
                    Some(self.uses.len() as u32 - 1)
                });
                known.map_or(nothing, FlowEvent::Use)
            }
            FlowEvent::Call(callee) => {
                let function = &instance.flow.graph.functions[*callee as usize];
                let own = || FlowEvent::Call(first + callee);
                match function.external {
                    true => one_of(&function.name).unwrap_or_else(own),
                    false => own(),
                }
            }
            FlowEvent::CallNamed(name) => one_of(name).unwrap_or(FlowEvent::CallOutside),
            FlowEvent::CallOneOf(_) | FlowEvent::CallOutside => FlowEvent::CallOutside,
        }
    }

    /// The pairs of definitions and uses across units.
    fn pairs(&self) -> BTreeSet<ForeignPair> {
        let mut found = BTreeSet::new();
        for ((index, usage), reaching) in self.uses.iter().zip(self.graph.reaching()) {
            let using = &self.instances[*index];
            let own = using.flow.graph.uses[*usage as usize].variable;
            let name = &using.flow.graph.variables[own as usize].name;
            let at = self.variables[&self.symbol(using.image, name)] as usize;
            for number in reaching.into_iter().filter(|number| *number > 0) {
                let origins = &self.origins[at];
                let after = origins.partition_point(|of| of.first <= number);
                let Origin { instance, variable, first } = origins[after - 1];
                let defining = self.instances[instance].unit;
                let number = number - first + 1;
                if defining != using.unit {
                    let (using, usage) = (using.unit, *usage);
                    found.insert(ForeignPair { using, usage, defining, variable, number });
                }
            }
        }
        found
    }
}

impl FlowGraph {
    /// The graph of the variables that are kept alone, and the positions of the uses that are left.
    pub(super) fn reduced(&self, is_kept: impl Fn(usize) -> bool) -> (Self, Vec<usize>) {
        let mut reduced = Self::default();
        let mut variables = FxHashMap::default();
        for (index, variable) in self.variables.iter().enumerate().filter(|(at, _)| is_kept(*at)) {
            variables.insert(index as u32, reduced.variables.len() as u32);
            reduced.variables.push(variable.clone());
        }
        let (mut uses, mut kept) = (FxHashMap::default(), Vec::new());
        for (index, usage) in self.uses.iter().enumerate() {
            if let Some(variable) = variables.get(&usage.variable) {
                uses.insert(index as u32, kept.len() as u32);
                kept.push(index);
                reduced.uses.push(FlowUse { variable: *variable, reads: usage.reads });
            }
        }
        let event = |event: &FlowEvent| match event {
            FlowEvent::Define { variable, number, may_miss } => {
                let (number, may_miss) = (*number, *may_miss);
                let variable = *variables.get(variable)?;
                Some(FlowEvent::Define { variable, number, may_miss })
            }
            FlowEvent::Use(usage) => uses.get(usage).copied().map(FlowEvent::Use),
            other => Some(other.clone()),
        };
        for function in &self.functions {
            let block = |block: &FlowBlock| FlowBlock {
                events: block.events.iter().filter_map(event).collect(),
                ..block.clone()
            };
            let blocks = contracted(function.blocks.iter().map(block).collect());
            reduced.functions.push(FlowFunction { blocks, ..function.clone() });
        }
        (reduced, kept)
    }
}

/// Blocks without those that do nothing and lead to one other, and with chains of blocks as one.
fn contracted(mut blocks: Vec<FlowBlock>) -> Vec<FlowBlock> {
    if blocks.iter().all(|block| block.events.is_empty()) {
        let returns = blocks.iter().any(|block| block.returns);
        return vec![FlowBlock { returns, ..FlowBlock::default() }];
    }
    for at in 1..blocks.len() {
        let [to] = blocks[at].successors[..] else { continue };
        if blocks[at].events.is_empty() && to as usize != at && !blocks[at].returns {
            let at = at as u32;
            let ends = blocks.iter_mut().flat_map(|block| &mut block.successors);
            ends.filter(|end| **end == at).for_each(|end| *end = to);
        }
    }
    for block in &mut blocks {
        block.successors.sort_unstable();
        block.successors.dedup();
    }
    let mut into = vec![0; blocks.len()];
    blocks.iter().flat_map(|block| &block.successors).for_each(|to| into[*to as usize] += 1);
    for at in 0..blocks.len() {
        // A block with one successor, which has no other predecessor, goes on there.
        while let [to] = blocks[at].successors[..]
            && to != 0
            && to as usize != at
            && into[to as usize] == 1
            && !blocks[at].returns
        {
            let next = std::mem::take(&mut blocks[to as usize]);
            blocks[at].events.extend(next.events);
            (blocks[at].successors, blocks[at].returns) = (next.successors, next.returns);
        }
    }
    without_unreached(&blocks)
}

fn without_unreached(blocks: &[FlowBlock]) -> Vec<FlowBlock> {
    let mut reached = vec![false; blocks.len()];
    let mut rest = vec![0];
    while let Some(at) = rest.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            rest.extend(blocks[at].successors.iter().map(|to| *to as usize));
        }
    }
    let mut numbers = vec![0; blocks.len()];
    let left = (0..blocks.len()).filter(|at| reached[*at]);
    left.zip(0..).for_each(|(at, number)| numbers[at] = number);
    let kept = blocks.iter().zip(&reached).filter(|(_, reached)| **reached);
    let renumbered = |block: &FlowBlock| FlowBlock {
        successors: block.successors.iter().map(|to| numbers[*to as usize]).collect(),
        ..block.clone()
    };
    kept.map(|(block, _)| renumbered(block)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of one block.
    fn function(name: &str, events: Vec<FlowEvent>) -> FlowFunction {
        let block = FlowBlock { events, successors: Vec::new(), returns: true };
        let name = name.to_owned();
        FlowFunction { name, external: true, visible: true, taken: false, blocks: vec![block] }
    }

    const DEFINE: FlowEvent = FlowEvent::Define { variable: 0, number: 1, may_miss: false };

    fn call(name: &str) -> FlowEvent {
        FlowEvent::CallNamed(name.to_owned())
    }

    /// A unit with one variable of so many definitions and uses.
    fn unit(
        name: &str,
        (definitions, uses): (usize, usize),
        functions: Vec<FlowFunction>,
    ) -> SharedFlow {
        let variable = FlowVariable { name: name.to_owned(), definitions: vec![None; definitions] };
        let uses = vec![FlowUse { variable: 0, reads: None }; uses];
        let graph = FlowGraph { variables: vec![variable], functions, uses };
        SharedFlow { graph, ..SharedFlow::default() }
    }

    /// The pairs in a closed program, as the units of definition and use.
    fn pairs(units: &[&SharedFlow], images: &[(&[usize], &[&str])]) -> Vec<(usize, usize)> {
        let dynamic: Vec<BTreeSet<String>> =
            images.iter().map(|(_, all)| all.iter().map(|s| (*s).to_owned()).collect()).collect();
        let images: Vec<LinkedImage<'_>> = images
            .iter()
            .zip(&dynamic)
            .map(|((units, _), dynamic)| LinkedImage {
                units: units.to_vec(),
                dynamic,
                is_closed: true,
            })
            .collect();
        let found = foreign_pairs(units, &images);
        found.into_iter().map(|pair| (pair.defining, pair.using)).collect()
    }

    #[test]
    fn a_definition_that_another_one_follows_reaches_nothing_beyond() {
        let main =
            unit("g", (0, 0), vec![function("main", vec![call("one"), call("two"), call("get")])]);
        let one = unit("g", (1, 0), vec![function("one", vec![DEFINE])]);
        let two = unit("g", (1, 0), vec![function("two", vec![DEFINE])]);
        let get = unit("g", (0, 1), vec![function("get", vec![FlowEvent::Use(0)])]);
        assert_eq!(pairs(&[&main, &one, &two, &get], &[(&[0, 1, 2, 3], &[])]), [(2, 3)]);
        // If the call in between is not known, it may come last.
        let main = unit("g", (0, 0), vec![function("main", vec![call("one"), call("get")])]);
        assert_eq!(
            pairs(&[&main, &one, &two, &get], &[(&[0, 1, 2, 3], &[])]),
            [(1, 3)],
            "what nothing calls is called by what is not known, but `main` defines before the use"
        );
    }

    #[test]
    fn a_name_that_several_units_define_may_be_any_of_them() {
        let main = unit("g", (0, 0), vec![function("main", vec![call("set"), call("get")])]);
        let weak = unit("g", (1, 0), vec![function("set", vec![DEFINE])]);
        let strong = unit("g", (1, 0), vec![function("set", vec![DEFINE])]);
        let get = unit("g", (0, 1), vec![function("get", vec![FlowEvent::Use(0)])]);
        let found = pairs(&[&main, &weak, &strong, &get], &[(&[0, 1, 2, 3], &[])]);
        assert_eq!(found, [(1, 3), (2, 3)]);
    }

    #[test]
    fn a_name_is_one_symbol_in_two_images_where_both_export_it() {
        let main = unit("g", (1, 0), vec![function("main", vec![DEFINE, call("get")])]);
        let get = unit("g", (0, 1), vec![function("get", vec![FlowEvent::Use(0)])]);
        let all = [&main, &get];
        assert_eq!(pairs(&all, &[(&[0], &["g", "get"]), (&[1], &["g", "get"])]), [(0, 1)]);
        assert_eq!(pairs(&all, &[(&[0], &["get"]), (&[1], &["get"])]), []);
    }

    #[test]
    fn a_variable_that_a_unit_does_not_follow_has_no_pairs() {
        let main = unit("g", (1, 0), vec![function("main", vec![DEFINE, call("get")])]);
        let get = unit("g", (0, 1), vec![function("get", vec![FlowEvent::Use(0)])]);
        let untracked = SharedFlow { untracked: vec!["g".to_owned()], ..SharedFlow::default() };
        assert_eq!(pairs(&[&main, &get, &untracked], &[(&[0, 1], &[])]), [(0, 1)]);
        assert_eq!(pairs(&[&main, &get, &untracked], &[(&[0, 1, 2], &[])]), []);
    }

    #[test]
    fn blocks_without_events_leave_a_graph_of_the_same_paths() {
        let block = |events, successors: &[u32], returns| FlowBlock {
            events,
            successors: successors.to_vec(),
            returns,
        };
        // A loop around a use, with empty blocks before, within and after it.
        let blocks = vec![
            block(vec![DEFINE], &[1], false),
            block(vec![], &[2], false),
            block(vec![], &[3, 5], false),
            block(vec![FlowEvent::Use(0)], &[4], false),
            block(vec![], &[2], false),
            block(vec![], &[6], false),
            block(vec![], &[], true),
        ];
        let found = contracted(blocks);
        let use_to = |to: u32| block(vec![FlowEvent::Use(0)], &[to], false);
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(found[0], block(vec![DEFINE], &[1], false));
        assert_eq!((&found[2], found[3].returns), (&use_to(1), true));
        let nothing = contracted(vec![block(vec![], &[1], false), block(vec![], &[], true)]);
        assert_eq!(nothing, [block(vec![], &[], true)]);
    }
}
