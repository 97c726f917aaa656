/*
 * The process around the calls: signals that arrive in the middle of them, forks, and the library loaded twice and taken
 * out again. Nothing of the process is changed by any of it.
 *
 *     process LIBRARY FOLDER     the shared library, and a folder for a copy of it
 */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CONFIG "{\"port\":41000,\"injected_kandev_mcp\":true,\"mcp_servers\":[{\"name\":\"kandev\",\"type\":\"http\"," \
               "\"url\":\"http://localhost:41000/mcp\"}]}"
#define FRAME "{\"toolCall\":{\"name\":\"mcp__kandev__list_tasks\"},\"options\":[{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]}"
#define SELECT \
    "{\"decision\":\"select\",\"reason\":\"injected_mcp\",\"option_id\":\"yes\",\"option_kind\":\"allow_once\"," \
    "\"server\":\"kandev\",\"tool\":\"list_tasks\"}"

typedef char *decide_function(const char *, const char *);
typedef void free_function(char *);
typedef uint32_t version_function(void);

/* ---- what must not change ---- */

static int threads_now(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;
    while (tasks && (entry = readdir(tasks)))
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

typedef struct process {
    struct sigaction actions[65];
    sigset_t mask;
    int threads;
} process;

static process process_now(void)
{
    process p;
    int s;
    memset(&p, 0, sizeof p);
    for (s = 1; s < 65; s++)
        sigaction(s, NULL, &p.actions[s]);
    sigprocmask(SIG_SETMASK, NULL, &p.mask);
    p.threads = threads_now();
    return p;
}

/* But for the one that the C library sets for itself. */
static int flags(const struct sigaction *action)
{
    enum { RESTORER = 0x04000000 };
    return action->sa_flags & ~RESTORER;
}

static void process_unchanged(const process *before, const char *when)
{
    const process after = process_now();
    int s;
    for (s = 1; s < 65; s++)
        CHECK(before->actions[s].sa_handler == after.actions[s].sa_handler &&
                  flags(&before->actions[s]) == flags(&after.actions[s]) &&
                  sigismember(&before->mask, s) == sigismember(&after.mask, s),
              "%s: signal %d", when, s);
    CHECK(before->threads == after.threads, "%s: %d threads, then %d", when, before->threads, after.threads);
}

static void expect_select(decide_function *decide, free_function *release, const char *when)
{
    char *json = decide(FRAME, CONFIG);
    CHECK(json && strcmp(json, SELECT) == 0, "%s: %s", when, json ? json : "NULL");
    release(json);
}

/* ---- signals ---- */

static volatile sig_atomic_t signals;

/* A handler may call nothing, but it runs on the stack of whatever it has interrupted. */
static void on_signal(int number)
{
    volatile char stack[4096];
    (void)number;
    memset((void *)stack, 0x5a, sizeof stack);
    signals++;
}

static volatile bool stop;

static void *decide_until_stopped(void *shared)
{
    const kandev_policy *policy = (const kandev_policy *)shared;
    while (!stop) {
        char json[256];
        size_t size = 0;
        CHECK(kandev_policy_evaluate(policy, FRAME, strlen(FRAME), json, sizeof json, &size) == OK &&
                  size == strlen(SELECT) && memcmp(json, SELECT, size) == 0,
              "under signals: %.*s", (int)size, json);
        expect_select(kandev_policy_decide, kandev_policy_string_free, "under signals");
    }
    return NULL;
}

static void under_signals(void)
{
    const int wanted = small_run() ? 50 : 2000;
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action, before;
    kandev_policy *policy = NULL;
    kandev_policy_registry *registry = NULL;
    char buffer[1024];
    size_t size;
    pthread_t threads[2];
    int i;
    CHECK(kandev_policy_new(CONFIG, strlen(CONFIG), &policy, NULL, 0, NULL) == OK, "no policy");
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal; /* without SA_RESTART, so that a system call that is interrupted says so */
    sigaction(SIGALRM, &action, &before);
    for (i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, decide_until_stopped, policy) != 0)
            exit(3);
    setitimer(ITIMER_REAL, &often, NULL);
    while (signals < wanted) {
        expect_select(kandev_policy_decide, kandev_policy_string_free, "under signals");
        /* These ask the operating system for randomness. */
        CHECK(kandev_policy_registry_new("{}", 2, NULL, &registry, buffer, sizeof buffer, &size) == OK, "under signals");
        CHECK(kandev_policy_registry_mint(registry, "codex", 5, NULL, 0, NULL, buffer, sizeof buffer, &size) == OK,
              "under signals");
        kandev_policy_registry_free(registry);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    stop = true;
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    sigaction(SIGALRM, NULL, &action);
    CHECK(action.sa_handler == on_signal && flags(&action) == 0, "the handler is another one");
    sigaction(SIGALRM, &before, NULL);
    kandev_policy_free(policy);
}

/* ---- forks ---- */

static void forks(void)
{
    const int rounds = small_run() ? 5 : 100;
    kandev_policy *policy = NULL;
    pthread_t threads[2];
    int i;
    CHECK(kandev_policy_new(CONFIG, strlen(CONFIG), &policy, NULL, 0, NULL) == OK, "no policy");
    stop = false;
    for (i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, decide_until_stopped, policy) != 0)
            exit(3);
    for (i = 0; i < rounds; i++) {
        int status = 0;
        const pid_t child = fork();
        if (child < 0)
            exit(3);
        if (child == 0) {
            /* The handle as it was, while other threads were using it. */
            kandev_policy_verdict verdict;
            char strings[256];
            size_t size;
            const kandev_policy_status s =
                kandev_policy_evaluate_frame(policy, FRAME, strlen(FRAME), &verdict, strings, sizeof strings, &size);
            _exit(s == OK && verdict.reason == KANDEV_POLICY_REASON_INJECTED_MCP ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child: %d", status);
    }
    stop = true;
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    kandev_policy_free(policy);
}

/* ---- loaded twice, and taken out ---- */

typedef struct library {
    void *handle;
    decide_function *decide;
    free_function *release;
    version_function *version;
} library;

static library load(const char *path)
{
    library l;
    l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l.handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    /* POSIX: a symbol's address fits a pointer to a function. */
    *(void **)(void *)&l.decide = dlsym(l.handle, "kandev_policy_decide");
    *(void **)(void *)&l.release = dlsym(l.handle, "kandev_policy_string_free");
    *(void **)(void *)&l.version = dlsym(l.handle, "kandev_policy_abi_version");
    return l;
}

static bool is_mapped(const char *path)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, path);
    if (maps)
        fclose(maps);
    return found;
}

