//! Typed control-flow graph IR: layouts, text form, verifier, dominators and loops, concrete interpreter.
