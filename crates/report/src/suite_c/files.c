
/* ---- Standard input and files ---------------------------------------------------------------- */

extern int lydian_memfd(const char *, unsigned) __asm__("memfd_create");
extern int lydian_creat(const char *, unsigned) __asm__("creat");
extern long lydian_write(int, const void *, unsigned long) __asm__("write");
extern long lydian_lseek(int, long, int) __asm__("lseek");
extern int lydian_dup2(int, int) __asm__("dup2");
extern int lydian_close(int) __asm__("close");
extern void *lydian_fdopen(int, const char *) __asm__("fdopen");
extern int lydian_getpid(void) __asm__("getpid");
extern int lydian_mkdir(const char *, unsigned) __asm__("mkdir");
extern int lydian_rmdir(const char *) __asm__("rmdir");
extern int lydian_chdir(const char *) __asm__("chdir");
extern int lydian_unlink(const char *) __asm__("unlink");
extern int lydian_sprintf(char *, const char *, ...) __asm__("sprintf");
extern void *lydian_stdin __asm__("stdin");

/* The contents of standard input, or of a file in a folder of the test's own. */
static void LYDIAN_UNUSED lydian_give(const char *name, const char *bytes, unsigned long size)
{
    int is_stdin = name[0] == 's', fd;
    char folder[64];
    if (is_stdin) {
        fd = lydian_memfd("stdin", 0);
    } else {
        lydian_sprintf(folder, "/tmp/lydian-%d", lydian_getpid());
        (void)!lydian_mkdir(folder, 0700);
        (void)!lydian_chdir(folder);
        fd = lydian_creat(name, 0600);
    }
    if (fd < 0 || lydian_write(fd, bytes, size) != (long)size) {
        lydian_fail(__LINE__, "a file of the test cannot be written");
        return;
    }
    if (is_stdin) {
        lydian_lseek(fd, 0, 0);
        lydian_dup2(fd, 0);
        lydian_stdin = lydian_fdopen(0, "r");
    }
    lydian_close(fd);
}

/* Removes the folder that a test's process left. */
static void LYDIAN_UNUSED lydian_clean(int process)
{
    char path[64];
    int name;
    for (name = 'A'; name <= 'Z'; name++) {
        lydian_sprintf(path, "/tmp/lydian-%d/%c", process, name);
        (void)!lydian_unlink(path);
    }
    lydian_sprintf(path, "/tmp/lydian-%d", process);
    (void)!lydian_rmdir(path);
}
