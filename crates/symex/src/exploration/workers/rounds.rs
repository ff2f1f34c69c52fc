//! Rounds of work, and the deliveries between workers at their ends.
//!
//! What a worker tells at the end of a round reaches each other worker [`LAG`] rounds after the
//! next round begins: always then, and never earlier, however fast the workers are. Each pair of
//! workers has a channel in each direction with one delivery for each round. So a worker that is
//! too far ahead waits for the delivery that is due, and no worker waits for anything else. All
//! decide from the same notices, of the same round, whether the exploration is at its end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use lydian_ir::{BlockId, FuncId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::exploration::explore::Engine;
use crate::exploration::outcome::FoundTest;
use crate::exploration::workers::state_transfer::Parcel;
use crate::exploration::workers::synchronisation::Findings;
use crate::exploration::workers::{FoundByWorker, TestMessage, Totals};
use crate::goals::labels::GoalId;
use crate::machine::FollowedValues;
use crate::machine::traps::crashes::CrashPlace;

/// How many rounds a delivery is under way. With 0, each round would take as long as that of the
/// slowest worker.
const LAG: u64 = 1;
/// A worker is given states where another one has more than this many times as many.
const HUNGER: usize = 8;
/// A worker with fewer states gives none away.
const FEWEST: usize = 4;

/// The status of a worker at the end of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notice {
    totals: Totals,
    /// Whether it has no states.
    idle: bool,
    /// Whether nothing at all is left, and no state can come.
    done: bool,
    /// How many states and findings it sent and received since the other workers started. Findings
    /// for several workers count once for each.
    sent: u64,
    received: u64,
    /// Whether it stopped, so that no delivery follows.
    ended: bool,
}

/// The message of a worker to another at the end of a round.
struct Delivery {
    notice: Notice,
    /// Labels that given tests cover.
    covered: Vec<GoalId>,
    /// Labels with sites that were passed.
    reached: Vec<GoalId>,
    /// The places of traps of tests.
    crashes: Vec<CrashPlace>,
    /// New knowledge about hyperlabels.
    findings: Arc<Findings>,
    parcels: Vec<Parcel>,
    /// Tests, for the worker that talks to the caller.
    tests: Vec<FoundByWorker>,
}

/// The ends of channels that one worker has.
pub(crate) struct Links {
    index: usize,
    to: Vec<Option<Sender<Delivery>>>,
    from: Vec<Option<Receiver<Delivery>>>,
}

impl Links {
    /// Makes the channels between so many workers. Returns the links of each.
    pub(crate) fn between(count: usize) -> Vec<Self> {
        let none = || (0..count).map(|_| None).collect::<Vec<_>>();
        let mut all: Vec<Self> = (0..count)
            .map(|index| Self {
                index,
                to: none().into_iter().map(|_: Option<()>| None).collect(),
                from: none().into_iter().map(|_: Option<()>| None).collect(),
            })
            .collect();
        for sender in 0..count {
            for receiver in (0..count).filter(|receiver| *receiver != sender) {
                let (to, from) = channel();
                all[sender].to[receiver] = Some(to);
                all[receiver].from[sender] = Some(from);
            }
        }
        all
    }
}

/// The start of a worker that begins to help.
pub(crate) struct WorkerStart {
    parcels: Vec<Parcel>,
    covered: Vec<GoalId>,
    reached: Vec<GoalId>,
    crashes: Vec<CrashPlace>,
    findings: Arc<Findings>,
    choices: FxHashMap<(FuncId, BlockId), u32>,
    followed_values: FollowedValues,
    shortages: Arc<AtomicU64>,
}

/// The part of a worker in the rounds.
pub(crate) struct RoundMember {
    links: Links,
    /// The work of a round, in steps.
    size: u64,
    round: u64,
    /// Its own notices that are not in `view` yet.
    own: VecDeque<Notice>,
    /// The notice of each worker, of the last round for which every worker knows them all.
    view: Vec<Notice>,
    /// For each worker, the round until which it is given no states, since the effect of those it
    /// got is not yet in its notices.
    fed: Vec<u64>,
    sent: u64,
    received: u64,
    /// Whether all states were run.
    last_phase: bool,
    /// The labels that the others know this worker to have reached.
    told: FxHashSet<GoalId>,
}

impl RoundMember {
    pub(crate) fn new(links: Links, size: u64) -> Self {
        let count = links.to.len();
        Self {
            links,
            size,
            round: 0,
            own: VecDeque::new(),
            view: vec![Notice::default(); count],
            fed: vec![0; count],
            sent: 0,
            received: 0,
            last_phase: false,
            told: FxHashSet::default(),
        }
    }

