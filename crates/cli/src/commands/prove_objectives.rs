//! `lydian prove --criteria`: whether any run of a program covers its objectives.

use std::fmt::Write as _;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use indexmap::IndexMap;
use lydian::{
    ErrorAnswer, ObjectiveProof, ObjectiveProofRequest, ObjectiveProofs, ObjectiveRequest,
    ProjectRequest,
};
use lydian_objective::criterion::set::CriterionChoice;

use super::prove::{show_argument, show_inputs, write_tests};
use crate::args::ProveArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use crate::requests::{check_labels, time_limit};
use crate::{interrupt, output};

const HEADER: [&str; 6] =
    ["function", "criterion", "objectives", "reached", "unreachable", "unknown"];

pub(crate) fn run(args: &ProveArgs) -> Result<ExitCode, Failure> {
    let cancel = interrupt::install()?;
    let request = request(args)?;
    let proofs = ObjectiveProofs::of_program(&request, &cancel, &Terminal::new())?;
    output::text(&shown(&proofs))?;
    if let Some(path) = &args.json {
        output::json(path, &proofs)?;
    }
    if let Some(folder) = &args.tests {
        write_tests(folder, proofs.native_tests())?;
    }
    if let Some(folder) = &args.certificates {
        proofs.certificates.write(folder)?;
        for (objective, why) in &proofs.certificates.missing {
            output::text(&format!("no certificate for {objective}: {why}\n"))?;
        }
    }
    if let Some(ledger) = &args.ledger {
        let count = proofs.record(ledger)?;
        let ledger = ledger.display();
        output::text(&format!("{count} infeasible objectives are recorded in {ledger}\n"))?;
    }
    let is_refuted = |one: &ObjectiveProof| matches!(one.answer, ErrorAnswer::Unconfirmed(_));
    Ok(match proofs.objectives.iter().any(is_refuted) {
        true => ExitCode::Internal,
        false if cancel.is_cancelled() => ExitCode::Interrupted,
        false => ExitCode::Done,
    })
}

fn request(args: &ProveArgs) -> Result<ObjectiveProofRequest, Failure> {
    let of_errors = [
        ("--checker", args.outside.checker.is_some()),
        ("--export-c", args.other_tools.export_c.is_some()),
        ("--witnesses", args.other_tools.witnesses.is_some()),
    ];
    if let Some((option, _)) = of_errors.iter().find(|(_, is_given)| *is_given) {
        let what =
            format!("{option} is for proofs about errors, and not for those about objectives");
        return Err(Failure::usage("criteria", what)
            .note("leave out --criteria; or ask the tool about objectives with `lydian gen`"));
    }
    check_labels(&CriterionChoice::together(&args.criteria))?;
    let Some((first, others)) = args.files.split_first() else {
        return Err(Failure::usage("files", "no C file is named"));
    };
    Ok(ObjectiveProofRequest {
        program: ProjectRequest {
            with: others.to_vec(),
            functions: args.functions.clone(),
            flags: args.flags.clone(),
            compile_commands: args.compile_commands.clone(),
            ..ProjectRequest::new(first)
        },
        objectives: ObjectiveRequest {
            criteria: CriterionChoice::together(&args.criteria),
            semantics: args.semantics.into(),
            htol: args.htol.clone(),
        },
        time: time_limit(args.time),
        provers: args.provers.into(),
        search: args.search.into(),
        jobs: args.jobs,
        certify: args.certificates.is_some() || args.ledger.is_some(),
    })
}

fn shown(proofs: &ObjectiveProofs) -> String {
    let mut text = String::new();
    proofs.objectives.iter().for_each(|one| show(&mut text, one));
    let _ = writeln!(text, "{}", table(&proofs.objectives));
    for reason in &proofs.inexact {
        let _ = writeln!(text, "the proofs take in more runs than the program has: {reason}");
    }
    for surrounding in &proofs.surroundings {
        let _ = writeln!(text, "given: {surrounding}");
    }
    text
}

/// The counts of each function and criterion: reached, unreachable, unknown.
fn table(objectives: &[ObjectiveProof]) -> Table {
    let mut rows: IndexMap<(&str, String), [usize; 3]> = IndexMap::new();
    for one in objectives {
        let at = match &one.answer {
            ErrorAnswer::Reached(_) => 0,
            ErrorAnswer::Unreachable(_) => 1,
            ErrorAnswer::Unknown(_) | ErrorAnswer::Unconfirmed(_) => 2,
        };
        rows.entry((&one.function, one.criterion.to_string())).or_default()[at] += 1;
    }
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(HEADER);
    for ((function, criterion), counts) in rows {
        let all = counts.iter().sum::<usize>();
        let numbers = [all].into_iter().chain(counts).map(|count| count.to_string());
        let numbers = numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
        let names = [Cell::new(function), Cell::new(criterion)];
        table.add_row(names.into_iter().chain(numbers));
    }
    table
}

fn show(text: &mut String, one: &ObjectiveProof) {
    let ObjectiveProof { criterion, place, engine, .. } = one;
    let what = format!("{place}: {criterion}: {}", one.text);
    let after = one.seconds.map_or_else(String::new, |seconds| format!(", {seconds:.3} s"));
    let _ = match &one.answer {
        ErrorAnswer::Reached(_) => writeln!(text, "{what}: reached ({engine}{after})"),
        ErrorAnswer::Unreachable(_) => writeln!(text, "{what}: unreachable ({engine}{after})"),
        ErrorAnswer::Unknown(why) => writeln!(text, "{what}: unknown: {why}"),
        ErrorAnswer::Unconfirmed(part) => writeln!(
            text,
            "{what}: internal error: {engine} says that no run covers it, and this part of its \
             argument is false: {part}"
        ),
    };
    match &one.answer {
        ErrorAnswer::Reached(inputs) => show_inputs(text, inputs),
        ErrorAnswer::Unreachable(argument) => show_argument(text, argument),
        ErrorAnswer::Unknown(_) | ErrorAnswer::Unconfirmed(_) => {}
    }
}
