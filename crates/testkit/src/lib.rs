//! Generators, oracles and the golden-test runner (development only).