    /// The pairs of a worker that gives states and a worker that gets them. All workers compute the
    /// same pairs.
    fn pairs(&mut self) -> Vec<(usize, usize)> {
        if self.round <= LAG || self.last_phase {
            return Vec::new();
        }
        let waiting = |at: &usize| self.view[*at].totals.waiting;
        let all = 0..self.view.len();
        let mut givers: Vec<usize> = all.clone().filter(|at| waiting(at) >= FEWEST).collect();
        givers.sort_by_key(|at| std::cmp::Reverse(waiting(at)));
        let Some(most) = givers.first().map(waiting) else { return Vec::new() };
        let is_hungry = |at: &usize| waiting(at) * HUNGER < most && self.round >= self.fed[*at];
        let hungry: Vec<usize> = all.filter(is_hungry).collect();
        for at in &hungry {
            self.fed[*at] = self.round + 2 * (LAG + 1);
        }
        let givers = givers.into_iter().cycle();
        givers.zip(hungry).filter(|(giver, taker)| giver != taker).collect()
    }
}

impl Engine<'_, '_> {
    /// The starts of workers that begin to help: equal shares of the waiting states.
    pub(crate) fn seeds(&mut self, count: usize) -> Vec<WorkerStart> {
        let shares = self.shares(count);
        let crashes = self.machine.found_crashes();
        let given = std::mem::take(&mut self.exchange.given);
        let covered: Vec<GoalId> = given.into_iter().flat_map(|given| given.goals).collect();
        let reached: Vec<GoalId> = self.goals.labels.reached().collect();
        let findings = self.all_findings();
        let seed = |parcels| WorkerStart {
            parcels,
            covered: covered.clone(),
            reached: reached.clone(),
            crashes: crashes.clone(),
            findings: findings.clone(),
            choices: self.merging.choices.clone(),
            followed_values: self.machine.followed_values().clone(),
            shortages: self.exchange.shortages.clone(),
        };
        shares.into_iter().map(seed).collect()
    }

    /// Gives its share to an engine that was just set up.
    pub(crate) fn begin_to_help(&mut self, member: &RoundMember, seed: WorkerStart) {
        // The first worker's engine was set up in the same way, and has counted and noted these
        // already.
        self.paths.clear();
        self.machine.begin_as(member.links.index, seed.followed_values);
        self.exchange.index = member.links.index;
        self.exchange.count = member.view.len();
        self.exchange.on = true;
        self.share();
        self.exchange.shortages = seed.shortages;
        self.merging.choices = seed.choices;
        self.learn(&seed.covered, &seed.reached, &seed.crashes);
        self.learn_findings(&seed.findings, false);
        seed.parcels.into_iter().for_each(|parcel| self.unpack(parcel));
    }

    /// Takes part in rounds until everything is explored or the exploration is to stop. A worker
    /// that does not talk to the caller finds its tests in an `outbox`.
    pub(crate) fn take_part(
        &mut self,
        member: &mut RoundMember,
        outbox: Option<&RefCell<Vec<Box<FoundTest>>>>,
    ) {
        while self.receive(member) {
            let until = self.work() + member.size;
            let mut is_busy = true;
            while !self.stopped && self.work() < until && is_busy {
                is_busy = self.work_on(member.last_phase);
            }
            self.send(member, outbox, is_busy);
            self.log_round(member);
            if self.stopped {
                return;
            }
            member.round += 1;
        }
    }

    fn log_round(&self, member: &RoundMember) {
        let Totals { waiting, paths, steps, queries } = self.totals();
        log::debug!(
            "worker {} after round {}: {waiting} states wait, {paths} paths, {steps} steps, {queries} \
             questions; {} states and findings sent, {} received",
            member.links.index,
            member.round,
            member.sent,
            member.received
        );
    }

    /// Does one piece of work. It replays inputs for questions of others, runs a state or, in the
    /// last phase, asks a question that waited until all states were run. Returns false where there
    /// is nothing to do.
    fn work_on(&mut self, last_phase: bool) -> bool {
        if !self.goals.runs.is_empty() {
            self.run_replays();
            return true;
        }
        self.run_one()
            || last_phase
                && (self.look_at_next_labels()
                    || self.look_at_next_rows()
                    || self.look_at_next_pairs()
                    || !self.stopped && self.goals.follow_all_that_cover())
    }

    /// Receives the deliveries of a round. Returns false where everything is done.
    fn receive(&mut self, member: &mut RoundMember) -> bool {
        if member.round <= LAG {
            return true;
        }
        let begun = Instant::now();
        for sender in 0..member.view.len() {
            let Some(from) = &member.links.from[sender] else { continue };
            match from.recv() {
                Ok(delivery) => {
                    member.received += delivery.parcels.len() as u64;
                    member.received += u64::from(!delivery.findings.is_empty());
                    member.view[sender] = delivery.notice;
                    if delivery.notice.ended {
                        member.links.from[sender] = None;
                    }
                    self.machine.statistics.waited += begun.elapsed();
                    self.take_delivery(delivery);
                }
                // It ended early; the worker that started it reports why.
                Err(_) => {
                    member.view[sender].ended = true;
                    member.links.from[sender] = None;
                }
            }
        }
        let index = member.links.index;
        member.view[index] = member.own.pop_front().unwrap_or_default();
        let others = member.view.iter().enumerate().filter(|(at, _)| *at != index);
        self.exchange.others = Totals::default();
        for (_, notice) in others {
            self.exchange.others.add(notice.totals);
        }
        if index == 0 {
            self.tell_progress();
        }
        let view = &member.view;
        // A worker that stopped either met a limit, or knows that nothing is left.
        self.stopped |= view.iter().any(|notice| notice.ended);
        let sum = |of: fn(&Notice) -> u64| view.iter().map(of).sum::<u64>();
        let none_underway = sum(|notice| notice.sent) == sum(|notice| notice.received);
        if !member.last_phase && none_underway && view.iter().all(|notice| notice.idle) {
            member.last_phase = true;
            self.goals.sort_deferred_labels();
            return true;
        }
        !(member.last_phase && none_underway && view.iter().all(|notice| notice.done))
    }

