/* A hash table from strings to integers, with chains, that grows as it fills. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    uint32_t hash; /* of the key, kept so that growing need not compute it */
    int value;
    char key[]; /* ends with a NUL */
};

struct table {
    struct entry **buckets;
    size_t room; /* how many buckets: 0 or a power of two */
    size_t count;
};

enum { FIRST_ROOM = 8 };

/* FNV-1a. */
static uint32_t hash_of(const char *key)
{
    uint32_t hash = 2166136261u;

    for (; *key != '\0'; key++) {
        hash ^= (unsigned char)*key;
        hash *= 16777619u;
    }
    return hash;
}

void table_init(struct table *table)
{
    table->buckets = NULL;
    table->room = 0;
    table->count = 0;
}

/* Frees all entries. The table is empty then, and may be used again. */
void table_clear(struct table *table)
{
    for (size_t i = 0; i < table->room; i++) {
        struct entry *entry = table->buckets[i];
        while (entry != NULL) {
            struct entry *next = entry->next;
            free(entry);
            entry = next;
        }
    }
    free(table->buckets);
    table_init(table);
}

/* Returns the link that leads to the entry of the key, or the null link at the chain's end. */
static struct entry **find(const struct table *table, const char *key, uint32_t hash)
{
    struct entry **link = &table->buckets[hash & (table->room - 1)];

    while (*link != NULL) {
        if ((*link)->hash == hash && strcmp((*link)->key, key) == 0)
            break;
        link = &(*link)->next;
    }
    return link;
}

/* Doubles the number of buckets. The old ones stay if memory is short. */
static bool grow(struct table *table)
{
    size_t room = table->room == 0 ? FIRST_ROOM : table->room * 2;
    struct entry **buckets;

    if (room > SIZE_MAX / sizeof *buckets)
        return false;
    buckets = calloc(room, sizeof *buckets);
    if (buckets == NULL)
        return false;
    for (size_t i = 0; i < table->room; i++) {
        struct entry *entry = table->buckets[i];
        while (entry != NULL) {
            struct entry *next = entry->next;
            struct entry **head = &buckets[entry->hash & (room - 1)];
            entry->next = *head;
            *head = entry;
            entry = next;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->room = room;
    return true;
}

/* Sets the value of a key. Returns false, and changes nothing, if memory is short. */
bool table_put(struct table *table, const char *key, int value)
{
    uint32_t hash;
    struct entry **link;
    struct entry *entry;
    size_t bytes;

    if (table == NULL || key == NULL)
        return false;
    hash = hash_of(key);
    if (table->room > 0) {
        link = find(table, key, hash);
        if (*link != NULL) {
            (*link)->value = value;
            return true;
        }
    }
    /* A full table still works if it cannot grow: its chains get longer. */
    if (table->count >= table->room - table->room / 4 && !grow(table) && table->room == 0)
        return false;

    bytes = strlen(key) + 1;
    entry = malloc(sizeof *entry + bytes);
    if (entry == NULL)
        return false;
    entry->hash = hash;
    entry->value = value;
    memcpy(entry->key, key, bytes);
    link = &table->buckets[hash & (table->room - 1)];
    entry->next = *link;
    *link = entry;
    table->count++;
    return true;
}

/* Looks a key up. `value` may be null. */
bool table_get(const struct table *table, const char *key, int *value)
{
    const struct entry *entry;

    if (table == NULL || key == NULL || table->count == 0)
        return false;
    entry = *find(table, key, hash_of(key));
    if (entry == NULL)
        return false;
    if (value != NULL)
        *value = entry->value;
    return true;
}

/* Takes a key out. Returns false if it is not there. */
bool table_remove(struct table *table, const char *key)
{
    struct entry **link;
    struct entry *entry;

    if (table == NULL || key == NULL || table->count == 0)
        return false;
    link = find(table, key, hash_of(key));
    entry = *link;
    if (entry == NULL)
        return false;
    *link = entry->next;
    free(entry);
    table->count--;
    return true;
}
