/*
 * No memory: each allocation of a call fails in turn, in a process of its own. A result string that can't be allocated is
 * NULL; elsewhere exhausted memory aborts the process, as the header says. Never is there another answer.
 *
 * This program's malloc is in front of the C library's, for the library too.
 */
#define _DEFAULT_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONFIG "{\"port\":41000,\"injected_kandev_mcp\":true,\"mcp_servers\":[{\"name\":\"kandev\",\"type\":\"http\"," \
               "\"url\":\"http://localhost:41000/mcp\"}]}"
#define FRAME "{\"toolCall\":{\"name\":\"mcp__kandev__list_tasks\"},\"options\":[{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]}"
#define SELECT "{\"decision\":\"select\",\"reason\":\"injected_mcp\",\"option_id\":\"yes\""

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* The allocations since `count_from`; the one with the number `failing` is refused. */
static long allocations, failing;
static bool refused_last;

static bool refuse(void)
{
    refused_last = ++allocations == failing;
    if (refused_last)
        errno = ENOMEM;
    return refused_last;
}

void *malloc(size_t size)
{
    return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return refuse() ? NULL : __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (refuse() || !(*memory = __libc_memalign(alignment, size)))
        return ENOMEM;
    return 0;
}

enum outcome { ANSWERED = 10, NOTHING, ANOTHER_ANSWER };

static char *decide(void)
{
    return kandev_policy_decide(FRAME, CONFIG);
}

static char *explain(void)
{
    return kandev_policy_explain(FRAME, CONFIG);
}

/* What becomes of a call whose allocation `number` fails (0: none does). */
static int outcome(char *(*call)(void), long number)
{
    int status;
    pid_t child = fork();
    if (child < 0)
        exit(3);
    if (child == 0) {
        char *json;
        /* Rust says on stderr that it aborts. */
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 2);
        allocations = 0;
        failing = number;
        json = call();
        failing = 0;
        _exit(!json ? NOTHING : strncmp(json, SELECT, strlen(SELECT)) == 0 ? ANSWERED : ANOTHER_ANSWER);
    }
    if (waitpid(child, &status, 0) != child)
        exit(3);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void each_allocation(char *(*call)(void), const char *name)
{
    char *json;
    long number, all;
    int got;
    kandev_policy_string_free(call()); /* what is made once in a process */
    allocations = 0;
    json = call();
    all = allocations;
    kandev_policy_string_free(json);
    CHECK(all > 1, "%s: %ld allocations", name, all);

    CHECK(outcome(call, 0) == ANSWERED, "%s", name);
    for (number = 1; number < all; number++) {
        got = outcome(call, number);
        CHECK(got == -SIGABRT, "%s: allocation %ld of %ld: %d", name, number, all, got);
    }
    got = outcome(call, all);
    CHECK(got == NOTHING, "%s: the result: %d", name, got);
    got = outcome(call, all + 1);
    CHECK(got == ANSWERED, "%s: %d", name, got);

    /* In this process: nothing, and then the answer. */
    allocations = 0;
    failing = all;
    json = call();
    failing = 0;
    CHECK(!json, "%s: %s", name, json);
    json = call();
    CHECK(json && strncmp(json, SELECT, strlen(SELECT)) == 0, "%s: %s", name, json ? json : "NULL");
    kandev_policy_string_free(json);
}

int main(void)
{
    each_allocation(decide, "decide");
    each_allocation(explain, "explain");
    return check_result("exhausted");
}
