/* Workers that share a database of SQLite, some of whom buy and sell while others ask: threads with a write-ahead
   log, or processes with a rollback journal. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sqlite3.h"

typedef struct { int number, rounds; uint32_t seed; const char *file, *journal; sqlite3 *db; long answers; } Worker;

static uint32_t some(Worker *worker, uint32_t below) {
    worker->seed = worker->seed * 1664525u + 1013904223u;
    return (worker->seed >> 8) % below;
}

static int counted(void *to, int columns, char **values, char **names) {
    (void)columns; (void)values; (void)names;
    ++*(long *)to;
    return 0;
}

static void ask(Worker *worker, const char *sql) {
    char *error = NULL;
    if (sqlite3_exec(worker->db, sql, counted, &worker->answers, &error) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, error);
        exit(1);
    }
}

static void asked(Worker *worker, const char *format, uint32_t one, uint32_t two) {
    char *sql = sqlite3_mprintf(format, one, two, two, one);
    ask(worker, sql);
    sqlite3_free(sql);
}

static const char *SCHEMA =
    "create table item(id integer primary key, name text, kind integer, price real);"
    "create table sale(id integer primary key, item references item, day integer, amount integer, note text);"
    "create index sale_by_item on sale(item, day); create index item_by_name on item(name);"
    "create table stock(item integer primary key, amount integer) without rowid;"
    "create trigger sold after insert on sale begin update stock set amount = amount - new.amount where item = new.item; end;"
    "create view worth as select kind, sum(price * amount) as total from item join sale on sale.item = item.id group by kind;";

static void fill(Worker *worker) {
    ask(worker, "begin");
    for (uint32_t i = 1; i <= 300; i++) {
        asked(worker, "insert into item values(%u, 'name ' || %u * 7919 %% 1000, %u %% 9, %u / 10.0)", i, some(worker, 1000));
        asked(worker, "insert into stock values(%u, %u)", i, 1000 + some(worker, 100));
    }
    for (uint32_t i = 0; i < 600; i++)
        asked(worker, "insert into sale(item, day, amount, note) values(1 + %u %% 300, %u %% 365, 1 + %u %% 5, hex(%u))", some(worker, 9999), i);
    ask(worker, "commit");
}

static void trade(Worker *worker, int round) {
    if (round % 2) ask(worker, "begin immediate");
    for (int i = 0; i < 6; i++)
        asked(worker, "insert into sale(item, day, amount, note) values(1 + %u %% 300, %u %% 365, 1 + %u %% 5, hex(%u))", some(worker, 9999), (uint32_t)round);
    asked(worker, "update item set price = price * 1.01, name = 'new ' || id where kind = %u %% 9 and id > %u", some(worker, 9), some(worker, 250));
    asked(worker, "delete from sale where id in (select id from sale where day = %u %% 365 limit 10) or id = %u", (uint32_t)round, some(worker, 900));
    if (round % 2) ask(worker, round % 5 ? "commit" : "rollback");
    asked(worker, "insert or replace into item values(%u, 'again %u', %u %% 9, %u)", 1 + some(worker, 300), some(worker, 90));
    if (round % 10 == 9)
        asked(worker, "begin immediate; create table kept as select * from sale where day < %u; drop table kept; commit", 50, 0);
}

static void inquire(Worker *worker, int round) {
    asked(worker, "select name, sum(amount) from item join sale on sale.item = item.id where kind = %u %% 9 and day < %u group by name order by 2 desc limit 5", some(worker, 9), some(worker, 365));
    asked(worker, "select * from sale where item = %u and day between %u and %u + 30", 1 + some(worker, 300), some(worker, 300));
    asked(worker, "select count(distinct item), upper(note), avg(amount) from sale where note like '%%%u%%' or day = %u", some(worker, 9), some(worker, 365));
    if (round % 3 == 0) ask(worker, "select total from worth order by total");
    if (round % 4 == 0)
        asked(worker, "with recursive steps(n) as (select 1 union all select n + 1 from steps where n < 20 + %u) select sum(n * %u) from steps", some(worker, 20), 3);
    if (round % 4 == 1)
        ask(worker, "select item, day, row_number() over (partition by item order by day) from sale where item < 12");
    if (round % 5 == 2)
        asked(worker, "select id from item where id in (select item from sale where amount > %u %% 4) and not exists (select 1 from stock where stock.item = item.id and amount < %u)", some(worker, 4), 500 + some(worker, 400));
    asked(worker, "select name from item where name = 'name %u' union select note from sale where id = %u order by 1", some(worker, 1000), 1 + some(worker, 600));
}

static void begin(Worker *worker) {
    char *sql = sqlite3_mprintf("pragma journal_mode = %s; pragma synchronous = off; pragma cache_size = 12", worker->journal);
    if (sqlite3_open(worker->file, &worker->db) != SQLITE_OK) exit(1);
    sqlite3_busy_timeout(worker->db, 60000);
    ask(worker, sql);
    sqlite3_free(sql);
}

static void *work(void *given) {
    Worker *worker = given;
    for (int round = 0; round < worker->rounds; round++) {
        if (worker->number % 2 == 0 || round % 4 == 0) trade(worker, round);
        if (worker->number % 2 == 1 || round % 4 == 0) inquire(worker, round);
    }
    sqlite3_close(worker->db);
    return NULL;
}

static void *worked(void *given) {
    begin(given);
    return work(given);
}

int main(int count, char **words) {
    pthread_t started[16];
    Worker workers[16];
    int number = count > 2 ? atoi(words[2]) : 0, processes = count > 4 && !strcmp(words[4], "processes");
    if (count < 6 || number < 1 || number > 16) return 2;
    for (int i = 0; i < number; i++)
        workers[i] = (Worker){i, atoi(words[1]), (uint32_t)(atoi(words[3]) + 77 * i), words[5], processes ? "delete" : "wal", NULL, 0};
    begin(&workers[0]);
    ask(&workers[0], SCHEMA);
    fill(&workers[0]);
    sqlite3_close(workers[0].db);
    if (!processes) {
        for (int i = 0; i < number; i++)
            if (pthread_create(&started[i], NULL, worked, &workers[i])) return 1;
        for (int i = 0; i < number; i++) pthread_join(started[i], NULL);
        return 0;
    }
    for (int i = 0; i < number; i++)
        if (fork() == 0) {
            worked(&workers[i]);
            exit(0);
        }
    int status, failed = 0;
    while (wait(&status) > 0) failed |= status;
    return failed ? 1 : 0;
}
