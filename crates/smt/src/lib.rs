//! Hash-consed bit-vector, float and array terms, named rewrites, and solvers.
