/*
 * A panic at each stage of a decision, in a library built with the shipped profile plus the feature `fault-injection`:
 * the answer is internal_error, nothing is printed, and the next call answers as ever.
 *
 *     fault STAGE...     the stages that the sources name, so that a new one can't go untested
 */
#define _DEFAULT_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C"
#endif
    void
    kandev_policy_fault_arm(const char *stage);

#define ACP "{\"agent_type\":\"claude-acp\",\"port\":41000,\"injected_kandev_mcp\":true,\"mcp_servers\":[{\"name\":" \
            "\"kandev\",\"type\":\"http\",\"url\":\"http://localhost:41000/mcp\"}]}"
#define REVIEWER(token) \
    "{\"policy\":\"unattended_review\",\"vendor\":\"codex\",\"token\":\"" token "\",\"servers\":[\"kcap-review\"]}"
#define FRAME(name) "{\"toolCall\":{\"name\":\"" name "\"},\"options\":[{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]}"
#define HOOK(name) "{\"session_id\":\"s\",\"tool_name\":\"" name "\"}"
#define ALLOW "\"response\":{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\"}}}}"
#define ASK_ERROR "{\"decision\":\"ask\",\"reason\":\"internal_error\"}"
#define DENY_ERROR "{\"decision\":\"deny\",\"reason\":\"internal_error\",\"status\":500}"

enum { INJECTED = 1, BLANKET = 2, QUALIFIED = 4, BARE = 8, RESULT = 16, SHARED = 32, BROKEN = 64, SCENARIOS = 7 };
enum { FRAMES = INJECTED | BLANKET, READ = FRAMES | BROKEN, HOOKS = QUALIFIED | BARE | RESULT | SHARED };

static const struct scenario {
    const char *name, *config, *input, *answer, *error;
} scenarios[SCENARIOS] = {
    {"an injected server's call", ACP, FRAME("mcp__kandev__list_tasks"),
     "{\"decision\":\"select\",\"reason\":\"injected_mcp\",\"option_id\":\"yes\",\"option_kind\":\"allow_once\",\"server\":"
     "\"kandev\",\"tool\":\"list_tasks\"}",
     ASK_ERROR},
    {"blanket approval", "{\"auto_approve_permissions\":true}", FRAME("Bash"),
     "{\"decision\":\"select\",\"reason\":\"blanket_approval\",\"option_id\":\"yes\",\"option_kind\":\"allow_once\"}", ASK_ERROR},
    {"a bound server's call", REVIEWER("reviewer"), HOOK("mcp__kcap_review__get_pr_summary"),
     "{\"decision\":\"allow\",\"reason\":\"allowlisted_server\",\"status\":200,\"server\":\"kcap_review\",\"tool\":"
     "\"get_pr_summary\"," ALLOW,
     DENY_ERROR},
    {"a bare tool", REVIEWER("reviewer"), HOOK("get_pr_summary"),
     "{\"decision\":\"allow\",\"reason\":\"classified_bare_tool\",\"status\":200," ALLOW, DENY_ERROR},
    {"the result channel", REVIEWER("reviewer"), HOOK("mcp__kcap-flow-result__submit_review_result"),
     "{\"decision\":\"allow\",\"reason\":\"result_channel\",\"status\":200,\"server\":\"kcap-flow-result\",\"tool\":"
     "\"submit_review_result\"," ALLOW,
     DENY_ERROR},
    {"the shared token", REVIEWER("shared"), HOOK("Bash"),
     "{\"decision\":\"ask\",\"reason\":\"interactive_prompt\",\"status\":200}", DENY_ERROR},
    {"a broken frame", ACP, "{", "{\"decision\":\"ask\",\"reason\":\"malformed_frame\"}", ASK_ERROR},
};

/* Which scenarios come to a stage, as JSON, and whether a decoded request (always the injected server's call, and under
 * blanket approval) does. `config` is passed before there is a handle. */
static const struct stage {
    const char *name;
    int json, request;
} stages[] = {
    {"config", 0, 0},
    {"document", READ, 0},
    {"method", FRAMES, 0},
    {"decision_path", FRAMES, 0},
    {"options", FRAMES, FRAMES},
    {"blanket_approval", BLANKET, BLANKET},
    {"identity", INJECTED, INJECTED},
    {"qualified_name", INJECTED | QUALIFIED, INJECTED},
    {"provenance", INJECTED, INJECTED},
    {"evidence", INJECTED | QUALIFIED, INJECTED},
    {"option", INJECTED, INJECTED},
    {"body", HOOKS, 0},
    {"result_channel", HOOKS, 0},
    {"allowlist", QUALIFIED, 0},
    {"classification", BARE, 0},
    {"result", READ | HOOKS, FRAMES},
    /* The registry's own; see registry_faults. */
    {"registry_new", 0, 0},
    {"mint", 0, 0},
    {"token_lookup", 0, 0},
    {"revoke", 0, 0},
    {"unclassified_tools", 0, 0},
};

