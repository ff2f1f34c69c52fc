/* An allocator on memory that the caller hands in. Free blocks are in a list by address. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The head of a block. What the user gets lies right behind it. */
struct block {
    size_t size;        /* bytes behind the head */
    struct block *next; /* the next free block; the block itself while it is in use */
};

struct arena {
    unsigned char *start;
    unsigned char *end;
    struct block *free; /* sorted by address */
    size_t used;        /* bytes in use, without heads */
};

enum { ALIGN = _Alignof(max_align_t), SMALLEST = 2 * ALIGN };

_Static_assert(sizeof(struct block) % ALIGN == 0, "what lies behind a head must be aligned");

static size_t round_up(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static unsigned char *end_of(const struct block *block)
{
    return (unsigned char *)(block + 1) + block->size;
}

/* Makes one free block of the memory. Returns false if there is too little of it. */
bool arena_init(struct arena *arena, void *memory, size_t size)
{
    uintptr_t start = (uintptr_t)memory;
    size_t skip;

    if (arena == NULL || memory == NULL)
        return false;
    skip = (ALIGN - start % ALIGN) % ALIGN;
    if (size < skip + sizeof(struct block) + SMALLEST)
        return false;
    size = (size - skip) / ALIGN * ALIGN;
    arena->start = (unsigned char *)memory + skip;
    arena->end = arena->start + size;
    arena->used = 0;
    arena->free = (struct block *)arena->start;
    arena->free->size = size - sizeof(struct block);
    arena->free->next = NULL;
    return true;
}

/* Takes the first free block that is large enough, and gives back what is left of it. */
void *arena_alloc(struct arena *arena, size_t size)
{
    struct block **link;
    struct block *block;

    if (arena == NULL || size == 0 || size > PTRDIFF_MAX)
        return NULL;
    size = size < SMALLEST ? SMALLEST : round_up(size);
    for (link = &arena->free; *link != NULL; link = &(*link)->next) {
        if ((*link)->size >= size)
            break;
    }
    block = *link;
    if (block == NULL)
        return NULL;

    if (block->size - size >= sizeof(struct block) + SMALLEST) {
        struct block *rest = (struct block *)((unsigned char *)(block + 1) + size);
        rest->size = block->size - size - sizeof(struct block);
        rest->next = block->next;
        block->size = size;
        *link = rest;
    } else {
        *link = block->next;
    }
    block->next = block;
    arena->used += block->size;
    return block + 1;
}

/* The block of a pointer that arena_alloc gave; null if the pointer is not such a one. */
static struct block *block_of(const struct arena *arena, void *pointer)
{
    unsigned char *at = pointer;
    struct block *block;

    if (at < arena->start + sizeof(struct block) || at >= arena->end)
        return NULL;
    if ((size_t)(at - arena->start) % ALIGN != 0)
        return NULL;
    block = (struct block *)at - 1;
    return block->next == block ? block : NULL;
}

/* Gives a block back, and joins it with free neighbours. Returns false if it is not in use. */
bool arena_free(struct arena *arena, void *pointer)
{
    struct block *block, *before = NULL, *after;

    if (arena == NULL)
        return false;
    if (pointer == NULL)
        return true;
    block = block_of(arena, pointer);
    if (block == NULL)
        return false;
    arena->used -= block->size;

    after = arena->free;
    while (after != NULL && after < block) {
        before = after;
        after = after->next;
    }
    block->next = after;
    if (after != NULL && end_of(block) == (unsigned char *)after) {
        block->size += sizeof(struct block) + after->size;
        block->next = after->next;
    }
    if (before == NULL) {
        arena->free = block;
    } else if (end_of(before) == (unsigned char *)block) {
        before->size += sizeof(struct block) + block->size;
        before->next = block->next;
    } else {
        before->next = block;
    }
    return true;
}

/* As realloc: the old block stays if there is no room for the new one. */
void *arena_resize(struct arena *arena, void *pointer, size_t size)
{
    struct block *block;
    void *moved;

    if (pointer == NULL)
        return arena_alloc(arena, size);
    if (size == 0) {
        arena_free(arena, pointer);
        return NULL;
    }
    block = block_of(arena, pointer);
    if (block == NULL)
        return NULL;
    if (size <= block->size)
        return pointer;
    moved = arena_alloc(arena, size);
    if (moved == NULL)
        return NULL;
    memcpy(moved, pointer, block->size);
    arena_free(arena, pointer);
    return moved;
}

/* The size of the largest block that arena_alloc could give. */
size_t arena_largest(const struct arena *arena)
{
    size_t largest = 0;

    for (const struct block *block = arena->free; block != NULL; block = block->next) {
        if (block->size > largest)
            largest = block->size;
    }
    return largest;
}
