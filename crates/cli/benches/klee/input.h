/* How the programs get their inputs, in KLEE and in Lydian. */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>
#include <stdint.h>

void klee_make_symbolic(void *object, size_t size, const char *name);

#define INPUT(object) klee_make_symbolic(&(object), sizeof(object), #object)

#endif
