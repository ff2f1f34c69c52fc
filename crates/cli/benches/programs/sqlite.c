/* A mixed workload on SQLite in memory; prints the user time that it took, in microseconds. The argument is
 * the number of rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "sqlite3.h"

/* The rows that a round inserts. */
#ifndef ROWS
#define ROWS 30000
#endif
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static sqlite3 *db;
static unsigned long state = 1, seen;

static unsigned any(unsigned below) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % below;
}

static long used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec;
}

static int row(void *unused, int columns, char **values, char **names) {
    (void)unused, (void)names;
    for (int n = 0; n < columns; n++) seen = seen * 31 + (values[n] ? strlen(values[n]) : 1);
    return 0;
}

static int run(const char *text) {
    char *error = 0;
    if (sqlite3_exec(db, text, row, 0, &error) == SQLITE_OK) return 0;
    fprintf(stderr, "%s: %s\n", text, error);
    return 1;
}

static int insert(int rows) {
    static const char *const words[] = {"label", "decision", "condition", "branch", "mutant", "path"};
    sqlite3_stmt *statement;
    const char *text = "insert into item(name, size, weight, body) values (?1, ?2, ?3, ?4)";
    if (sqlite3_prepare_v2(db, text, -1, &statement, 0)) return 1;
    for (int n = 0; n < rows; n++) {
        char name[64];
        sprintf(name, "%s %u", words[any(6)], any(5000));
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(statement, 2, (int)any(1000));
        sqlite3_bind_double(statement, 3, any(100000) / 7.0);
        sqlite3_bind_blob(statement, 4, name, (int)strlen(name) / 2, SQLITE_TRANSIENT);
        if (sqlite3_step(statement) != SQLITE_DONE) return 1;
        sqlite3_reset(statement);
    }
    return sqlite3_finalize(statement);
}

static int look_up(int times) {
    sqlite3_stmt *statement;
    const char *text = "select name, weight from item where id = ?1 or (size = ?2 and weight > ?3)";
    if (sqlite3_prepare_v2(db, text, -1, &statement, 0)) return 1;
    for (int n = 0; n < times; n++) {
        sqlite3_bind_int(statement, 1, (int)any(ROWS));
        sqlite3_bind_int(statement, 2, (int)any(1000));
        sqlite3_bind_double(statement, 3, 9000.0);
        while (sqlite3_step(statement) == SQLITE_ROW) seen += (unsigned)sqlite3_column_bytes(statement, 0);
        sqlite3_reset(statement);
    }
    return sqlite3_finalize(statement);
}

/* All of the work, on a new database. */
static int work(void) {
    if (sqlite3_open(":memory:", &db)) return 1;
    int bad = run("create table item(id integer primary key, name text, size int, weight real, body blob);"
                  "create table tag(item int references item(id), word text collate nocase);"
                  "create index by_size on item(size, weight); create index by_word on tag(word);");
    bad |= run("begin") || insert(ROWS) || run("commit");
    bad |= run("insert into tag select id, substr(name, 1, 4) from item where id % 3 = 0;"
               "insert into tag select id, upper(name) from item where size between 100 and 200;");
    bad |= look_up(ROWS / 3 * 2);
    bad |= run("select word, count(*), sum(weight), max(length(name)) from tag join item on id = item "
               "group by word having count(*) > 2 order by 2 desc, 1 limit 50;"
               "select a.id, b.id from item a, item b where a.size = b.size + 1 and a.weight < 300.0 "
               "and b.weight < 300.0;"
               "select name, case when size < 500 then 'small' when size < 900 then 'middle' else 'big' end, "
               "printf('%08.3f|%-12s|%x', weight, name, size) from item where name like '%tant 1%' or "
               "name glob 'path [2-4]*' order by weight;"
               "with recursive n(i, f) as (select 1, 1.0 union all select i + 1, f * 1.01 + i % 7 from n "
               "where i < 2 * " TEXT(ROWS) ") select count(*), sum(f), avg(i) from n;"
               "select size / 10, count(distinct substr(name, 1, 3)), group_concat(id % 10, '') from item "
               "group by size / 10;"
               "select id, row_number() over (partition by size order by weight), sum(weight) over "
               "(order by id rows 5 preceding) from item where size < 300;");
    bad |= run("begin; update item set size = size * 2 + 1, name = replace(name, 'label', 'objective') "
               "where size % 5 = 2; delete from item where id % 7 = 3; "
               "update item set weight = -weight where id in (select item from tag where word = 'PATH'); rollback;"
               "delete from tag where item not in (select id from item where weight > 4000.0);"
               "vacuum; analyze; pragma integrity_check;");
    return bad || sqlite3_close(db);
}

int main(int argc, char **argv) {
    long before = used();
    int rounds = argc > 1 ? atoi(argv[1]) : 6, bad = 0;
    for (int round = 0; round < rounds; round++) bad |= work();
    printf("%ld\n", used() - before);
    fprintf(stderr, "%lu\n", seen);
    return bad;
}
