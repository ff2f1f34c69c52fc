//! Ctrl-C: the first one asks running work to stop and keeps its findings; the second ends the process
//! at once.

use lydian_base::CancelToken;

use crate::exit::{ExitCode, Failure};

/// Installs the handler and returns the token that Ctrl-C cancels.
pub(crate) fn install() -> Result<CancelToken, Failure> {
    let token = CancelToken::new();
    let handler = token.clone();
    ctrlc::set_handler(move || {
        if handler.is_cancelled() {
            std::process::exit(ExitCode::Interrupted as i32);
        }
        handler.cancel();
    })
    .map_err(|error| {
        Failure::environment("signals", format!("cannot watch for Ctrl-C: {error}"))
    })?;
    Ok(token)
}
