//! Independent tasks on several threads.
//!
//! Threads take tasks in their order, and results are returned in that order too, whatever the number
//! of threads and the order in which they finish.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lydian_base::CancelToken;

use crate::error::Error;

/// Bytes of a thread's stack. Only used pages take memory. Recursion follows the depth of terms and
/// expressions.
const STACK: usize = 64 << 20;

/// The results of tasks.
pub(crate) struct Results<R> {
    /// The tasks that were done, by position, in order.
    pub(crate) done: Vec<(usize, R)>,
    /// The error of the first task that failed.
    pub(crate) failure: Option<Error>,
}

/// The number of threads for a number of tasks: the user's, else one for each core.
pub(crate) fn count(asked: Option<NonZeroUsize>, tasks: usize) -> usize {
    jobs(asked).min(tasks.max(1))
}

/// The number of workers for the next task, when `left` tasks are left. Each task has one while there
/// are as many tasks as threads. The last tasks, during which threads would otherwise be idle, have
/// more. The number depends on the number of jobs alone, never on the order in which threads finish, so
/// the findings of workers are the same in each run.
pub(crate) fn within(asked: Option<NonZeroUsize>, left: usize) -> usize {
    (jobs(asked) / left.max(1)).max(1)
}

/// The number of threads: the user's, else one for each core.
pub(crate) fn jobs(asked: Option<NonZeroUsize>) -> usize {
    let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    asked.unwrap_or_else(cores).get()
}

/// Runs tasks in one thread for each of `workers`, which are the threads' own data. A task that fails
/// or panics cancels the others. Once `cancel` is cancelled no task is begun, and running tasks are to
/// stop early. A panic is propagated.
pub(crate) fn work_on<T: Sync, W: Send, R: Send>(
    tasks: &[T],
    workers: Vec<W>,
    cancel: &CancelToken,
    work: impl Fn(&T, &mut W) -> Result<R, Error> + Sync,
) -> Result<Results<R>, Error> {
    let next = AtomicUsize::new(0);
    let take_tasks = |mut worker: W| {
        let _guard = CancelOnPanic(cancel);
        let mut results = Vec::new();
        while !cancel.is_cancelled() {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(position) else { break };
            let result = work(task, &mut worker);
            if result.is_err() {
                cancel.cancel();
            }
            results.push((position, result));
        }
        results
    };
    let mut results = thread::scope(|scope| {
        let start = |worker| {
            let thread = thread::Builder::new().name("worker".into()).stack_size(STACK);
            let started = thread.spawn_scoped(scope, || take_tasks(worker));
            started.map_err(|error| {
                cancel.cancel();
                Error::environment("threads", format!("cannot start a thread: {error}"))
            })
        };
        let threads = workers.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let ends = threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>();
        let of_thread = |end: thread::Result<_>| end.unwrap_or_else(|panic| resume_unwind(panic));
        Ok::<_, Error>(ends.into_iter().flat_map(of_thread).collect::<Vec<_>>())
    })?;
    results.sort_by_key(|(position, _)| *position);
    let mut all = Results { done: Vec::new(), failure: None };
    for (position, result) in results {
        match result {
            Ok(done) => all.done.push((position, done)),
            Err(failure) => all.failure = all.failure.or(Some(failure)),
        }
    }
    Ok(all)
}

/// Cancels the other threads if this one panics.
struct CancelOnPanic<'c>(&'c CancelToken);

impl Drop for CancelOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, Condvar, Mutex};

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_tasks_whichever_is_done_first() {
        // The first task waits until the last one is done.
        let (last_is_done, told) = (Mutex::new(false), Condvar::new());
        let work = |task: &u32, worker: &mut Vec<u32>| {
            if *task == 0 {
                let guard = last_is_done.lock().unwrap();
                drop(told.wait_while(guard, |is_done| !*is_done).unwrap());
            }
            worker.push(*task);
            if *task == 9 {
                *last_is_done.lock().unwrap() = true;
                told.notify_all();
            }
            Ok((task * task, worker.len()))
        };
        let tasks: Vec<u32> = (0..10).collect();
        let all = work_on(&tasks, vec![vec![]; 2], &CancelToken::new(), work).unwrap();
        assert!(all.failure.is_none());
        let squares: Vec<(usize, u32)> = all.done.iter().map(|(at, done)| (*at, done.0)).collect();
        assert_eq!(squares, tasks.iter().map(|t| (*t as usize, t * t)).collect::<Vec<_>>());
        assert_eq!(all.done[0].1.1, 1, "one thread had the first task alone");
        assert_eq!(all.done[9].1.1, 9, "the other one had all others");
    }

    #[test]
    fn a_task_that_fails_stops_the_others_and_what_is_done_is_kept() {
        let (cancel, both) = (CancelToken::new(), Barrier::new(2));
        let work = |task: &u32, _: &mut ()| {
            both.wait();
            if *task == 1 {
                return Err(Error::usage("test", "the second task fails"));
            }
            while !cancel.is_cancelled() {
                thread::yield_now();
            }
            Ok(())
        };
        let all = work_on(&[0, 1, 2, 3], vec![(), ()], &cancel, work).unwrap();
        assert_eq!(all.done, [(0, ())], "the first ended in order, no other was begun");
        assert_eq!(all.failure.unwrap().diagnostics[0].message, "the second task fails");
    }

    #[test]
    fn a_panic_stops_the_others_and_goes_on() {
        let (cancel, both) = (CancelToken::new(), Barrier::new(2));
        let work = |task: &u32, _: &mut ()| {
            both.wait();
            assert!(*task == 0, "task {task} panics");
            while !cancel.is_cancelled() {
                thread::yield_now();
            }
            Ok(())
        };
        let run = || work_on(&[0, 1], vec![(), ()], &cancel, work).map(|all| all.done.len());
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "task 1 panics");
    }

    #[test]
    fn there_are_as_many_threads_as_asked_for_but_no_more_than_tasks() {
        assert_eq!(count(NonZeroUsize::new(3), 8), 3);
        assert_eq!(count(NonZeroUsize::new(3), 2), 2);
        assert_eq!(count(NonZeroUsize::new(3), 0), 1);
        assert!(count(None, 1000) >= 1);
    }

    #[test]
    fn the_last_tasks_have_the_workers_that_no_other_task_needs() {
        let four = NonZeroUsize::new(4);
        let of_six: Vec<usize> = (0..6).map(|at| within(four, 6 - at)).collect();
        assert_eq!(of_six, [1, 1, 1, 1, 2, 4]);
        assert_eq!(within(NonZeroUsize::new(1), 1), 1);
        assert_eq!(within(NonZeroUsize::new(2), 1), 2);
    }
}