    fn take_delivery(&mut self, delivery: Delivery) {
        delivery.tests.into_iter().for_each(|found| self.pass_on(found));
        self.learn(&delivery.covered, &delivery.reached, &delivery.crashes);
        self.learn_findings(&delivery.findings, true);
        delivery.parcels.into_iter().for_each(|parcel| self.unpack(parcel));
    }

    /// Notes the results of another worker.
    fn learn(&mut self, covered: &[GoalId], reached: &[GoalId], crashes: &[CrashPlace]) {
        covered.iter().for_each(|goal| self.goals.labels.cover_elsewhere(*goal));
        reached.iter().for_each(|goal| self.goals.labels.note_reached(*goal));
        for place in crashes {
            self.machine.note_crash(*place);
        }
    }

    /// Tells the others the results of a round, and whether there was anything to do at its end.
    /// Gives states to workers that have few.
    fn send(
        &mut self,
        member: &mut RoundMember,
        outbox: Option<&RefCell<Vec<Box<FoundTest>>>>,
        is_busy: bool,
    ) {
        let index = member.links.index;
        let mut parcels: Vec<Vec<Parcel>> = member.view.iter().map(|_| Vec::new()).collect();
        for (to, parcel) in std::mem::take(&mut self.exchange.back) {
            parcels[to].push(parcel);
        }
        let takers: Vec<usize> = member
            .pairs()
            .into_iter()
            .filter(|(giver, _)| *giver == index)
            .map(|(_, taker)| taker)
            .collect();
        if !takers.is_empty() && !self.stopped {
            for (taker, share) in takers.iter().zip(self.shares(takers.len())) {
                parcels[*taker].extend(share);
            }
        }
        member.sent += parcels.iter().map(|parcels| parcels.len() as u64).sum::<u64>();
        let given = std::mem::take(&mut self.exchange.given);
        let covered: Vec<GoalId> = given.iter().flat_map(|given| &given.goals).copied().collect();
        let crashes: Vec<CrashPlace> = given.iter().filter_map(|given| given.crash).collect();
        let findings = self.findings(given.iter().map(|given| given.has.clone()).collect());
        if !findings.is_empty() {
            member.sent += member.view.len() as u64 - 1;
        }
        let reached = self.goals.labels.reached();
        let reached: Vec<GoalId> = reached.filter(|goal| member.told.insert(*goal)).collect();
        let mut tests = found_tests(outbox, given);
        let idle = self.frontier.is_empty() && self.goals.runs.is_empty();
        let notice = Notice {
            totals: self.totals(),
            idle,
            done: member.last_phase && idle && !is_busy,
            sent: member.sent,
            received: member.received,
            ended: self.stopped,
        };
        member.own.push_back(notice);
        for (receiver, parcels) in parcels.into_iter().enumerate() {
            let Some(to) = &member.links.to[receiver] else { continue };
            let tests = if receiver == 0 { std::mem::take(&mut tests) } else { Vec::new() };
            let (covered, reached) = (covered.clone(), reached.clone());
            let (crashes, findings) = (crashes.clone(), Arc::clone(&findings));
            let delivery = Delivery { notice, covered, reached, crashes, findings, parcels, tests };
            // A worker that ended needs no delivery.
            let _ = to.send(delivery);
        }
    }

    fn totals(&self) -> Totals {
        Totals {
            waiting: self.frontier.len(),
            paths: self.paths.values().sum(),
            steps: self.machine.statistics.steps,
            queries: self.machine.statistics.queries,
        }
    }

    /// Takes the deliveries that were under way after the first worker's last round.
    pub(crate) fn hear_the_rest(&mut self, member: RoundMember) {
        let Links { to, from, .. } = member.links;
        // The others must not wait for this worker.
        drop(to);
        for from in from.into_iter().flatten() {
            for delivery in from {
                delivery.tests.into_iter().for_each(|found| self.pass_on(found));
                self.learn(&delivery.covered, &delivery.reached, &delivery.crashes);
            }
        }
    }
}

/// The tests of a worker's outbox, each with its message to other workers.
pub(crate) fn found_tests(
    outbox: Option<&RefCell<Vec<Box<FoundTest>>>>,
    given: Vec<TestMessage>,
) -> Vec<FoundByWorker> {
    let tests = outbox.map(RefCell::take).unwrap_or_default();
    tests.into_iter().zip(given).map(|(test, given)| FoundByWorker { test, given }).collect()
}

impl Totals {
    fn add(&mut self, more: Self) {
        self.waiting += more.waiting;
        self.paths += more.paths;
        self.steps += more.steps;
        self.queries += more.queries;
    }
}
