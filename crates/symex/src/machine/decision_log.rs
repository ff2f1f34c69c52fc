//! The decision log: answers that a path was given and that do not follow from the program and the
//! path itself.
//!
//! A step asks the model (for the side of a branch, or the object that an address lies in), the
//! solver (whether a trap is excluded), and the exploration (whether hyperlabels still need the
//! conditions of a decision, or how often a place was met). A [`DecisionLog`] holds the answers in
//! their order. Everything else that a step does to registers, memory and facts is determined by
//! the program. So a path that is followed again with the same answers reaches the same state,
//! whatever was covered, asked or learnt meanwhile. Labels of tight instrumentation do not
//! constrain their path: questions of their predicates are not on the log.

/// The kind of a question. Each answer is stored with the kind, so that a replayed path which asks
/// another question is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Question {
    /// The side of a condition.
    Side,
    /// The target of a switch.
    Way,
    /// Whether the path depends on an undefined value.
    Undefined,
    /// Whether a trap is already excluded.
    Safe,
    /// The function that a pointer points to.
    Callee,
    /// Whether all conditions of a decision are evaluated at once.
    Merge,
    /// Whether a choice between values is followed as one path.
    Choose,
    /// The value of a term on the model.
    Value,
    /// Whether a condition holds on the model.
    Holds,
    /// The number of bytes that an allocation surely fits in.
    Room,
    /// The number of a piece of inline assembly.
    Havoc,
    /// Whether one more value of an argument is followed.
    Follow,
    /// Whether the function under test is called again.
    Again,
}

/// The answers that a path got.
///
/// A log is either recorded, and answers are appended, or replayed, and the answers are returned in
/// order.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecisionLog {
    /// The answers. Each begins with a byte for its question and the lowest bits of its value. The
    /// other bits follow, seven in each byte, the lowest first.
    answers: Vec<u8>,
    /// The statements with expressions that were evaluated before their labels were looked at, and
    /// that asked something in this evaluation; each as the number of statements begun. A replay
    /// needs them, since the labels left may then be others.
    early: Vec<u64>,
    /// The number of statements and terminators that the path began, each attempt counted.
    begun: u64,
    /// Whether a predicate is evaluated, so that questions are not logged.
    in_predicate: bool,
    playing: Option<ReplayPosition>,
}

/// The position of a replay in its log.
#[derive(Clone, Copy, Debug, Default)]
struct ReplayPosition {
    answer: usize,
    early: usize,
    /// The number of statements that the path is to begin.
    until: u64,
    /// Whether another question was asked than at the first time.
    diverged: bool,
}

/// The number of bits of a value in the byte of its question.
const FIRST_BITS: u32 = 3;
const MORE: u8 = 0x80;

impl DecisionLog {
    /// The logged answer to a question in a replay. `None` where the answer has to be found and
    /// noted.
    pub(crate) fn played(&mut self, question: Question) -> Option<u64> {
        if self.in_predicate {
            return None;
        }
        let playing = self.playing.as_mut()?;
        let answer = answer_at(&self.answers, playing.answer);
        let Some(answer) = answer.filter(|answer| answer.question == question as u8) else {
            playing.diverged = true;
            return Some(0);
        };
        playing.answer = answer.next;
        Some(answer.value)
    }

    /// Notes an answer, unless the log is replayed.
    pub(crate) fn note(&mut self, question: Question, value: u64) {
        if self.in_predicate || self.playing.is_some() {
            return;
        }
        let first = question as u8 | ((value & 0b111) as u8) << 4;
        let mut rest = value >> FIRST_BITS;
        self.answers.push(first | if rest > 0 { MORE } else { 0 });
        while rest > 0 {
            let bits = (rest & 0x7f) as u8;
            rest >>= 7;
            self.answers.push(bits | if rest > 0 { MORE } else { 0 });
        }
    }

    /// The answer to a question: from the log in a replay, otherwise found by `find` and noted.
    pub(crate) fn answer(&mut self, question: Question, find: impl FnOnce() -> u64) -> u64 {
        match self.played(question) {
            Some(value) => value,
            None => {
                let value = find();
                self.note(question, value);
                value
            }
        }
    }

    /// As [`Self::answer`], for a question of yes or no.
    pub(crate) fn decide(&mut self, question: Question, find: impl FnOnce() -> bool) -> bool {
        self.answer(question, || u64::from(find())) != 0
    }

    /// Begins or ends the evaluation of a predicate, in which questions are not logged. Returns
    /// whether one was evaluated before.
    pub(crate) fn set_in_predicate(&mut self, in_predicate: bool) -> bool {
        std::mem::replace(&mut self.in_predicate, in_predicate)
    }

    /// Whether a predicate is evaluated, so that questions are not logged.
    pub(crate) const fn is_in_predicate(&self) -> bool {
        self.in_predicate
    }

    /// Counts a statement or terminator that begins.
    pub(crate) fn begin(&mut self) {
        self.begun += 1;
    }

