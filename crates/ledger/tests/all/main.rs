//! Ledgers whose writers do not end as they should.

mod crash;