/* The flat encoding of FRAME("mcp__kandev__list_tasks"). */
static const char request[] = "\1\0\0\0\27\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\3\0\0\0\12\0\0\0"
                              "mcp__kandev__list_tasksyesallow_once";

/* ---- what the library prints while it runs ---- */

static FILE *captured;
static int saved[2];

static void capture(void)
{
    int i;
    fflush(NULL);
    captured = tmpfile();
    for (i = 0; captured && i < 2; i++) {
        saved[i] = dup(i + 1);
        if (saved[i] < 0 || dup2(fileno(captured), i + 1) < 0)
            exit(3);
    }
    if (!captured)
        exit(3);
}

static long release(void)
{
    long size;
    int i;
    fflush(NULL);
    size = (long)lseek(fileno(captured), 0, SEEK_END);
    for (i = 0; i < 2; i++) {
        if (dup2(saved[i], i + 1) < 0)
            exit(3);
        close(saved[i]);
    }
    fclose(captured);
    return size;
}

/* ---- one call each ---- */

typedef struct answers {
    kandev_policy_status status_new, status_size, status, status_frame, status_request;
    kandev_policy *policy;
    char *decided, *explained;
    char error[64];
    size_t error_size, needed, size, strings_size;
    char json[512], strings[512];
    kandev_policy_verdict verdict, request;
} answers;

/* Every entry point once with `stage` armed, under a handle that was compiled before, and with nothing checked until the
 * output is free again. */
static answers call_all(const struct scenario *s, const kandev_policy *policy, const char *stage)
{
    answers a;
    long printed;
    const size_t len = strlen(s->input);
    memset(&a, 0x5a, sizeof a);
    capture();
    kandev_policy_fault_arm(stage);
    a.decided = kandev_policy_decide(s->input, s->config);
    a.explained = kandev_policy_explain(s->input, s->config);
    a.status_new = kandev_policy_new(s->config, strlen(s->config), &a.policy, a.error, sizeof a.error, &a.error_size);
    a.status_size = kandev_policy_evaluate(policy, s->input, len, NULL, 0, &a.needed);
    a.status = kandev_policy_evaluate(policy, s->input, len, a.json, sizeof a.json, &a.size);
    a.status_frame =
        kandev_policy_evaluate_frame(policy, s->input, len, &a.verdict, a.strings, sizeof a.strings, &a.strings_size);
    a.status_request = kandev_policy_evaluate_request(policy, request, sizeof request - 1, &a.request);
    kandev_policy_reason_word(0);
    kandev_policy_version();
    kandev_policy_free(a.status_new == OK ? a.policy : NULL);
    kandev_policy_string_free(NULL);
    kandev_policy_fault_arm(NULL);
    printed = release();
    CHECK(printed == 0, "%s, %s: %ld bytes are printed", stage ? stage : "no stage", s->name, printed);
    return a;
}

static void check_all(const struct scenario *s, int scenario, const struct stage *stage, answers *a)
{
    const char *name = stage ? stage->name : "no stage";
    bool before_handle = stage && strcmp(stage->name, "config") == 0;
    bool faulty = stage && stage->json & scenario;
    const char *compiled = faulty ? s->error : s->answer;
    const char *one_shot = faulty || before_handle ? s->error : s->answer;
    bool hook = (scenario & HOOKS) != 0;
    buffer rebuilt = buffer_new();

    CHECK(a->decided && strcmp(a->decided, one_shot) == 0, "%s, %s: %s", name, s->name, a->decided ? a->decided : "NULL");
    CHECK(a->explained && strncmp(a->explained, one_shot, strlen(one_shot) - 1) == 0, "%s, %s: %s", name, s->name,
          a->explained ? a->explained : "NULL");
    if (before_handle)
        CHECK(a->status_new == INTERNAL && !a->policy && a->error_size == 0 && a->error[0] == 0x5a, "%s, %s: new: %d", name,
              s->name, (int)a->status_new);
    else
        CHECK(a->status_new == OK && a->policy && a->error_size == 0, "%s, %s: new: %d", name, s->name, (int)a->status_new);
    CHECK(a->status_size == TOO_SMALL && a->needed == strlen(compiled), "%s, %s: %lu bytes needed", name, s->name,
          (unsigned long)a->needed);
    CHECK(a->status == OK && a->size == strlen(compiled) && memcmp(a->json, compiled, a->size) == 0,
          "%s, %s: evaluate: status %d", name, s->name, (int)a->status);
    CHECK(a->status_frame == OK && buffer_verdict(&rebuilt, &a->verdict, a->strings, a->strings_size) &&
              strcmp(rebuilt.data, compiled) == 0,
          "%s, %s: evaluate_frame: status %d, %s", name, s->name, (int)a->status_frame, rebuilt.data);

    CHECK(a->status_request == OK, "%s, %s: evaluate_request: status %d", name, s->name, (int)a->status_request);
    if (stage && (stage->request & scenario || (scenario & BROKEN && stage->request & INJECTED) ||
                  (hook && strcmp(name, "result") == 0)))
        CHECK(a->request.kind == (hook ? KANDEV_POLICY_KIND_DENY : KANDEV_POLICY_KIND_ASK) &&
                  a->request.reason == KANDEV_POLICY_REASON_INTERNAL_ERROR && a->request.status == (hook ? 500 : 0) &&
                  a->request.option_index == UINT32_MAX && a->request.server_len == 0,
              "%s, %s: evaluate_request: reason %d", name, s->name, (int)a->request.reason);
    else
        CHECK(a->request.kind == (hook ? KANDEV_POLICY_KIND_DENY : KANDEV_POLICY_KIND_SELECT) &&
                  a->request.option_index == (hook ? UINT32_MAX : 0),
              "%s, %s: evaluate_request: reason %d", name, s->name, (int)a->request.reason);

    kandev_policy_string_free(a->decided);
    kandev_policy_string_free(a->explained);
    buffer_free(&rebuilt);
}

