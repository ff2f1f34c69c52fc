//! What a path was told that does not follow from the program and the path itself.
//!
//! A step asks such things of the model (which side of a branch, which object an address lies in), of
//! the solver (whether a trap is excluded) and of what the exploration knows (whether hyperlabels
//! still bounds a decision, how often a place was met). A [`DecisionLog`] holds the answers in their order.
//! All else that a step does to registers, memory and facts is determined by the program, so that a
//! path which is followed again with the same answers gets to the same state, whatever was covered,
//! asked or learnt meanwhile. Labels of tight instrumentation do not constrain their path: what their
//! predicates ask is not on the log.

/// What is asked. Each answer is kept with its question, so that a path which asks anything else the
/// second time is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Question {
    /// The side of a condition.
    Side,
    /// The way out of a switch.
    Way,
    /// Whether the path depends on a value that is not defined.
    Undefined,
    /// Whether a trap is excluded already.
    Safe,
    /// Which function a pointer points to.
    Callee,
    /// Whether a decision's conditions are evaluated at once.
    Merge,
    /// Whether a choice between values is one path.
    Choose,
    /// The value of a term on the model.
    Value,
    /// Whether a condition holds on the model.
    Holds,
    /// How many bytes an allocation surely fits in.
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
/// While it is recorded, answers are appended. While it is played, they are given back in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecisionLog {
    /// A byte for each answer with its question and the lowest bits of its value, and then the rest of
    /// the value, seven bits a byte, the lowest first.
    answers: Vec<u8>,
    /// Where a statement's expressions were evaluated before its labels were looked at, and asked
    /// something: how many statements had been begun. Whether there are labels may be otherwise the
    /// second time.
    early: Vec<u64>,
    /// How many statements and terminators the path began, each attempt counted.
    begun: u64,
    /// Predicates are evaluated.
    aside: bool,
    playing: Option<Playing>,
}

/// How far a log was played.
#[derive(Clone, Copy, Debug, Default)]
struct Playing {
    answer: usize,
    early: usize,
    /// How many statements the path is to begin.
    until: u64,
    /// Something else was asked than the first time.
    diverged: bool,
}

/// The bits of a value in the byte of its question.
const FIRST_BITS: u32 = 3;
const MORE: u8 = 0x80;

impl DecisionLog {
    /// The answer to a question if the log is played. Without one, the answer is to be found out and
    /// noted.
    pub(crate) fn played(&mut self, question: Question) -> Option<u64> {
        if self.aside {
            return None;
        }
        let playing = self.playing.as_mut()?;
        let answer = answer_at(&self.answers, playing.answer);
        let Some((_, value, next)) = answer.filter(|(asked, _, _)| *asked == question as u8) else {
            playing.diverged = true;
            return Some(0);
        };
        playing.answer = next;
        Some(value)
    }

