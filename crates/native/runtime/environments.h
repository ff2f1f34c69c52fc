/* Environments of sequences under way: the values that their first atoms bound.
 *
 * Part of the text of an instrumented unit, and of the runner. Nodes come from one array, and
 * the nodes of a set are linked by `next`. A hash of the owner and the values finds a node, so
 * that none is kept twice. The owner is a sequence, its position in it, and the activation if
 * the sequence must lie in one. Node 0 stands for none. The caller holds the lock. A caller that
 * does not get the lock gives up after some time, since a signal handler may have interrupted
 * the holder. */
struct lydian_node {
    unsigned int next, before, chain, bucket, words;
    unsigned long long owner;
    unsigned long long values[LYDIAN_VALUES];
};
static struct lydian_node lydian_nodes[LYDIAN_NODES];
static unsigned int lydian_buckets[LYDIAN_BUCKETS];
static unsigned int lydian_free_nodes, lydian_used_nodes, lydian_busy;

static __attribute__((unused)) int lydian_lock(void) {
    int tries;
    for (tries = 0; tries < 65536; tries++)
        if (!__atomic_exchange_n(&lydian_busy, 1u, 2)) return 1;
    return 0;
}

static __attribute__((unused)) void lydian_unlock(void) { __atomic_store_n(&lydian_busy, 0u, 3); }

static __attribute__((unused)) const unsigned long long *lydian_values(unsigned int node) {
    return lydian_nodes[node].values;
}

static __attribute__((unused)) unsigned int lydian_next(unsigned int node) {
    return lydian_nodes[node].next;
}

static unsigned int lydian_bucket(unsigned long long owner, unsigned int words,
                                  const unsigned long long *values) {
    unsigned long long hash = owner * 0x9e3779b97f4a7c15ull;
    unsigned int word;
    for (word = 0; word < words; word++) {
        hash = (hash ^ values[word]) * 0xbf58476d1ce4e5b9ull;
        hash ^= hash >> 29;
    }
    return (unsigned int)(hash >> 32) % LYDIAN_BUCKETS;
}

/* The node with these values in the set of an owner; 0 if there is none. */
static __attribute__((unused)) unsigned int lydian_find(unsigned long long owner, unsigned int words,
                                                        const unsigned long long *values) {
    unsigned int word, node = lydian_buckets[lydian_bucket(owner, words, values)];
    for (; node; node = lydian_nodes[node].chain) {
        if (lydian_nodes[node].owner != owner || lydian_nodes[node].words != words) continue;
        for (word = 0; word < words; word++)
            if (lydian_nodes[node].values[word] != values[word]) break;
        if (word == words) return node;
    }
    return 0;
}

/* Adds to a set; 0 if there is no room. */
static __attribute__((unused)) int lydian_add(unsigned int *set, unsigned long long owner,
                                              unsigned int words,
                                              const unsigned long long *values) {
    unsigned int word, node, bucket;
    if (lydian_find(owner, words, values)) return 1;
    bucket = lydian_bucket(owner, words, values);
    if (lydian_free_nodes) {
        node = lydian_free_nodes;
        lydian_free_nodes = lydian_nodes[node].next;
    } else if (lydian_used_nodes + 1 < LYDIAN_NODES) {
        node = ++lydian_used_nodes;
    } else {
        return 0;
    }
    lydian_nodes[node].owner = owner;
    lydian_nodes[node].words = words;
    for (word = 0; word < words; word++) lydian_nodes[node].values[word] = values[word];
    lydian_nodes[node].bucket = bucket;
    lydian_nodes[node].chain = lydian_buckets[bucket];
    lydian_buckets[bucket] = node;
    lydian_nodes[node].next = *set;
    lydian_nodes[node].before = 0;
    if (*set) lydian_nodes[*set].before = node;
    __atomic_store_n(set, node, 0);
    return 1;
}

/* Removes a node from a set. */
static __attribute__((unused)) void lydian_drop(unsigned int *set, unsigned int node) {
    unsigned int *chain = &lydian_buckets[lydian_nodes[node].bucket];
    unsigned int next = lydian_nodes[node].next, before = lydian_nodes[node].before;
    if (before) lydian_nodes[before].next = next;
    else __atomic_store_n(set, next, 0);
    if (next) lydian_nodes[next].before = before;
    while (*chain != node) chain = &lydian_nodes[*chain].chain;
    *chain = lydian_nodes[node].chain;
    lydian_nodes[node].next = lydian_free_nodes;
    lydian_free_nodes = node;
}

/* Empties the sets of an activation that ends: an array whose first element is their number. */
static __attribute__((unused)) void lydian_forget(void *activation) {
    unsigned int *sets = (unsigned int *)activation, set, any = 0;
    for (set = 1; set <= sets[0]; set++) any |= sets[set];
    if (!any || !lydian_lock()) return;
    for (set = 1; set <= sets[0]; set++)
        while (sets[set]) lydian_drop(&sets[set], sets[set]);
    lydian_unlock();
}