/* ---- the registry ---- */

static bool is(const char *armed, const char *stage)
{
    return armed && strcmp(armed, stage) == 0;
}

static void registry_faults(void)
{
    static const char list[] = "[\"kcap-review\"]", tools[] = "{\"tools\":[{\"name\":\"get_pr_summary\"},{\"name\":\"rm\"}]}";
    char token[128], json[512], out[512];
    kandev_policy_registry *registry = NULL;
    size_t size = 0, stage;
    uint64_t number = 0;
    if (kandev_policy_registry_new("{}", 2, NULL, &registry, token, sizeof token, &size) != OK ||
        kandev_policy_registry_mint(registry, "codex", 5, list, strlen(list), NULL, json, sizeof json, &size) != OK) {
        CHECK(false, "no registry");
        return;
    }
    /* {"token":"...", */
    memcpy(token, json + strlen("{\"token\":\""), KANDEV_POLICY_TOKEN_BYTES);

    for (stage = 0; stage < 2 * sizeof stages / sizeof *stages; stage++) {
        const struct stage *s = &stages[stage / 2];
        const char *armed = stage % 2 ? NULL : s->name;
        bool mint = is(armed, "mint"), lookup = is(armed, "token_lookup");
        bool deny = lookup || (armed && s->json & QUALIFIED);
        const char *want = deny ? DENY_ERROR : scenarios[2].answer;
        kandev_policy_status made, minted, found, decided, revoked, guarded;
        kandev_policy_registry *other = (kandev_policy_registry *)(void *)out;
        size_t made_size = 77, guarded_size = 77;
        char secret[64], names[64];
        uint64_t whose = 77;
        size_t decided_size = 0;
        long printed;
        number = 77;
        memset(secret, 0x5a, sizeof secret);
        memset(names, 0x5a, sizeof names);
        capture();
        kandev_policy_fault_arm(armed);
        made = kandev_policy_registry_new("{}", 2, NULL, &other, secret, sizeof secret, &made_size);
        minted = kandev_policy_registry_mint(registry, "codex", 5, list, strlen(list), NULL, json, sizeof json, &size);
        found = kandev_policy_registry_find(registry, token, KANDEV_POLICY_TOKEN_BYTES, "codex", 5, &number);
        decided = kandev_policy_registry_decide(registry, token, KANDEV_POLICY_TOKEN_BYTES, "codex", 5, scenarios[2].input,
                                                strlen(scenarios[2].input), &whose, out, sizeof out, &decided_size);
        revoked = kandev_policy_registry_revoke(registry, "nobody", 6);
        guarded = kandev_policy_unclassified_tools(NULL, 0, "kcap-review", 11, tools, strlen(tools), names, sizeof names,
                                                   &guarded_size);
        kandev_policy_fault_arm(NULL);
        printed = release();
        if (is(armed, "registry_new"))
            CHECK(made == INTERNAL && !other && made_size == 0 && secret[0] == 0x5a, "%s: new: %d", s->name, (int)made);
        else
            CHECK(made == OK && other && made_size == KANDEV_POLICY_TOKEN_BYTES, "%s: new: %d", s->name, (int)made);
        kandev_policy_registry_free(other);
        CHECK(printed == 0, "%s: %ld bytes are printed", armed ? armed : "no stage", printed);
        CHECK(minted == (mint ? INTERNAL : OK), "%s: mint: %d", s->name, (int)minted);
        CHECK(found == (lookup ? INTERNAL : OK) && number == (lookup ? 77 : 1), "%s: find: %d", s->name, (int)found);
        CHECK(decided == OK && whose == (deny ? 0 : 1) && decided_size == strlen(want) && memcmp(out, want, decided_size) == 0,
              "%s: decide: %d", s->name, (int)decided);
        CHECK(revoked == (is(armed, "revoke") ? INTERNAL : OK), "%s: revoke: %d", s->name, (int)revoked);
        if (is(armed, "unclassified_tools"))
            CHECK(guarded == INTERNAL && guarded_size == 0 && names[0] == 0x5a, "%s: guard: %d", s->name, (int)guarded);
        else
            CHECK(guarded == OK && guarded_size == strlen("[\"rm\"]") && memcmp(names, "[\"rm\"]", guarded_size) == 0,
                  "%s: guard: %d", s->name, (int)guarded);
    }
    /* What the panics have left: the token is revoked by the first call that says so. */
    kandev_policy_fault_arm("revoke");
    CHECK(kandev_policy_registry_revoke(registry, token, KANDEV_POLICY_TOKEN_BYTES) == INTERNAL, "revoke");
    kandev_policy_fault_arm(NULL);
    CHECK(kandev_policy_registry_revoke(registry, token, KANDEV_POLICY_TOKEN_BYTES) == OK, "revoke");
    CHECK(kandev_policy_registry_find(registry, token, KANDEV_POLICY_TOKEN_BYTES, "codex", 5, &number) ==
              KANDEV_POLICY_STATUS_UNKNOWN_TOKEN,
          "it is still known");
    kandev_policy_registry_free(registry);
}

