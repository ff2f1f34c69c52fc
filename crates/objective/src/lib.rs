//! Test objectives: labels, one annotator a criterion, and the ledger of verdicts.
