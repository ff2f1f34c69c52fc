//! The comparison of the end of a run with the end that an exploration claims.

use lydian_ir::TrapKind;
use lydian_ir::interp::End;
use lydian_native::Outcome;
use lydian_symex::Ending;

/// Whether a native run ended as predicted. Undefined behaviour may end in any way.
pub(crate) fn agrees(claimed: &Ending, outcome: &Outcome) -> bool {
    match claimed {
        Ending::Returned => matches!(outcome, Outcome::Returned(_)),
        Ending::Exited => {
            matches!(outcome, Outcome::Exited(_) | Outcome::Aborted | Outcome::EndedBy(_))
        }
        Ending::Assumption => matches!(outcome, Outcome::Assumption),
        // The input that a run reads in each round may be used up.
        Ending::Endless | Ending::Trapped(_) | Ending::Cut(_) => true,
    }
}

/// Whether a run ends as another does.
pub(crate) fn ends_alike(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Outcome::Returned(_), Outcome::Returned(_)) => true,
        (Outcome::Crashed(a), Outcome::Crashed(b)) => a.signal == b.signal && a.class == b.class,
        _ => a == b,
    }
}

/// Whether the interpreter did not follow a run to its end.
pub(crate) const fn is_cut_short(end: End) -> bool {
    matches!(end, End::Stopped(_) | End::TooDeep(_) | End::Unknown(_))
}

/// Whether a run in the interpreter ended as claimed. A run that was stopped contradicts no claim.
pub(crate) const fn agrees_when_interpreted(claimed: &Ending, end: End) -> bool {
    if is_cut_short(end) {
        return true;
    }
    match claimed {
        Ending::Returned => matches!(end, End::Returned),
        Ending::Exited => {
            matches!(end, End::Exited(_) | End::NoReturn(_) | End::Trapped(TrapKind::Abort))
        }
        Ending::Assumption => matches!(end, End::Assumption),
        Ending::Trapped(_) => matches!(end, End::Trapped(_)),
        Ending::Endless | Ending::Cut(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::StopReason;

    use super::*;

    #[test]
    fn an_interpreter_that_was_stopped_contradicts_no_claim() {
        let stopped = End::Stopped(StopReason::Cancelled);
        assert!(agrees_when_interpreted(&Ending::Returned, stopped));
        assert!(!agrees_when_interpreted(&Ending::Returned, End::Exited(0)));
        assert!(agrees_when_interpreted(&Ending::Exited, End::Trapped(TrapKind::Abort)));
        assert!(!agrees_when_interpreted(&Ending::Trapped(TrapKind::Abort), End::Returned));
    }
}
