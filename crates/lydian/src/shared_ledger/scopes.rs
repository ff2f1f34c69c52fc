//! The conditions under which evidence on the objectives of a function is valid.
//!
//! What a run of the function can reach is the *code*: its text and that of its callees, types and globals
//! ([`code_fingerprint`]). Code that no run reaches decides, too, which inputs there are: a static variable
//! that nothing writes has its first value, a pointer to a function leads to functions whose address is taken
//! somewhere, and members of structs are guessed from all their uses. That is part of the *configuration*,
//! with the user's settings.
//!
//! Where the program is tested as a whole, its runs begin in `main`, whose code belongs to that of each
//! function.

use std::cell::RefCell;
use std::fmt::Write as _;

use lydian_ir::{CTypeId, Callee, FuncId, Stmt};
use lydian_ledger::EvidenceScope;
use lydian_objective::code_fingerprint;
use lydian_objective::fingerprint::reachable;
use rustc_hash::{FxHashMap, FxHashSet};

use super::digest;
use crate::objectives::Semantics;
use crate::project::{Project, WholeProgramTest};

/// The scopes of evidence on the functions of a project.
pub(crate) struct Scopes<'p> {
    project: &'p Project,
    /// The settings that change the meaning of code.
    settings: String,
    /// What decides, besides all code, which runs are considered.
    configuration: String,
    /// The functions that the program calls by their names, or whose addresses it takes.
    used: FxHashSet<FuncId>,
    /// The types of functions that it calls through pointers.
    called: FxHashSet<CTypeId>,
    /// The code from which all runs begin, if they do.
    entry: Option<String>,
    /// The guesses about the inputs of functions, as text.
    guesses: RefCell<FxHashMap<FuncId, String>>,
}

impl<'p> Scopes<'p> {
    /// Reads every body of the program once.
    pub(crate) fn new(project: &'p Project, semantics: Semantics) -> Self {
        let flags: Vec<&str> = project.build.flags.for_parsing().collect();
        let settings = format!("{semantics:?} {}", flags.join(" "));
        let (mut used, mut called) = (project.program.addressed_functions(), FxHashSet::default());
        for body in project.program.functions.values().filter_map(|of| of.body.as_ref()) {
            for stmt in body.stmts.values() {
                match stmt {
                    Stmt::Call { callee: Callee::Direct(callee), .. } => _ = used.insert(*callee),
                    Stmt::Call { callee: Callee::Indirect(_), ty, .. } => _ = called.insert(*ty),
                    _ => {}
                }
            }
        }
        let code = |func| code_fingerprint(&project.program, &project.texts.all, func, &settings);
        Self {
            project,
            configuration: configuration(project, semantics),
            used: used.into_iter().collect(),
            called,
            entry: project.entry().map(code),
            guesses: RefCell::default(),
            settings,
        }
    }

    /// The scope of a function.
    pub(crate) fn of(&self, func: FuncId) -> EvidenceScope {
        let Project { program, texts, .. } = self.project;
        let code = code_fingerprint(program, &texts.all, func, &self.settings);
        let code = match &self.entry {
            None => code,
            Some(entry) => digest::of(&format!("{entry} {code}")),
        };
        let configuration = format!("{}; {}", self.configuration, digest::of(&self.inputs(func)));
        EvidenceScope { code, configuration }
    }

    /// What code that no run of a function reaches decides about its inputs.
    fn inputs(&self, func: FuncId) -> String {
        let Project { program, spec, .. } = self.project;
        let (functions, globals) = reachable(program, func);
        let mut text = String::new();
        // Literals and static locals are no inputs, and may have numbers for names.
        for (name, global) in globals.into_iter().filter(|(name, _)| !name.contains('.')) {
            let is_input = spec.globals.can_differ(program, global);
            let _ = write!(text, "{name} {is_input}; ");
        }
        for (name, function) in functions {
            let is_addressed = spec.globals.is_addressed(function);
            let _ = write!(text, "{name} {is_addressed}; ");
            if function == func || program.functions[function].body.is_none() {
                text += &self.guesses(function);
            }
        }
        let ty = program.functions[func].ty;
        let _ = write!(text, "{}", self.used.contains(&func) || self.called.contains(&ty));
        text
    }

    /// The guesses about the inputs of a function, or the results of one that is undefined.
    fn guesses(&self, func: FuncId) -> String {
        let Project { program, spec, .. } = self.project;
        let mut known = self.guesses.borrow_mut();
        let text = known.entry(func).or_insert_with(|| {
            let guesses = spec.guesses_in_effect(program, func);
            let places = guesses.places.iter().map(|guess| (String::new(), guess));
            let of_types = guesses.types.iter();
            let of_types = of_types.map(|(ty, guess)| (program.types.spell(*ty, ""), guess));
            let all = places.chain(of_types);
            all.map(|(ty, guess)| format!("{ty} {} {}; ", guess.place, guess.settings)).collect()
        });
        text.clone()
    }
}

/// The text that decides, besides the code, which runs are considered.
fn configuration(project: &Project, semantics: Semantics) -> String {
    let settings = &project.settings.text;
    let mut text = format!("semantics {semantics:?}; inputs {settings}");
    if let Some(WholeProgramTest { request, .. }) = &project.whole {
        let arguments = request.arguments.map(|of| vec![of.least, of.most, of.length]);
        let files = request.files.map(|of| vec![of.count, of.bytes]);
        text += &format!(
            "; from main, with {:?} {:?} {:?}",
            arguments.unwrap_or_default(),
            request.stdin,
            files.unwrap_or_default()
        );
    }
    text
}