    /// Notes an answer, unless the log is played.
    pub(crate) fn note(&mut self, question: Question, value: u64) {
        if self.aside || self.playing.is_some() {
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

    /// The answer to a question: from the log if it is played, else as found out and noted.
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

    /// The same for what is true or false.
    pub(crate) fn decide(&mut self, question: Question, find: impl FnOnce() -> bool) -> bool {
        self.answer(question, || u64::from(find())) != 0
    }

    /// Begins or ends what is asked for predicates alone; gives whether it was one before.
    pub(crate) fn set_aside(&mut self, aside: bool) -> bool {
        std::mem::replace(&mut self.aside, aside)
    }

    /// Whether what is asked now is asked for predicates alone.
    pub(crate) const fn is_aside(&self) -> bool {
        self.aside
    }

    /// A statement or terminator begins.
    pub(crate) fn begin(&mut self) {
        self.begun += 1;
    }

    /// A statement's expressions are evaluated for its labels, before it begins. Gives what
    /// [`Self::end_early`] wants.
    pub(crate) fn begin_early(&mut self) -> usize {
        // Noted before: copies that are made meanwhile are to have it.
        self.early.push(self.begun);
        self.answers.len()
    }

    /// That evaluation is over. It need not be done again if it asked nothing.
    pub(crate) fn end_early(&mut self, answers: usize) {
        if self.answers.len() == answers {
            self.early.pop();
        }
    }

    /// Whether the log is played.
    pub(crate) const fn is_played(&self) -> bool {
        self.playing.is_some()
    }

    /// While the log is played: whether a statement's expressions were evaluated before it began.
    pub(crate) fn was_early(&mut self) -> bool {
        let begun = self.begun;
        let Some(playing) = &mut self.playing else { return false };
        let early = self.early.get(playing.early) == Some(&begun);
        playing.early += usize::from(early);
        early
    }

    /// This log, to be played from where a shorter one ends that it goes on with.
    pub(crate) fn replayed_from(mut self, start: &Self) -> Self {
        self.playing = Some(Playing {
            answer: start.answers.len(),
            early: start.early.len(),
            until: self.begun,
            diverged: false,
        });
        self.begun = start.begun;
        self
    }

    /// How far a log was played.
    pub(crate) fn progress(&self) -> PlayedSoFar {
        let Some(playing) = self.playing else { return PlayedSoFar::ToTheEnd };
        let all = playing.answer == self.answers.len() && playing.early == self.early.len();
        if playing.diverged || self.begun > playing.until {
            PlayedSoFar::Diverged
        } else if all && self.begun == playing.until {
            PlayedSoFar::ToTheEnd
        } else {
            PlayedSoFar::InPart
        }
    }

    /// From here on the log is recorded again.
    pub(crate) fn record(&mut self) {
        self.playing = None;
    }

    /// Gives back memory that is not needed while a state waits.
    pub(crate) fn shrink(&mut self) {
        self.answers.shrink_to_fit();
        self.early.shrink_to_fit();
    }
}

/// How far a log was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlayedSoFar {
    InPart,
    ToTheEnd,
    /// The path asked something else than the first time.
    Diverged,
}

/// The answer that begins at a position: the number of its question, its value, and where the next one
/// begins.
fn answer_at(answers: &[u8], at: usize) -> Option<(u8, u64, usize)> {
    let first = *answers.get(at)?;
    let (mut value, mut shift, mut at) = (u64::from(first >> 4 & 0b111), FIRST_BITS, at + 1);
    let mut more = first & MORE != 0;
    while more {
        let byte = *answers.get(at)?;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        more = byte & MORE != 0;
        (shift, at) = (shift + 7, at + 1);
    }
    Some((first & 0xf, value, at))
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
        assert_eq!(log.progress(), PlayedSoFar::InPart);
        assert!(log.was_early() && !log.was_early());
        assert_eq!(log.played(Question::Value), Some(u64::MAX));
        log.begin();
        assert_eq!(log.answer(Question::Way, || unreachable!("it is played")), 9);
        assert!(!log.decide(Question::Follow, || unreachable!("it is played")));
        assert_eq!(log.progress(), PlayedSoFar::ToTheEnd);
        log.record();
        assert!(log.decide(Question::Side, || true));
    }

    #[test]
    fn another_question_than_the_first_time_is_noticed() {
        let (start, log) = recorded();
        let mut other = log.clone().replayed_from(&start);
        other.played(Question::Side);
        assert_eq!(other.progress(), PlayedSoFar::Diverged);
        let mut longer = log.replayed_from(&start);
        longer.played(Question::Value);
        longer.played(Question::Way);
        longer.played(Question::Follow);
        longer.played(Question::Follow);
        assert_eq!(longer.progress(), PlayedSoFar::Diverged);
    }

    #[test]
    fn what_predicates_ask_is_not_on_the_tape() {
        let mut log = DecisionLog::default();
        let outer = log.set_aside(true);
        assert_eq!(log.answer(Question::Value, || 7), 7);
        log.set_aside(outer);
        assert!(log.answers.is_empty());
    }
}
