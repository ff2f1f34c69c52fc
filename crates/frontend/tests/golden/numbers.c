/* Long double, complex numbers and vectors. */
typedef int pair __attribute__((vector_size(8)));

long double third(long double x) { return x / 3.0L; }

_Float16 half(_Float16 a, _Float16 b) { return a * b + a; }

double norm(_Complex double z) { return __real__ z + __imag__ (z * 2.0i); }

pair sum(pair a, pair b) { return a + b; }
