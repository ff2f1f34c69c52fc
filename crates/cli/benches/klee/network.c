/* Which sites of a network are connected, by joining sets, and whether a link is superfluous. */
#include "input.h"

#ifndef SITES
#define SITES 4
#endif
#ifndef LINKS
#define LINKS 3
#endif

struct link {
    uint8_t from, to;
};

static int root_of(uint8_t *parent, int site)
{
    while (parent[site] != site) {
        parent[site] = parent[parent[site]];
        site = parent[site];
    }
    return site;
}

/* The number of parts, or a negative number: how many links join what was joined before. */
static int parts(const struct link *link, int count)
{
    uint8_t parent[SITES], size[SITES];
    int left = SITES, superfluous = 0;

    for (int i = 0; i < SITES; i++) {
        parent[i] = (uint8_t)i;
        size[i] = 1;
    }
    for (int i = 0; i < count; i++) {
        int a, b;

        if (link[i].from >= SITES || link[i].to >= SITES)
            return 0;
        a = root_of(parent, link[i].from);
        b = root_of(parent, link[i].to);
        if (a == b) {
            superfluous++;
            continue;
        }
        if (size[a] < size[b]) {
            int kept = a;

            a = b;
            b = kept;
        }
        parent[b] = (uint8_t)a;
        size[a] += size[b];
        left--;
    }
    return superfluous ? -superfluous : left;
}

int main(void)
{
    struct link link[LINKS];

    INPUT(link);
    return parts(link, LINKS);
}
