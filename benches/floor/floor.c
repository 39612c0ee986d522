// Takes a PostgreSQL server and a transaction type; runs it with the fewest system calls that a closed loop needs
// (one send, one epoll_wait and one recv for each answer) and almost nothing else; prints how many it did.
//
// What a benchmark client costs above this program is its own: scripts, checks, clocks, histograms.
//
//   cc -O2 -pthread floor.c -o floor
//   floor SOCKET_DIRECTORY PORT USER DATABASE select|tpcb SCALE CLIENTS THREADS seconds|transactions N
//
// The tables are pgbench's, the server lets the user in without a password, and every answer fits into one recv;
// anything else ends the program with exit status 1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 1024, ANSWER_BYTES = 16384, EVENTS = 64, PROTOCOL_3 = 196608, INT4 = 23 };

// One prepared statement: its text and how many int4 parameters it has.
struct statement {
    const char *name, *text;
    int parameters;
};

static const struct statement BEGIN = {"begin", "BEGIN", 0};
static const struct statement UPDATE_ACCOUNT = {
    "account", "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2", 2};
static const struct statement SELECT = {
    "select", "SELECT abalance FROM pgbench_accounts WHERE aid = $1", 1};
static const struct statement UPDATE_TELLER = {
    "teller", "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2", 2};
static const struct statement UPDATE_BRANCH = {
    "branch", "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2", 2};
static const struct statement INSERT_HISTORY = {
    "history",
    "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) "
    "VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)", 4};
static const struct statement END = {"end", "END", 0};

static const struct statement *const SELECT_ONLY[] = {&SELECT, NULL};
static const struct statement *const TPCB_LIKE[] = {
    &BEGIN, &UPDATE_ACCOUNT, &SELECT, &UPDATE_TELLER, &UPDATE_BRANCH, &INSERT_HISTORY, &END, NULL};

static struct {
    const char *directory, *user, *database;
    int port, scale, clients, threads;
    const struct statement *const *script;
    double seconds;
    uint64_t transactions;  // of each client; 0: until the time is over
} asked;

struct client {
    int socket;
    int step;  // of the script
    uint64_t done;
    uint64_t begun_ns;
    int account, branch, teller, delta;
};

struct thread {
    pthread_t id;
    int first_client;
    uint64_t random;
    uint64_t done;
    uint64_t time_ns;  // summed over transactions, so that the clock is really read
    uint64_t begun_ns, ended_ns;  // when all sessions were open; when the last client ended
};

static pthread_barrier_t all_open;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// 1 … most, by xorshift.
static int draw(struct thread *thread, uint64_t most) {
    thread->random ^= thread->random << 13;
    thread->random ^= thread->random >> 7;
    thread->random ^= thread->random << 17;
    return 1 + (int)((unsigned __int128)thread->random * most >> 64);
}

static uint8_t *put16(uint8_t *to, int value) {
    uint16_t big = htons((uint16_t)value);
    memcpy(to, &big, sizeof big);
    return to + sizeof big;
}

static uint8_t *put32(uint8_t *to, uint32_t value) {
    uint32_t big = htonl(value);
    memcpy(to, &big, sizeof big);
    return to + sizeof big;
}

static uint8_t *put_text(uint8_t *to, const char *text) {
    size_t bytes = strlen(text) + 1;
    memcpy(to, text, bytes);
    return to + bytes;
}

static void end_message(uint8_t *length_at, const uint8_t *end) {
    put32(length_at, (uint32_t)(end - length_at));
}

static uint8_t *put_empty(uint8_t *to, char type) {
    *to++ = (uint8_t)type;
    return put32(to, 4);
}

// Bind, Execute, Sync, with binary int4 parameters and binary results.
static size_t execute(uint8_t *message, const struct statement *statement, const int *values) {
    uint8_t *at = message, *length_at;
    *at++ = 'B';
    length_at = at;
    at = put_text(at + 4, "");
    at = put_text(at, statement->name);
    at = put16(at, 1);
    at = put16(at, 1);
    at = put16(at, statement->parameters);
    for (int i = 0; i < statement->parameters; i++)
        at = put32(put32(at, 4), (uint32_t)values[i]);
    at = put16(put16(at, 1), 1);
    end_message(length_at, at);
    *at++ = 'E';
    at = put32(put_text(put32(at, 9), ""), 0);
    at = put_empty(at, 'S');
    return (size_t)(at - message);
}

