//! `lydian cc`.

use std::os::unix::process::CommandExt as _;

use lydian_objective::criterion::set::CriterionChoice;

use lydian::wrapper::{WrapperOutcome, compile, unstartable};

use crate::args::CcArgs;
use crate::exit::Failure;
use crate::progress::Terminal;
use crate::requests::check_labels;

/// Set in the environment, it makes `lydian cc` the plain compiler.
const OFF: &str = "LYDIAN_OFF";

/// Compiles and links as the command says, with measurement built in.
pub(crate) fn run(args: &CcArgs) -> Result<u8, Failure> {
    check_labels(&CriterionChoice::together(&args.criteria))?;
    let off = std::env::var_os(OFF).is_some_and(|value| !value.is_empty());
    match compile(&args.request(off), &Terminal::new())? {
        WrapperOutcome::Ended(code) => Ok(code),
        WrapperOutcome::Plain { mut command, compiler } => {
            // This process becomes the compiler, so its behaviour is the compiler's.
            let error = command.exec();
            Err(unstartable(&compiler, &error).into())
        }
    }
}
