//! Static analyses of the ways through functions. Each result is computed when it is first asked
//! for.

use std::cell::RefCell;
use std::rc::Rc;

use lydian_ir::cfg::Cfg;
use lydian_ir::{BlockId, Body, FuncId, Program};
use rustc_hash::FxHashMap;

use crate::merging::hot_variables::HotVariables;
use crate::merging::regions::{Area, DecisionRegion, Surroundings, readers};

/// Decision regions by the block of their first branch; `None` where the branch is a single
/// condition.
type Regions = FxHashMap<(FuncId, BlockId), Option<Rc<DecisionRegion>>>;

/// Areas by the two blocks where they are entered; by `None` where the area is a whole body.
type Areas = FxHashMap<(FuncId, Option<[BlockId; 2]>), Option<Rc<Area>>>;

/// The control-flow graph of a function, and the blocks that read each of its registers.
type FlowGraph = Rc<(Cfg, Vec<Vec<BlockId>>)>;

/// The results of the analyses.
#[derive(Default)]
pub(crate) struct Analyses {
    /// The regions of branches that were met.
    regions: RefCell<Regions>,
    /// The areas that were looked for.
    areas: RefCell<Areas>,
    flows: RefCell<FxHashMap<FuncId, FlowGraph>>,
    hot: RefCell<FxHashMap<(FuncId, bool), Rc<HotVariables>>>,
    live: RefCell<FxHashMap<FuncId, Rc<HotVariables>>>,
}

impl Analyses {
    /// The conditions that the branch of a block decides, if they are several.
    pub(crate) fn region(
        &self,
        program: &Program,
        func: FuncId,
        block: BlockId,
    ) -> Option<Rc<DecisionRegion>> {
        let mut regions = self.regions.borrow_mut();
        let region = regions.entry((func, block)).or_insert_with(|| {
            let body = program.functions[func].body.as_ref();
            body.and_then(|body| DecisionRegion::at(body, block)).map(Rc::new)
        });
        region.clone()
    }

    /// The area that a function's body is, if it is one. The body of a recursive function is none.
    pub(crate) fn computes(&self, program: &Program, func: FuncId) -> Option<Rc<Area>> {
        self.area(program, (func, None))
    }

    /// The area between two blocks of a function and the first block where all ways from them meet.
    pub(crate) fn between(
        &self,
        program: &Program,
        func: FuncId,
        blocks: [BlockId; 2],
    ) -> Option<Rc<Area>> {
        self.area(program, (func, Some(blocks)))
    }

    fn area(&self, program: &Program, key: (FuncId, Option<[BlockId; 2]>)) -> Option<Rc<Area>> {
        if let Some(known) = self.areas.borrow().get(&key) {
            return known.clone();
        }
        // The body of a function that is being analysed counts as no area, so a recursive function
        // is none.
        self.areas.borrow_mut().insert(key, None);
        let (func, blocks) = key;
        let body = program.functions[func].body.as_ref()?;
        let flow = self.flow(func, body);
        let surroundings = Surroundings {
            body,
            cfg: &flow.0,
            readers: &flow.1,
            region: &|block| self.region(program, func, block),
            computes: &|callee| self.computes(program, callee).is_some(),
        };
        let area = match blocks {
            Some(blocks) => surroundings.between(blocks),
            None => surroundings.whole(),
        };
        let area = area.map(Rc::new);
        self.areas.borrow_mut().insert(key, area.clone());
        area
    }

    /// The hot variables of a function, including its result if another function calls it.
    pub(crate) fn hot_variables(
        &self,
        func: FuncId,
        body: &Body,
        is_called: bool,
    ) -> Rc<HotVariables> {
        let mut known = self.hot.borrow_mut();
        let hot = known.entry((func, is_called));
        hot.or_insert_with(|| Rc::new(HotVariables::new(body, is_called))).clone()
    }

    /// The registers of a function that anything depends on.
    pub(crate) fn live_registers(&self, func: FuncId, body: &Body) -> Rc<HotVariables> {
        let mut known = self.live.borrow_mut();
        known.entry(func).or_insert_with(|| Rc::new(HotVariables::live(body))).clone()
    }

    fn flow(&self, func: FuncId, body: &Body) -> FlowGraph {
        let mut flows = self.flows.borrow_mut();
        flows.entry(func).or_insert_with(|| Rc::new((Cfg::new(body), readers(body)))).clone()
    }
}
