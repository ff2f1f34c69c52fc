//! Paths: measured natively, and found in the interpreter's trace of the same run.

use lydian_ir::interp::{self, Observer, View};
use lydian_ir::stmt::Edge;
use lydian_objective::hyper::Passage;
use lydian_objective::paths::{NodeGraph, NodeId};
use lydian_objective::{Criterion, Site};

use crate::common::whole::{Measuring, run_of};

/// The nodes that a run enters, activation by activation.
struct Nodes<'a> {
    graph: &'a NodeGraph,
    body: &'a lydian_ir::Body,
    open: Vec<Vec<NodeId>>,
    ended: Vec<Vec<NodeId>>,
}

impl Nodes<'_> {
    fn at_depth(&mut self, depth: usize) -> &mut Vec<NodeId> {
        while self.open.len() > depth {
            self.ended.extend(self.open.pop());
        }
        self.open.last_mut().expect("an activation is open")
    }
}

impl Observer for Nodes<'_> {
    fn entry(&mut self, view: &View<'_>) {
        while self.open.len() >= view.depth() {
            self.ended.extend(self.open.pop());
        }
        self.open.push(vec![0]);
    }

    fn edge(&mut self, view: &View<'_>, edge: Edge) {
        let mut ways = Vec::new();
        self.body.blocks[edge.from].term.for_each_successor(|to| ways.push(to));
        let node = self.graph.node_at(ways[edge.way as usize]);
        self.at_depth(view.depth()).extend(node);
    }
}

const PROGRAM: &str = "
int f(int a, int b) {
  int count = 0;
  for (int i = 0; i < a; i++) {
    if (i > 2 && b > i)
      count += 2;
    else if (b == 7 || a == 3)
      count--;
    switch (b & 3) {
      case 0: count++; break;
      case 1: count += 3;
      default: count = count ? count : 5;
    }
  }
  if (a > 4)
    count += f(a - 4, b);
  while (count > 10)
    count -= (a > 2) == (b > 2 && count > 12) ? 4 : 1;
  return count;
}
";

#[test]
fn paths_that_a_run_takes_are_those_of_its_trace() {
    let criteria =
        [Criterion::Epc, Criterion::Ppc, Criterion::Srtc, Criterion::Crtc, Criterion::Bpc];
    let measuring = Measuring::of(PROGRAM, &criteria);
    let program = &measuring.unit.program;
    let body = program.functions[measuring.function].body.as_ref().unwrap();
    let graph = NodeGraph::of(body);
    let objectives = &measuring.objectives;
    let mut taken = 0;
    for args in [[0, 0], [1, 1], [3, 7], [5, 9], [9, 4], [12, 7], [6, 2]] {
        let mut nodes = Nodes { graph: &graph, body, open: Vec::new(), ended: Vec::new() };
        let test = run_of("f", &args);
        interp::run(program, &test, &interp::Options::default(), &mut nodes).unwrap();
        let traces: Vec<Vec<NodeId>> = nodes.ended.drain(..).chain(nodes.open).collect();
        let measured = measuring.measured(&[test]).remove(0);
        for (id, sequence) in objectives.sequences.iter() {
            assert!(sequence.passages.iter().all(|passage| *passage == Passage::Adjacent));
            let node = |label| match objectives.labels[label].site {
                Site::Block(block) => graph.node_at(block).unwrap(),
                other => panic!("{other:?}"),
            };
            let path: Vec<NodeId> = sequence.atoms.iter().map(|atom| node(atom.label)).collect();
            let in_trace =
                traces.iter().any(|trace| trace.windows(path.len()).any(|window| window == path));
            assert_eq!(measured.sequences[0].contains(&id), in_trace, "{args:?} {path:?}");
            taken += usize::from(in_trace);
        }
    }
    assert!(taken > 100, "{taken}");
}

#[test]
fn too_many_paths_are_a_warning_and_no_objectives() {
    let choice = "if (a & 1) a += 3; else a ^= 5;\n".repeat(20);
    let text = format!("int f(int a, int b) {{\n{choice}return a + b;\n}}\n");
    let measuring = Measuring::of(&text, &[Criterion::Ppc]);
    assert_eq!(measuring.objectives.hyper_criteria[&Criterion::Ppc], []);
    let warnings: Vec<_> = measuring.diagnostics.iter().map(|d| d.message.clone()).collect();
    assert_eq!(warnings, ["ppc has no objectives for `f`: it has more than 2000 paths"]);
}

#[test]
fn a_function_that_control_can_return_to_has_no_paths_measured() {
    let text = "
typedef long jmp_buf[32];
int setjmp(jmp_buf);
int f(int a, int b) {
  static jmp_buf place;
  if (setjmp(place)) return b;
  return a;
}
";
    let measuring = Measuring::of(text, &[Criterion::Epc]);
    let reasons = measuring.unmeasured();
    assert!(!reasons.is_empty());
    assert!(
        reasons.iter().all(|reason| reason == "control can return to a setjmp of the function")
    );
}
