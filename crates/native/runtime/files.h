/* The files of a test. They lie in the folder in which this process starts, which is its own.
 * Files that a test wrote or left open are removed or closed before the next. */

static int first_free_descriptor = -1, files_used;

/* The descriptor of the folder, for when the program changes its own. */
static int own_folder = -1;
static struct stat own_folder_is;

static void open_own_folder(void) {
    own_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own_folder < 0 || fstat(own_folder, &own_folder_is)) fail("the folder of tests cannot be opened");
}

/* Whether the descriptor is still the folder's: the program may have closed it. */
static int has_own_folder(void) {
    struct stat now;
    return !fstat(own_folder, &now) && now.st_dev == own_folder_is.st_dev &&
           now.st_ino == own_folder_is.st_ino;
}

static int is_elsewhere(const char *path) { return !*path || strchr(path, '/') != NULL; }

static int serve_open_file(const char *path, int flags) {
    files_used = 1;
    if (is_elsewhere(path)) return errno = ENOENT, -1;
    own_files = 1;
    int opened = open(path, flags, 0600);
    own_files = 0;
    return opened;
}

static void *serve_open_stream(const char *path, const char *mode) {
    files_used = 1;
    if (is_elsewhere(path)) return errno = ENOENT, (void *)0;
    own_files = 1;
    FILE *opened = fopen(path, mode);
    own_files = 0;
    return opened;
}

static void remove_files(void) {
    struct dirent *entry;
    if (!has_own_folder()) fail("the folder of tests is lost");
    int again = openat(own_folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again < 0 ? NULL : fdopendir(again);
    if (!folder) return;
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(own_folder, entry->d_name, 0);
    closedir(folder);
}

/* Makes an open file the standard input, and drops bytes that were read ahead from the one
 * before. */
static void set_stdin(int fd) {
    if (fd < 0 || dup2(fd, 0) < 0) fail("no file for standard input");
    close(fd);
    FILE *stream = fdopen(0, "r");
    if (!stream) fail("no stream for standard input");
    stdin = stream;
}

static int file_with(const char *name, const void *bytes, uint64_t size) {
    int fd = name ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) : memfd_create("stdin", 0);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        fail("a file of a test cannot be written");
    return fd;
}

/* The variables of the environment that a test names. */
static int variables_used = 1;

static void set_variable(const uint8_t *name, struct file *file, const uint8_t *bytes) {
    char *copied = strndup((const char *)name, file->name);
    char *value = strndup((const char *)bytes, file->size);
    if (!copied || !value) fail("no memory for the environment");
    if (file->missing ? unsetenv(copied) : setenv(copied, value, 1))
        fail("a variable of the environment cannot be set");
    free(copied);
    free(value);
    variables_used = 1;
}

static void place_file(const uint8_t *from, struct file *file, const uint8_t *bytes) {
    char name[64] = "";
    memcpy(name, from, file->name < sizeof name ? file->name : sizeof name - 1);
    files_used = 1;
    if (!strcmp(name, "stdin")) set_stdin(file_with(NULL, bytes, file->size));
    else if (!is_elsewhere(name)) close(file_with(name, bytes, file->size));
}

static void place_files(uint8_t *p, uint32_t count) {
    if (variables_used) clearenv();
    variables_used = 0;
    own_files = 1;
    if (files_used || files_touched) {
        syscall(SYS_close_range, first_free_descriptor, ~0u, 0);
        remove_files();
        set_stdin(open("/dev/null", O_RDONLY));
        files_used = files_touched = 0;
    }
    for (; count; count--) {
        struct file *file = (struct file *)p;
        uint8_t *name = (uint8_t *)(file + 1), *bytes = name + padded(file->name);
        if (file->is_variable) set_variable(name, file, bytes);
        else place_file(name, file, bytes);
        p += sizeof *file + padded(file->name) + padded(file->size);
    }
    own_files = 0;
}
