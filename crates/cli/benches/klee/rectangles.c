/* Small: how two rectangles lie. */
#include "input.h"

struct rectangle {
    int left, top, right, bottom;
};

enum relation { INVALID = -1, APART, OVERLAPPING, INSIDE, OUTSIDE };

static int is_valid(const struct rectangle *r)
{
    return r->left < r->right && r->top < r->bottom;
}

static int contains(const struct rectangle *a, const struct rectangle *b)
{
    return a->left <= b->left && b->right <= a->right && a->top <= b->top && b->bottom <= a->bottom;
}

static enum relation relation_of(const struct rectangle *a, const struct rectangle *b)
{
    if (!is_valid(a) || !is_valid(b))
        return INVALID;
    if (a->right <= b->left || b->right <= a->left || a->bottom <= b->top || b->bottom <= a->top)
        return APART;
    if (contains(a, b))
        return OUTSIDE;
    return contains(b, a) ? INSIDE : OVERLAPPING;
}

int main(void)
{
    struct rectangle a, b;

    INPUT(a);
    INPUT(b);
    return relation_of(&a, &b);
}
