/* Measures the shared library through its C ABI. Linux with glibc.
 *
 *     driver LIBRARY FOLDER serve          answers each line on stdin, `WHAT MILLISECONDS`, with nanoseconds per decision
 *     driver LIBRARY FOLDER load           nanoseconds from before dlopen until behind the first decision
 *     driver LIBRARY FOLDER count WHAT N   makes N decisions and nothing else: for callgrind
 *     driver LIBRARY FOLDER allocations WHAT   the most heap allocations of one decision
 *     driver LIBRARY FOLDER growth N       N decisions: bytes of resident memory and heap blocks that are left behind
 *
 * FOLDER holds the frames and configs that go/bench writes. WHAT is one of the names in `works`, with `/SET` behind it
 * where it decides a set of frames: the files SET-0.json, SET-1.json, … in turn. Every decision is checked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kandev_policy.h"

static void stop(const char *what, const char *which)
{
    fprintf(stderr, "driver: %s: %s\n", what, which);
    exit(1);
}

/* ---- the heap, counted: the library's calls of malloc come here ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static __thread unsigned long allocations;
static __thread long blocks;

static void *counted(void *memory)
{
    allocations++;
    blocks += memory != NULL;
    return memory;
}

void *malloc(size_t size)
{
    return counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    blocks -= memory != NULL;
    return counted(__libc_realloc(memory, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = counted(__libc_memalign(alignment, size));
    return *memory ? 0 : 12;
}

void free(void *memory)
{
    blocks -= memory != NULL;
    __libc_free(memory);
}

/* ---- the library ---- */

#define FUNCTIONS(each)                                                                                                \
    each(kandev_policy_decide) each(kandev_policy_string_free) each(kandev_policy_new) each(kandev_policy_free)        \
    each(kandev_policy_evaluate) each(kandev_policy_evaluate_frame) each(kandev_policy_evaluate_request)

static struct {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
} library;