    /// Begins to evaluate a statement's expressions for its labels, before the statement begins.
    /// Returns the argument for [`Self::end_early`].
    pub(crate) fn begin_early(&mut self) -> usize {
        // Noted before the evaluation, so that copies of the state made during it have the note.
        self.early.push(self.begun);
        self.answers.len()
    }

    /// Ends this evaluation. If it asked nothing, a replay need not repeat it.
    pub(crate) fn end_early(&mut self, answers: usize) {
        if self.answers.len() == answers {
            self.early.pop();
        }
    }

    /// Whether the log is replayed.
    pub(crate) const fn is_played(&self) -> bool {
        self.playing.is_some()
    }

    /// In a replay: whether a statement's expressions were evaluated before it began.
    pub(crate) fn was_early(&mut self) -> bool {
        let begun = self.begun;
        let Some(playing) = &mut self.playing else { return false };
        let early = self.early.get(playing.early) == Some(&begun);
        playing.early += usize::from(early);
        early
    }

    /// This log, for a replay from the end of `start`, which is a prefix of it.
    pub(crate) fn replayed_from(mut self, start: &Self) -> Self {
        self.playing = Some(ReplayPosition {
            answer: start.answers.len(),
            early: start.early.len(),
            until: self.begun,
            diverged: false,
        });
        self.begun = start.begun;
        self
    }

    /// The progress of a replay.
    pub(crate) fn progress(&self) -> ReplayProgress {
        let Some(playing) = self.playing else { return ReplayProgress::ToTheEnd };
        let all = playing.answer == self.answers.len() && playing.early == self.early.len();
        if playing.diverged || self.begun > playing.until {
            ReplayProgress::Diverged
        } else if all && self.begun == playing.until {
            ReplayProgress::ToTheEnd
        } else {
            ReplayProgress::InPart
        }
    }

    /// Ends a replay: from here on the log is recorded.
    pub(crate) fn record(&mut self) {
        self.playing = None;
    }

    /// Frees memory that is not needed while a state waits.
    pub(crate) fn shrink(&mut self) {
        self.answers.shrink_to_fit();
        self.early.shrink_to_fit();
    }
}

/// The progress of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplayProgress {
    InPart,
    ToTheEnd,
    /// The path asked another question than at the first time.
    Diverged,
}

/// An answer on the log.
struct LoggedAnswer {
    /// The number of its [`Question`].
    question: u8,
    value: u64,
    /// The position of the next answer.
    next: usize,
}

/// The answer at a position; `None` at the end.
fn answer_at(answers: &[u8], at: usize) -> Option<LoggedAnswer> {
    let first = *answers.get(at)?;
    let (mut value, mut shift, mut next) = (u64::from(first >> 4 & 0b111), FIRST_BITS, at + 1);
    let mut more = first & MORE != 0;
    while more {
        let byte = *answers.get(next)?;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        more = byte & MORE != 0;
        (shift, next) = (shift + 7, next + 1);
    }
    Some(LoggedAnswer { question: first & 0xf, value, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> (DecisionLog, DecisionLog) {
        let mut log = DecisionLog::default();
        log.note(Question::Side, 1);
        log.begin();
        let start = log.clone();
        let mark = log.begin_early();
        log.note(Question::Value, u64::MAX);
        log.end_early(mark);
        log.begin();
        log.note(Question::Way, 9);
        log.note(Question::Follow, 0);
        (start, log)
    }

    #[test]
    fn answers_come_back_in_the_order_in_which_they_were_noted() {
        let (start, log) = recorded();
        let mut log = log.replayed_from(&start);
        assert_eq!(log.progress(), ReplayProgress::InPart);
        assert!(log.was_early() && !log.was_early());
        assert_eq!(log.played(Question::Value), Some(u64::MAX));
        log.begin();
        assert_eq!(log.answer(Question::Way, || unreachable!("it is played")), 9);
        assert!(!log.decide(Question::Follow, || unreachable!("it is played")));
        assert_eq!(log.progress(), ReplayProgress::ToTheEnd);
        log.record();
        assert!(log.decide(Question::Side, || true));
    }

    #[test]
    fn another_question_than_the_first_time_is_noticed() {
        let (start, log) = recorded();
        let mut other = log.clone().replayed_from(&start);
        other.played(Question::Side);
        assert_eq!(other.progress(), ReplayProgress::Diverged);
        let mut longer = log.replayed_from(&start);
        longer.played(Question::Value);
        longer.played(Question::Way);
        longer.played(Question::Follow);
        longer.played(Question::Follow);
        assert_eq!(longer.progress(), ReplayProgress::Diverged);
    }

    #[test]
    fn questions_of_predicates_are_not_on_the_log() {
        let mut log = DecisionLog::default();
        let outer = log.set_in_predicate(true);
        assert_eq!(log.answer(Question::Value, || 7), 7);
        log.set_in_predicate(outer);
        assert!(log.answers.is_empty());
    }
}
