/* The workload of the bench of programs, with a tenth of its rows. */
#define ROWS 3000
#include "../programs/sqlite.c"