static void write_all(int socket, const uint8_t *bytes, size_t count) {
    if (send(socket, bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
        fail("send");
}

// Blocks until ReadyForQuery; for the start of a session alone.
static void wait_until_ready(int socket) {
    uint8_t bytes[65536];
    size_t held = 0;
    for (;;) {
        ssize_t count = recv(socket, bytes + held, sizeof bytes - held, 0);
        if (count <= 0)
            fail("recv");
        held += (size_t)count;
        size_t at = 0;
        while (held - at >= 5) {
            uint32_t length;
            memcpy(&length, bytes + at + 1, sizeof length);
            length = ntohl(length);
            if (held - at < 1 + length)
                break;
            if (bytes[at] == 'E') {
                fprintf(stderr, "the server refused: %.*s\n", (int)length - 4, bytes + at + 5);
                exit(1);
            }
            if (bytes[at] == 'Z')
                return;
            at += 1 + length;
        }
        memmove(bytes, bytes + at, held - at);
        held -= at;
    }
}

static void prepare(int socket, const struct statement *statement) {
    uint8_t message[MESSAGE_BYTES], *at = message, *length_at;
    *at++ = 'P';
    length_at = at;
    at = put_text(at + 4, statement->name);
    at = put_text(at, statement->text);
    at = put16(at, statement->parameters);
    for (int i = 0; i < statement->parameters; i++)
        at = put32(at, INT4);
    end_message(length_at, at);
    at = put_empty(at, 'S');
    write_all(socket, message, (size_t)(at - message));
    wait_until_ready(socket);
}

static int open_session(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int size = snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.%d",
                        asked.directory, asked.port);
    if (size < 0 || (size_t)size >= sizeof address.sun_path) {
        fprintf(stderr, "the socket's path is too long: %s\n", asked.directory);
        exit(1);
    }
    int opened = socket(AF_UNIX, SOCK_STREAM, 0);
    if (opened < 0 || connect(opened, (struct sockaddr *)&address, sizeof address))
        fail("connect");
    uint8_t message[MESSAGE_BYTES], *at = put32(message + 4, PROTOCOL_3);
    at = put_text(put_text(at, "user"), asked.user);
    at = put_text(put_text(at, "database"), asked.database);
    *at++ = 0;
    end_message(message, at);
    write_all(opened, message, (size_t)(at - message));
    wait_until_ready(opened);
    for (const struct statement *const *each = asked.script; *each; each++)
        prepare(opened, *each);
    return opened;
}

// The message of the client's next statement.
static size_t next_message(struct thread *thread, struct client *client, uint8_t *message) {
    const struct statement *statement = asked.script[client->step];
    if (client->step == 0) {
        client->account = draw(thread, 100000ull * (uint64_t)asked.scale);
        client->branch = draw(thread, (uint64_t)asked.scale);
        client->teller = draw(thread, 10ull * (uint64_t)asked.scale);
        client->delta = draw(thread, 10001) - 5001;
    }
    int values[4] = {client->delta, client->account, 0, 0};
    if (statement == &SELECT) {
        values[0] = client->account;
    } else if (statement == &UPDATE_TELLER) {
        values[1] = client->teller;
    } else if (statement == &UPDATE_BRANCH) {
        values[1] = client->branch;
    } else if (statement == &INSERT_HISTORY) {
        values[0] = client->teller;
        values[1] = client->branch;
        values[2] = client->account;
        values[3] = client->delta;
    }
    return execute(message, statement, values);
}

static void check_answer(const uint8_t *answer, ssize_t count) {
    // A whole answer ends in ReadyForQuery (6 bytes); BindComplete (5 bytes) stands before an error of the execution.
    if (count < 6 || answer[count - 6] != 'Z') {
        fprintf(stderr, "expected one whole answer, got %zd bytes\n", count);
        exit(1);
    }
    if (answer[0] == 'E' || answer[5] == 'E') {
        fprintf(stderr, "the server answered with an error\n");
        exit(1);
    }
}

static void *work(void *argument) {
    struct thread *thread = argument;
    int poll = epoll_create1(0), open = 0;
    struct client *clients = calloc((size_t)asked.clients, sizeof *clients);
    if (poll < 0 || !clients)
        fail("epoll_create1 or calloc");
    for (int i = thread->first_client; i < asked.clients; i += asked.threads) {
        struct client *client = &clients[open++];
        client->socket = open_session();
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, client->socket, &event))
            fail("epoll_ctl");
    }
    uint8_t message[MESSAGE_BYTES], answer[ANSWER_BYTES];
    pthread_barrier_wait(&all_open);
    uint64_t now_ns = clock_ns(), stop_ns = now_ns + (uint64_t)(asked.seconds * 1e9);
    thread->begun_ns = now_ns;
    for (int i = 0; i < open; i++) {
        clients[i].begun_ns = now_ns;
        write_all(clients[i].socket, message, next_message(thread, &clients[i], message));
    }
    while (open) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(poll, events, EVENTS, -1);
        if (count < 0 && errno != EINTR)
            fail("epoll_wait");
        for (int i = 0; i < count; i++) {
            struct client *client = events[i].data.ptr;
            check_answer(answer, recv(client->socket, answer, sizeof answer, 0));
            now_ns = clock_ns();
            if (!asked.script[++client->step]) {
                client->step = 0;
                thread->done++;
                thread->time_ns += now_ns - client->begun_ns;
                client->begun_ns = now_ns;
                int is_over = asked.transactions ? ++client->done >= asked.transactions
                                                  : now_ns >= stop_ns;
                if (is_over) {
                    close(client->socket);
                    open--;
                    continue;
                }
            }
            write_all(client->socket, message, next_message(thread, client, message));
        }
    }
    thread->ended_ns = now_ns;
    free(clients);
    close(poll);
    return NULL;
}

