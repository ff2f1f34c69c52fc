/* Sorting and searching. qsort is a merge sort, as it is on Linux: equal elements keep their order,
   and comparisons happen in the same sequence, so that a program that counts them agrees. */
#include "internal.h"

struct sorting {
    size_t size;
    int (*compare)(const void *, const void *, void *);
    void *context;
    char *buffer;
};

static void merge_sort(const struct sorting *by, char *base, size_t count) {
    if (count <= 1) return;
    size_t left = count / 2, right = count - left, size = by->size;
    char *a = base, *b = base + left * size, *to = by->buffer;
    merge_sort(by, a, left);
    merge_sort(by, b, right);
    while (left > 0 && right > 0) {
        if (by->compare(a, b, by->context) <= 0) {
            memcpy(to, a, size);
            a += size;
            left--;
        } else {
            memcpy(to, b, size);
            b += size;
            right--;
        }
        to += size;
    }
    if (left > 0) memcpy(to, a, left * size);
    memcpy(base, by->buffer, (count - right) * size);
}

/* Where the array is small, its copy is a local: a `malloc` would be one of the program's to an
   exploration, which could let it fail. */
enum { MOST_LOCAL = 1 << 16 };

static void sort_with_local(struct sorting by, char *base, size_t count) {
    char copy[count * by.size];
    by.buffer = copy;
    merge_sort(&by, base, count);
}

void qsort_r(void *base, size_t count, size_t size,
             int (*compare)(const void *, const void *, void *), void *context) {
    if (count < 2 || size == 0) return;
    char few[256];
    struct sorting by = {size, compare, context, few};
    if (count * size > MOST_LOCAL) {
        by.buffer = malloc(count * size);
        if (!by.buffer) return;
        merge_sort(&by, base, count);
        free(by.buffer);
    } else if (count * size > sizeof few) {
        sort_with_local(by, base, count);
    } else {
        merge_sort(&by, base, count);
    }
}

/* The context is the comparison of two arguments. */
struct plain_comparison {
    int (*compare)(const void *, const void *);
};
static int compare_plain(const void *a, const void *b, void *context) {
    return ((struct plain_comparison *)context)->compare(a, b);
}

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    struct plain_comparison plain = {compare};
    qsort_r(base, count, size, compare_plain, &plain);
}

void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *)) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *element = (const char *)base + middle * size;
        int order = compare(key, element);
        if (order == 0) return (void *)element;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
