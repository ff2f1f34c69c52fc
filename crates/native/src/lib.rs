//! Source rewriting, run-time library, harnesses, the runner process and harvesting.
