//! Contracts of undefined functions, invariants of types, and whether settings fit a program.

use lydian_inputs::place::InputPlace;
use lydian_inputs::settings::Position;
use lydian_inputs::spec::fit::{NameKind, absent, misfits};
use lydian_inputs::{InputSpec, Settings};
use lydian_ir::{FuncId, GlobalInit, IntKind};

use crate::sketch::Sketch;

/// `int ask(int *out, struct ctx *ctx)`, undefined, and the variable `state`.
fn program() -> (Sketch, FuncId) {
    let mut sketch = Sketch::default();
    let int = sketch.int(IntKind::Int);
    let (out, (ctx, _)) = (sketch.pointer(int), sketch.record("struct ctx"));
    let to_ctx = sketch.pointer(ctx);
    sketch.global("state", int, GlobalInit::Zero);
    let ask = sketch.declare("ask", int, vec![out, to_ctx]);
    sketch.program.functions[ask].param_names = vec!["out".into(), "ctx".into()];
    (sketch, ask)
}

fn settings(text: &str) -> Settings {
    Settings::from_toml_str(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_contract_says_what_is_written_at_most_and_what_is_returned() {
    let (sketch, ask) = program();
    let contract = |text: &str| {
        let spec = InputSpec::new(&sketch.program, settings(text));
        spec.contract_of(&sketch.program, ask)
    };
    assert_eq!(contract("").writes, None);
    assert!(contract("[function.ask]\npure = true\n").is_pure());
    assert!(contract("[function.ask]\nwrites = []\n").is_pure());
    assert!(!contract("[function.ask]\npure = false\n").is_pure());
    let all =
        contract("[function.ask]\nwrites = [\"*out\", \"state\"]\nreturns = { range = [0, 7] }\n");
    let places = ["*out", "state"].map(|place| InputPlace::parse(place).unwrap());
    assert_eq!(all.writes.as_deref(), Some(&places[..]));
    assert!(all.returns.range.is_some());
    let older = contract("[function.ask.places]\nresult = { range = [0, 7] }\n");
    assert_eq!(older.returns, all.returns);
}

#[test]
fn what_a_program_does_not_have_is_absent_and_what_does_not_fit_is_a_misfit() {
    let (sketch, _) = program();
    let program = &sketch.program;
    let stated =
        settings("[function.aks]\n[types.\"struct ctx\"]\ninvariant = \"1\"\n[types.nothing]\n");
    let found = absent(program, &stated);
    let kinds: Vec<_> = found.iter().map(|absent| (absent.name, absent.what)).collect();
    assert_eq!(
        kinds,
        [
            ("aks", NameKind::Function),
            ("nothing", NameKind::Type),
            ("struct ctx", NameKind::IncompleteType)
        ]
    );
    let text = "[function.ask]\nwrites = [\n  \"*out\",\n  \"out\", \"missing\"]\n";
    let stated = settings(text);
    let found = misfits(program, &stated);
    assert_eq!(found.len(), 2, "{found:?}");
    let at = found.iter().map(|misfit| Position::find(text, &misfit.way).unwrap());
    assert_eq!(at.map(|at| (at.line, at.column)).collect::<Vec<_>>(), [(4, 4), (4, 11)]);
}

#[test]
fn settings_of_types_and_contracts_read_back_from_the_toml_that_they_write() {
    let text = "[function.ask]\nwrites = [\"*out\"]\n\n[types.\"struct ctx\"]\n\
                invariant = [\"self->n > 0\"]\n\".data\" = { length = \".n\" }\n";
    let stated = settings(text);
    let ctx = &stated.types["struct ctx"];
    assert_eq!((ctx.invariants.len(), ctx.places.len()), (1, 1));
    let written = toml::to_string(&stated).unwrap();
    assert_eq!(settings(&written), stated, "{written}");
    let alone = settings("[types.t]\ninvariant = \"self->n\"\n");
    assert_eq!(alone.types["t"].invariants, ["self->n"]);
}