static void *decide_in_thread(void *shared)
{
    const library *l = (const library *)shared;
    expect_select(l->decide, l->release, "a thread of its own");
    return NULL;
}

static void copy_file(const char *from, const char *to)
{
    char block[65536];
    size_t size;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out)
        exit(3);
    while ((size = fread(block, 1, sizeof block, in)) > 0)
        if (fwrite(block, 1, size, out) != size)
            exit(3);
    fclose(in);
    if (fclose(out) != 0)
        exit(3);
}

static void loading(const char *path, const char *folder)
{
    const int rounds = small_run() ? 2 : 20;
    char copy[4096];
    int i;
    snprintf(copy, sizeof copy, "%s/libkandev_policy.copy.so", folder);
    copy_file(path, copy);
    for (i = 0; i < rounds; i++) {
        library first = load(copy), again = load(copy);
        pthread_t thread;
        CHECK(first.handle == again.handle && first.decide == again.decide, "one file is two libraries");
        /* The one that this program is linked with, and a copy: two libraries, with nothing in common. */
        CHECK(first.decide != &kandev_policy_decide && first.version() == KANDEV_POLICY_ABI_VERSION, "one library");
        expect_select(first.decide, first.release, "the copy");
        expect_select(kandev_policy_decide, kandev_policy_string_free, "the one that is linked");
        dlclose(again.handle);
        expect_select(first.decide, first.release, "taken out once of twice");
        if (pthread_create(&thread, NULL, decide_in_thread, &first) != 0)
            exit(3);
        pthread_join(thread, NULL);
        dlclose(first.handle);
        expect_select(kandev_policy_decide, kandev_policy_string_free, "after the copy is gone");
    }
    /* Whether the loader really takes it out is the loader's business; what is left must do no harm. */
    printf("the copy is %s after dlclose\n", is_mapped(copy) ? "still mapped" : "gone");
    remove(copy);
}

int main(int argc, char **argv)
{
    const process before = process_now();
    if (argc != 3)
        return 2;
    under_signals();
    process_unchanged(&before, "under signals");
    forks();
    process_unchanged(&before, "forks");
    loading(argv[1], argv[2]);
    process_unchanged(&before, "loading");
    return check_result("process");
}
