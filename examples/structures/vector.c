/* A vector of integers that grows as needed. No call loses elements if memory is short. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct vector {
    int *data;     /* null while there is no room */
    size_t length;
    size_t room;   /* at least `length` */
};

enum vector_status { VECTOR_OK = 0, VECTOR_NO_MEMORY = -1, VECTOR_BAD_INDEX = -2, VECTOR_BAD_ARGUMENT = -3 };

enum { SMALLEST_ROOM = 4 };

void vector_init(struct vector *v)
{
    v->data = NULL;
    v->length = 0;
    v->room = 0;
}

void vector_free(struct vector *v)
{
    if (v == NULL)
        return;
    free(v->data);
    vector_init(v);
}

/* Makes room for so many elements at least. */
int vector_reserve(struct vector *v, size_t room)
{
    int *data;

    if (room <= v->room)
        return VECTOR_OK;
    if (room > SIZE_MAX / sizeof *data)
        return VECTOR_NO_MEMORY;
    data = realloc(v->data, room * sizeof *data);
    if (data == NULL)
        return VECTOR_NO_MEMORY;
    v->data = data;
    v->room = room;
    return VECTOR_OK;
}

/* Makes room for `more` further elements, and some to spare. */
static int make_room(struct vector *v, size_t more)
{
    size_t needed, room;

    if (more <= v->room - v->length)
        return VECTOR_OK;
    if (more > SIZE_MAX - v->length)
        return VECTOR_NO_MEMORY;
    needed = v->length + more;
    room = v->room < SMALLEST_ROOM ? SMALLEST_ROOM : v->room;
    while (room < needed) {
        if (room > SIZE_MAX / 2) {
            room = needed;
            break;
        }
        room *= 2;
    }
    if (vector_reserve(v, room) == VECTOR_OK)
        return VECTOR_OK;
    return vector_reserve(v, needed); /* memory may be there for just that */
}

int vector_push(struct vector *v, int value)
{
    int status = make_room(v, 1);

    if (status != VECTOR_OK)
        return status;
    v->data[v->length++] = value;
    return VECTOR_OK;
}

/* Takes the last element off. `value` may be null. */
int vector_pop(struct vector *v, int *value)
{
    if (v->length == 0)
        return VECTOR_BAD_INDEX;
    v->length--;
    if (value != NULL)
        *value = v->data[v->length];
    return VECTOR_OK;
}

/* Inserts `count` values before the element at `index`. They must not lie in the vector itself. */
int vector_insert(struct vector *v, size_t index, const int *values, size_t count)
{
    int status;

    if (v == NULL || (values == NULL && count > 0))
        return VECTOR_BAD_ARGUMENT;
    if (index > v->length)
        return VECTOR_BAD_INDEX;
    if (count == 0)
        return VECTOR_OK;
    status = make_room(v, count);
    if (status != VECTOR_OK)
        return status;
    memmove(v->data + index + count, v->data + index, (v->length - index) * sizeof *v->data);
    memcpy(v->data + index, values, count * sizeof *values);
    v->length += count;
    return VECTOR_OK;
}

/* Removes the elements from `first` to just before `end`. */
int vector_erase(struct vector *v, size_t first, size_t end)
{
    if (first > end || end > v->length)
        return VECTOR_BAD_INDEX;
    if (first == end)
        return VECTOR_OK;
    memmove(v->data + first, v->data + end, (v->length - end) * sizeof *v->data);
    v->length -= end - first;
    return VECTOR_OK;
}

/* Gives back memory that is not needed. */
void vector_shrink(struct vector *v)
{
    int *data;

    if (v->room == v->length)
        return;
    if (v->length == 0) {
        vector_free(v);
        return;
    }
    data = realloc(v->data, v->length * sizeof *data);
    if (data == NULL)
        return; /* the larger block is still good */
    v->data = data;
    v->room = v->length;
}

/* Returns the index of the first element with the value, or the length if there is none. */
size_t vector_find(const struct vector *v, int value)
{
    size_t i = 0;

    while (i < v->length && v->data[i] != value)
        i++;
    return i;
}

/* Removes all elements with the value and keeps the order of the others. */
size_t vector_remove_all(struct vector *v, int value)
{
    size_t kept = 0, removed;

    for (size_t i = 0; i < v->length; i++) {
        if (v->data[i] != value)
            v->data[kept++] = v->data[i];
    }
    removed = v->length - kept;
    v->length = kept;
    return removed;
}