/* ---- many threads that panic at once ---- */

enum { THREADS = 8 };

static void *panic_often(void *policy)
{
    const int rounds = small_run() ? 10 : 500;
    int i;
    for (i = 0; i < rounds; i++) {
        char *json = kandev_policy_decide(scenarios[0].input, scenarios[0].config);
        char out[256];
        size_t size = 0;
        CHECK(json && strcmp(json, ASK_ERROR) == 0, "%s", json ? json : "NULL");
        kandev_policy_string_free(json);
        CHECK(kandev_policy_evaluate((const kandev_policy *)policy, scenarios[0].input, strlen(scenarios[0].input), out,
                                     sizeof out, &size) == OK &&
                  size == strlen(ASK_ERROR) && memcmp(out, ASK_ERROR, size) == 0,
              "%.*s", (int)size, out);
    }
    return NULL;
}

static void many_threads(kandev_policy *policy)
{
    pthread_t ids[THREADS];
    long printed;
    int i;
    capture();
    kandev_policy_fault_arm("identity");
    for (i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, panic_often, policy) != 0)
            exit(3);
    for (i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    kandev_policy_fault_arm("");
    printed = release();
    CHECK(printed == 0, "%ld bytes are printed by threads", printed);
}

static void known(int count, char **names)
{
    size_t s;
    int i;
    CHECK(count > 0, "usage: fault STAGE...");
    for (i = 0; i < count; i++) {
        bool found = false;
        for (s = 0; s < sizeof stages / sizeof *stages; s++)
            found = found || strcmp(names[i], stages[s].name) == 0;
        CHECK(found, "the stage %s has no row in this test", names[i]);
    }
    for (s = 0; s < sizeof stages / sizeof *stages; s++) {
        bool found = false;
        for (i = 0; i < count; i++)
            found = found || strcmp(names[i], stages[s].name) == 0;
        CHECK(found, "the sources have no stage %s", stages[s].name);
    }
}

int main(int argc, char **argv)
{
    kandev_policy *policies[SCENARIOS];
    size_t stage;
    int i;

    known(argc - 1, argv + 1);
    for (i = 0; i < SCENARIOS; i++) {
        CHECK(kandev_policy_new(scenarios[i].config, strlen(scenarios[i].config), &policies[i], NULL, 0, NULL) == OK, "%s",
              scenarios[i].config);
        if (!policies[i])
            return 1;
    }
    /* The first panic of the process is the one that would print. */
    for (stage = 0; stage < sizeof stages / sizeof *stages; stage++) {
        for (i = 0; i < SCENARIOS; i++) {
            answers a = call_all(&scenarios[i], policies[i], stages[stage].name);
            check_all(&scenarios[i], 1 << i, &stages[stage], &a);
            a = call_all(&scenarios[i], policies[i], NULL);
            check_all(&scenarios[i], 1 << i, NULL, &a);
        }
    }
    registry_faults();
    many_threads(policies[0]);
    for (i = 0; i < SCENARIOS; i++) {
        answers a = call_all(&scenarios[i], policies[i], "no such stage");
        check_all(&scenarios[i], 1 << i, NULL, &a);
        kandev_policy_free(policies[i]);
    }
    return check_result("fault");
}