static int usage(void) {
    fprintf(stderr, "usage: floor SOCKET_DIRECTORY PORT USER DATABASE select|tpcb SCALE CLIENTS "
                    "THREADS seconds|transactions N\n");
    return 2;
}

int main(int count, char **words) {
    if (count != 11)
        return usage();
    asked.directory = words[1];
    asked.port = atoi(words[2]);
    asked.user = words[3];
    asked.database = words[4];
    asked.script = strcmp(words[5], "tpcb") ? SELECT_ONLY : TPCB_LIKE;
    asked.scale = atoi(words[6]);
    asked.clients = atoi(words[7]);
    asked.threads = atoi(words[8]);
    if (!strcmp(words[9], "seconds"))
        asked.seconds = atof(words[10]);
    else
        asked.transactions = strtoull(words[10], NULL, 10);
    if (asked.scale < 1 || asked.clients < 1 || asked.threads < 1 ||
        (asked.seconds <= 0 && !asked.transactions))
        return usage();
    struct thread *threads = calloc((size_t)asked.threads, sizeof *threads);
    if (!threads)
        fail("calloc");
    if (pthread_barrier_init(&all_open, NULL, (unsigned)asked.threads))
        fail("pthread_barrier_init");
    for (int i = 0; i < asked.threads; i++) {
        threads[i].first_client = i;
        threads[i].random = 88172645463325252ull * (uint64_t)(i + 1);
        if (pthread_create(&threads[i].id, NULL, work, &threads[i]))
            fail("pthread_create");
    }
    uint64_t done = 0, time_ns = 0, begun_ns = UINT64_MAX, ended_ns = 0;
    for (int i = 0; i < asked.threads; i++) {
        pthread_join(threads[i].id, NULL);
        done += threads[i].done;
        time_ns += threads[i].time_ns;
        begun_ns = threads[i].begun_ns < begun_ns ? threads[i].begun_ns : begun_ns;
        ended_ns = threads[i].ended_ns > ended_ns ? threads[i].ended_ns : ended_ns;
    }
    // As the others count: all transactions, those that ended after the stop too, over all the time they took.
    printf("transactions: %lu\nseconds: %.6f\nmean latency: %.1f us\n", done,
           (double)(ended_ns - begun_ns) / 1e9, (double)time_ns / 1e3 / (double)done);
    free(threads);
    return 0;
}
