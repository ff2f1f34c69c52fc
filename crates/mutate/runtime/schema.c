extern char *lydian_getenv(const char *) __asm__("getenv");
extern int lydian_open(const char *, int, ...) __asm__("open");
extern int lydian_close(int) __asm__("close");
extern int lydian_ftruncate(int, long) __asm__("ftruncate");
extern void *lydian_mmap(void *, unsigned long, int, int, int, long) __asm__("mmap");
extern int lydian_setrlimit(int, const unsigned long *) __asm__("setrlimit");
/* The chosen mutant: 0 for none, all ones while infections are recorded. */
static unsigned lydian_mutant __attribute__((unused));
/* A byte for each mutant: 1 if it was reached, 2 more if its state differed. */
static unsigned char *lydian_seen __attribute__((unused));
static inline __attribute__((unused)) int lydian_among(unsigned first, unsigned count)
{
    return lydian_mutant == ~0u || lydian_mutant - first < count;
}
static __attribute__((unused, noinline)) void lydian_infect(unsigned first, unsigned count)
{
    while (count--) lydian_seen[first++] = 3;
}
static __attribute__((unused, noinline)) void lydian_reach(unsigned number, int differs)
{
    lydian_seen[number] |= differs ? 3 : 1;
}
static __attribute__((unused)) int lydian_is_unit(const char *name)
{
    const char *own = LYDIAN_UNIT;
    while (*own && *own == *name) own++, name++;
    return !*own && *name == ':';
}
static __attribute__((constructor(101))) void lydian_choose(void)
{
    const char *chosen = lydian_getenv("LYDIAN_MUTANT"), *folder = lydian_getenv("LYDIAN_RECORD"), *at;
    if (folder && *folder) {
        char path[4096];
        const char *own = LYDIAN_UNIT;
        unsigned length = 0;
        int file;
        void *map;
        for (at = folder; *at && length < 4000; at++) path[length++] = *at;
        path[length++] = '/';
        for (at = own; *at; at++) path[length++] = *at;
        path[length] = 0;
        file = lydian_open(path, 02 | 0100 | 02000000, 0600);
        if (file < 0 || lydian_ftruncate(file, LYDIAN_COUNT + 1) != 0) return;
        map = lydian_mmap((void *)0, LYDIAN_COUNT + 1, 3, 1, file, 0);
        lydian_close(file);
        if (map == (void *)-1) return;
        lydian_seen = map;
        lydian_mutant = ~0u;
    } else if (chosen && lydian_is_unit(chosen)) {
        /* A mutant may write without an end. */
        static const unsigned long most[2] = { LYDIAN_FILE_BYTES, LYDIAN_FILE_BYTES };
        for (at = chosen; *at != ':'; at++) {}
        for (at++; *at >= '0' && *at <= '9'; at++) lydian_mutant = lydian_mutant * 10 + (*at - '0');
        lydian_setrlimit(1, most);
    }
}
