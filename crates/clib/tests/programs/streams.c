/* Files and standard streams. The file's name is the first argument. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void at_end(void) { printf("the handler that was given first\n"); }
static void at_end_too(void) { printf("the handler that was given last\n"); }

static void write_and_read(const char *name) {
    FILE *file = fopen(name, "w+");
    fprintf(file, "line one\nline two\n%d", 42);
    printf("%ld\n", ftell(file));
    rewind(file);
    char line[100];
    while (fgets(line, sizeof line, file)) printf("got %s\n", line);
    printf("%d %d\n", feof(file), ferror(file));
    fseek(file, 5, SEEK_SET);
    int c = fgetc(file);
    ungetc(c, file);
    ungetc('Q', file);
    int first = fgetc(file), second = fgetc(file);
    printf("%c%c %ld\n", first, second, ftell(file));
    fseek(file, 0, SEEK_END);
    fputs("tail", file);
    fseek(file, -6, SEEK_CUR);
    puts(fgets(line, sizeof line, file));
    fclose(file);
}

static void append_and_read(const char *name) {
    FILE *file = fopen(name, "a");
    fprintf(file, "more\n");
    fclose(file);
    file = fopen(name, "r");
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t length; (length = getline(&line, &capacity, file)) >= 0;)
        printf("%zd %s", length, line);
    printf("%d\n", fputc('x', file));
    free(line);
    fclose(file);
    char bytes[100];
    file = fopen(name, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    printf("%zu %.*s\n", count, (int)count, bytes);
    fclose(file);
}

static void much(const char *name) {
    FILE *file = fopen(name, "w+");
    for (int i = 0; i < 3000; i++) fprintf(file, "%d,", i);
    rewind(file);
    long sum = 0;
    for (int number; fscanf(file, "%d,", &number) == 1;) sum += number;
    printf("%ld\n", sum);
    fclose(file);
}

int main(int count, char **arguments) {
    atexit(at_end);
    atexit(at_end_too);
    char line[100];
    while (fgets(line, sizeof line, stdin)) printf("read: %s", line);
    printf("%d\n", feof(stdin));
    if (count > 1) {
        write_and_read(arguments[1]);
        append_and_read(arguments[1]);
        much(arguments[1]);
    }
    errno = 0;
    FILE *none = fopen("/no/such/folder/file", "r");
    printf("%d %s\n", none == NULL, strerror(errno));
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("without a buffer\n");
    dprintf(1, "past it: %s\n", "text");
    write(1, "raw\n", 4);
    putchar('p');
    putc('q', stdout);
    fputc('\n', stdout);
    exit(3);
}