static void load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        stop("dlopen", dlerror());
#define LOOK_UP(name)                                                                                                  \
    if (!(*(void **)&library.name = dlsym(handle, #name)))                                                             \
        stop("no such function", #name);
    FUNCTIONS(LOOK_UP)
}

/* ---- frames and configs ---- */

typedef struct text {
    char *bytes; /* a NUL behind them */
    size_t len;
} text;

enum { MOST_FRAMES = 16 };

typedef struct set {
    text frames[MOST_FRAMES];
    int count;
} set;

static const char *folder;

static bool read_file(const char *name, text *t)
{
    char path[4096];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    t->len = (size_t)ftell(file);
    rewind(file);
    t->bytes = malloc(t->len + 1);
    if (!t->bytes || fread(t->bytes, 1, t->len, file) != t->len)
        stop("read", path);
    t->bytes[t->len] = '\0';
    fclose(file);
    return true;
}

static set read_set(const char *name)
{
    set s = {.count = 0};
    char file[256];
    for (; s.count < MOST_FRAMES; s.count++) {
        snprintf(file, sizeof file, "%s-%d.json", name, s.count);
        if (!read_file(file, &s.frames[s.count]))
            break;
    }
    if (s.count == 0)
        stop("no frames", name);
    return s;
}

/* ---- what is measured ---- */

typedef struct work {
    kandev_policy *policy;
    set set;
    text config;
} work;

static char *put32(char *at, size_t value)
{
    const uint32_t little = (uint32_t)value; /* as on every machine that this runs on */
    memcpy(at, &little, 4);
    return at + 4;
}

/* A decoded request in the flat encoding, as a host in C would make it: the frames' own texts. */
static size_t encode(char *at, int number)
{
    static const char *const verbs[] = {"update", "create", "delete", "review"};
    static const char *const options[] = {"allow-once", "allow_once", "allow-with-updates", "allow_always", "reject", "reject_once"};
    const char *start = at, *texts[12];
    char name[64];
    int i;
    snprintf(name, sizeof name, "mcp__kandev__%s_task_plan_kandev", verbs[number % 4]);
    texts[0] = texts[1] = texts[3] = name;
    texts[2] = "other";
    texts[4] = "kandev";
    texts[5] = "dynamic";
    memcpy(texts + 6, options, sizeof options);
    at = put32(at, 1 | 8 | 16); /* a name, a toolName, an mcpServer */
    for (i = 0; i < 6; i++)
        at = put32(at, strlen(texts[i]));
    at = put32(at, 3);
    for (i = 6; i < 12; i++)
        at = put32(at, strlen(texts[i]));
    for (i = 0; i < 12; i++)
        at = stpcpy(at, texts[i]);
    return (size_t)(at - start);
}

/* Each of these decides the set's frame of that number, and says whether it is decided as it must be. */

static bool approved(const char *json, size_t len)
{
    return memmem(json, len < 64 ? len : 64, "injected_mcp", 12) || memmem(json, len < 64 ? len : 64, "allowlisted_server", 18);
}

static bool json(work *w, int number)
{
    char buffer[1024];
    size_t size;
    const text *frame = &w->set.frames[number];
    return library.kandev_policy_evaluate(w->policy, frame->bytes, frame->len, buffer, sizeof buffer, &size) ==
               KANDEV_POLICY_STATUS_OK &&
           approved(buffer, size);
}

static bool verdict(work *w, int number)
{
    char buffer[1024];
    size_t size;
    kandev_policy_verdict v;
    const text *frame = &w->set.frames[number];
    return library.kandev_policy_evaluate_frame(w->policy, frame->bytes, frame->len, &v, buffer, sizeof buffer, &size) ==
               KANDEV_POLICY_STATUS_OK &&
           v.kind == KANDEV_POLICY_KIND_SELECT;
}

static bool request(work *w, int number)
{
    kandev_policy_verdict v;
    const text *frame = &w->set.frames[number];
    return library.kandev_policy_evaluate_request(w->policy, frame->bytes, frame->len, &v) == KANDEV_POLICY_STATUS_OK &&
           v.kind == KANDEV_POLICY_KIND_SELECT;
}

static bool one_shot(work *w, int number)
{
    char *decision = library.kandev_policy_decide(w->set.frames[number].bytes, w->config.bytes);
    bool right = decision && approved(decision, strnlen(decision, 64));
    library.kandev_policy_string_free(decision);
    return right;
}

static bool compile(work *w, int number)
{
    kandev_policy *policy;
    (void)number;
    if (library.kandev_policy_new(w->config.bytes, w->config.len, &policy, NULL, 0, NULL) != KANDEV_POLICY_STATUS_OK)
        return false;
    library.kandev_policy_free(policy);
    return true;
}

static bool two_threads(work *w, int number);
static bool two_processes(work *w, int number);

typedef bool decide(work *, int);

static const struct {
    const char *name, *config;
    decide *decide;
} works[] = {
    {"json", "config.json", json},
    {"verdict", "config.json", verdict},
    {"one-server", "config-one.json", verdict},
    {"many-servers", "config-many.json", verdict},
    {"request", "config.json", request},
    {"hook", "config-hooks.json", json},
    {"one-shot", "config.json", one_shot},
    {"compile", "config.json", compile},
    {"threads", "config.json", two_threads},
    {"processes", "config.json", two_processes},
};

typedef struct task {
    char name[64];
    decide *decide;
    work work;
} task;

/* Reads what a task needs; each is made once. */
static task *task_of(const char *name)
{
    static task tasks[64];
    static int count;
    const char *frames = strchr(name, '/');
    task *t;
    size_t i, kind = frames ? (size_t)(frames - name) : strlen(name);
    for (i = 0; i < (size_t)count; i++)
        if (strcmp(tasks[i].name, name) == 0)
            return &tasks[i];
    if (count == 64 || strlen(name) >= sizeof tasks->name)
        stop("too much", name);
    t = &tasks[count++];
    strcpy(t->name, name);
    for (i = 0; i < sizeof works / sizeof *works; i++) {
        if (strlen(works[i].name) != kind || strncmp(works[i].name, name, kind) != 0)
            continue;
        t->decide = works[i].decide;
        t->work.set = read_set(frames ? frames + 1 : "small");
        if (t->decide == request)
            for (int n = 0; n < t->work.set.count; n++)
                t->work.set.frames[n].len = encode(t->work.set.frames[n].bytes, n);
        if (!read_file(works[i].config, &t->work.config))
            stop("no config", works[i].config);
        if (library.kandev_policy_new(t->work.config.bytes, t->work.config.len, &t->work.policy, NULL, 0, NULL) !=
            KANDEV_POLICY_STATUS_OK)
            stop("bad config", works[i].config);
        return t;
    }
    stop("no such work", name);
    return NULL;
}

/* ---- how it is measured ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void decide_all(task *t)
{
    for (int number = 0; number < t->work.set.count; number++)
        if (!t->decide(&t->work, number))
            stop("not the right decision", t->name);
}

static double least_ns;

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Decides for at least so long; gives how often. */
static long decide_for(task *t, double *took)
{
    const double start = now();
    long decisions = 0;
    do {
        for (int round = 0; round < 4; round++)
            decide_all(t);
        decisions += 4L * t->work.set.count;
        *took = now() - start;
    } while (*took < least_ns);
    return decisions;
}

/* What two workers share, be they threads or processes. */
typedef struct shared {
    pthread_barrier_t start;
    double rate[2]; /* decisions per nanosecond */
    task worker;
} shared;

static void work_beside(shared *s, int which)
{
    double took;
    long decisions;
    pthread_barrier_wait(&s->start);
    decisions = decide_for(&s->worker, &took);
    s->rate[which] = (double)decisions / took;
}

static void *second_thread(void *s)
{
    work_beside(s, 1);
    return NULL;
}

static double pair_rate(task *t, bool processes)
{
    pthread_barrierattr_t attributes;
    pthread_t thread;
    int status = 0;
    double rate;
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED)
        stop("mmap", t->name);
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&s->start, &attributes, 2);
    s->worker = *t;
    s->worker.decide = verdict;
    if (processes) {
        pid_t child = fork();
        if (child == 0) {
            work_beside(s, 1);
            _exit(0);
        }
        work_beside(s, 0);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            stop("the second process", t->name);
    } else {
        if (pthread_create(&thread, NULL, second_thread, s) != 0)
            stop("the second thread", t->name);
        work_beside(s, 0);
        pthread_join(thread, NULL);
    }
    rate = s->rate[0] + s->rate[1];
    munmap(s, sizeof *s);
    return rate;
}

/* Only named: serve() measures a pair in its own way. */
static bool two_threads(work *w, int number)
{
    return verdict(w, number);
}

static bool two_processes(work *w, int number)
{
    return verdict(w, number);
}

static void serve(void)
{
    char name[64];
    double milliseconds, took;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (scanf("%63s %lf", name, &milliseconds) == 2) {
        task *t = task_of(name);
        least_ns = milliseconds * 1e6;
        if (t->decide == two_threads || t->decide == two_processes) {
            printf("%.3f\n", 1 / pair_rate(t, t->decide == two_processes));
        } else {
            const double start = processor_time();
            long decisions = decide_for(t, &took);
            double busy = processor_time() - start;
            /* Where processor time is less, the machine's other programs took the rest. */
            printf("%.3f\n", (busy < took ? busy : took) / (double)decisions);
        }
    }
}

static void first_decision(const char *path)
{
    task t = {.name = "load", .work.set = read_set("small")};
    double start;
    if (!read_file("config.json", &t.work.config))
        stop("no config", "config.json");
    start = now();
    load(path);
    if (library.kandev_policy_new(t.work.config.bytes, t.work.config.len, &t.work.policy, NULL, 0, NULL) !=
            KANDEV_POLICY_STATUS_OK ||
        !json(&t.work, 0))
        stop("not the right decision", t.name);
    printf("%.0f\n", now() - start);
}

static unsigned long most_allocations(task *t)
{
    unsigned long most = 0;
    for (int number = 0; number < t->work.set.count; number++) {
        const unsigned long before = allocations;
        if (!t->decide(&t->work, number))
            stop("not the right decision", t->name);
        if (allocations - before > most)
            most = allocations - before;
    }
    return most;
}

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        stop("read", "/proc/self/statm");
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Every way to decide in turn. */
static void growth(long decisions)
{
    task *ways[] = {task_of("json/small"), task_of("verdict/small"), task_of("request/small"), task_of("hook/hook")};
    task *rare[] = {task_of("one-shot/small"), task_of("compile"), task_of("verdict/medium")};
    enum { WAYS = sizeof ways / sizeof *ways, RARE = sizeof rare / sizeof *rare };
    long done = 0, pages = resident() /* which touches pages itself */, live = 0;
    for (long round = 0; done < decisions; round++) {
        if (round == 1000) { /* everything has been used */
            pages = resident();
            live = blocks;
            done = 0;
        }
        decide_all(ways[round % WAYS]);
        done += ways[round % WAYS]->work.set.count;
        if (round % 64 == 0) {
            decide_all(rare[round / 64 % RARE]);
            done += rare[round / 64 % RARE]->work.set.count;
        }
    }
    printf("%ld %ld\n", resident() - pages, blocks - live);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[3] : "";
    if (argc < 4)
        stop("usage", "driver LIBRARY FOLDER serve|load|count|allocations|growth …");
    folder = argv[2];
    if (strcmp(mode, "load") == 0) {
        first_decision(argv[1]);
        return 0;
    }
    load(argv[1]);
    if (strcmp(mode, "serve") == 0) {
        serve();
    } else if (strcmp(mode, "count") == 0 && argc == 6) {
        task *t = task_of(argv[4]);
        long decisions = atol(argv[5]);
        for (long i = 0; i < decisions; i++)
            if (!t->decide(&t->work, (int)(i % t->work.set.count)))
                stop("not the right decision", t->name);
    } else if (strcmp(mode, "allocations") == 0 && argc == 5) {
        printf("%lu\n", most_allocations(task_of(argv[4])));
    } else if (strcmp(mode, "growth") == 0 && argc == 5) {
        growth(atol(argv[4]));
    } else {
        stop("usage", mode);
    }
    return 0;
}
