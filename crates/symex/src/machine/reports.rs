//! Notes of a machine for the exploration that runs it.

pub(crate) mod accesses;
pub(crate) mod bounds_monitor;
pub(crate) mod clock;
pub(crate) mod cutting;
pub(crate) mod dependences;
pub(crate) mod omissions;
pub(crate) mod outbox;
pub(crate) mod statistics;
pub(crate) mod undetermined;
