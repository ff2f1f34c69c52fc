//! The suites that `lydian gen` writes, and suites that people write.

mod by_hand;
mod files;
mod firmware;
mod for_people;
mod frameworks;
mod in_all_builds;
mod interrupts;
mod of_programs;
mod on_demand;
mod stated_devices;
