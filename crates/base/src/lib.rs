//! Ids, arenas, files and spans, diagnostics, budgets and seeded randomness.
