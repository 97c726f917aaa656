/*
 * The registry of reviewers' tokens and the guard of the catalog, as include/kandev_policy.h states them: arguments,
 * sizes, tokens, refusals, revocation and threads.
 */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN ((size_t)KANDEV_POLICY_TOKEN_BYTES)
#define MAX_BODY ((size_t)KANDEV_POLICY_MAX_HOOK_BODY_BYTES)
#define REFUSED KANDEV_POLICY_STATUS_REFUSED
#define UNKNOWN KANDEV_POLICY_STATUS_UNKNOWN_TOKEN

#define HOOK(name) "{\"session_id\":\"s\",\"tool_name\":\"" name "\"}"
#define BOUND HOOK("mcp__kcap_review__get_pr_summary")
#define ALLOW \
    "{\"decision\":\"allow\",\"reason\":\"allowlisted_server\",\"status\":200,\"server\":\"kcap_review\",\"tool\":" \
    "\"get_pr_summary\",\"response\":{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":" \
    "{\"behavior\":\"allow\"}}}}"
#define DENY_BODY "{\"decision\":\"deny\",\"reason\":\"malformed_request\",\"status\":400}"
#define LIST "[\"kcap-review\"]"

enum { CANARY = 0x5a };

typedef struct reviewer {
    char token[64]; /* with a NUL */
    uint64_t number;
    char servers[128];
} reviewer;

static bool is_token(const char *text, size_t len)
{
    size_t i;
    for (i = 0; i < len; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", text[i]) || !text[i])
            return false;
    return len == TOKEN;
}

static kandev_policy_registry *open_registry(const char *config, char *token)
{
    kandev_policy_registry *registry = NULL;
    char out[128];
    size_t size = 0;
    kandev_policy_status status =
        kandev_policy_registry_new(config, strlen(config), NULL, &registry, out, sizeof out, &size);
    CHECK(status == OK && registry && is_token(out, size), "%s: status %d", config, (int)status);
    if (!registry)
        exit(1);
    memcpy(token, out, TOKEN);
    token[TOKEN] = '\0';
    return registry;
}

/* Takes `{"token":"...","reviewer":N,"servers":[...]}` apart, which must be exactly that. */
static bool read_reviewer(const char *json, size_t size, reviewer *r)
{
    static const char start[] = "{\"token\":\"", middle[] = "\",\"reviewer\":", end[] = ",\"servers\":";
    const char *at = json, *stop = json + size;
    size_t len;
    if (size < strlen(start) + TOKEN + strlen(middle) || memcmp(at, start, strlen(start)) != 0)
        return false;
    at += strlen(start);
    if (!is_token(at, TOKEN))
        return false;
    memcpy(r->token, at, TOKEN);
    r->token[TOKEN] = '\0';
    at += TOKEN;
    if (memcmp(at, middle, strlen(middle)) != 0)
        return false;
    for (at += strlen(middle), r->number = 0; at < stop && *at >= '0' && *at <= '9'; at++)
        r->number = r->number * 10 + (uint64_t)(*at - '0');
    if ((size_t)(stop - at) < strlen(end) || memcmp(at, end, strlen(end)) != 0 || stop[-1] != '}')
        return false;
    at += strlen(end);
    len = (size_t)(stop - 1 - at);
    if (len >= sizeof r->servers)
        return false;
    memcpy(r->servers, at, len);
    r->servers[len] = '\0';
    return true;
}

static reviewer mint(const kandev_policy_registry *registry, const char *vendor, const char *list)
{
    reviewer r;
    char out[512];
    size_t size = 0;
    kandev_policy_status status = kandev_policy_registry_mint(registry, vendor, strlen(vendor), list, list ? strlen(list) : 0,
                                                              NULL, out, sizeof out, &size);
    memset(&r, 0, sizeof r);
    CHECK(status == OK && size <= sizeof out && read_reviewer(out, size, &r), "%s %s: status %d", vendor, list ? list : "",
          (int)status);
    return r;
}

static kandev_policy_status find(const kandev_policy_registry *registry, const char *token, const char *vendor,
                                 uint64_t *number)
{
    *number = 77;
    return kandev_policy_registry_find(registry, token, strlen(token), vendor, strlen(vendor), number);
}

static void expect_decision(const kandev_policy_registry *registry, const char *token, const char *vendor, const char *body,
                            const char *want, uint64_t number)
{
    char out[1024];
    size_t size = 0;
    uint64_t got = 77;
    kandev_policy_status status = kandev_policy_registry_decide(registry, token, strlen(token), vendor, strlen(vendor), body,
                                                                strlen(body), &got, out, sizeof out, &size);
    if (!want)
        CHECK(status == UNKNOWN && got == 77, "%s %s: status %d", vendor, body, (int)status);
    else
        CHECK(status == OK && got == number && size == strlen(want) && memcmp(out, want, size) == 0, "%s %s: %.*s", vendor, body,
              status == OK ? (int)size : 0, out);
}

static void arguments(void)
{
    char token[64], out[512];
    kandev_policy_registry *registry = open_registry("{}", token), *none = registry;
    uint64_t number = 77;
    size_t size = 77;
    const char *t = token, *v = "codex", *b = BOUND;
    const size_t tl = TOKEN, vl = 5, bl = strlen(BOUND);
    unsigned char bytes[32];
    memset(bytes, 7, sizeof bytes);

    kandev_policy_registry_free(NULL);
    CHECK(kandev_policy_registry_new("{}", 2, NULL, NULL, out, sizeof out, &size) == INVALID, "no registry");
    CHECK(kandev_policy_registry_new("{}", 2, NULL, &none, NULL, 1, &size) == INVALID && !none, "no buffer");
    none = registry;
    CHECK(kandev_policy_registry_new("{}", 2, NULL, &none, out, sizeof out, NULL) == INVALID && !none, "no size");
    none = registry;
    CHECK(kandev_policy_registry_new(NULL, 0, NULL, &none, out, sizeof out, &size) == BAD_CONFIG && !none, "no config");
    CHECK(kandev_policy_registry_new(NULL, 9, NULL, &none, out, sizeof out, &size) == BAD_CONFIG && !none, "NULL of 9 bytes");
    CHECK(kandev_policy_registry_mint(NULL, v, vl, LIST, strlen(LIST), NULL, out, sizeof out, &size) == INVALID, "no registry");
    CHECK(kandev_policy_registry_mint(registry, v, vl, LIST, strlen(LIST), NULL, NULL, 1, &size) == INVALID, "no buffer");
    CHECK(kandev_policy_registry_mint(registry, v, vl, LIST, strlen(LIST), NULL, out, sizeof out, NULL) == INVALID, "no size");
    CHECK(kandev_policy_registry_mint(registry, NULL, 0, LIST, strlen(LIST), NULL, out, sizeof out, &size) == REFUSED, "no vendor");
    CHECK(kandev_policy_registry_mint(registry, v, vl, NULL, 0, bytes, out, sizeof out, &size) == OK, "no list, and entropy");
    CHECK(kandev_policy_registry_revoke(NULL, t, tl) == INVALID, "no registry");
    CHECK(kandev_policy_registry_revoke(registry, NULL, 0) == OK, "no token");
    CHECK(kandev_policy_registry_find(NULL, t, tl, v, vl, &number) == INVALID && number == 77, "no registry");
    CHECK(kandev_policy_registry_find(registry, t, tl, v, vl, NULL) == INVALID, "no number");
    CHECK(kandev_policy_registry_find(registry, NULL, 0, v, vl, &number) == UNKNOWN && number == 77, "no token");
    CHECK(kandev_policy_registry_find(registry, t, tl, NULL, 0, &number) == UNKNOWN && number == 77, "no vendor");
    CHECK(kandev_policy_registry_decide(NULL, t, tl, v, vl, b, bl, &number, out, sizeof out, &size) == INVALID, "no registry");
    CHECK(kandev_policy_registry_decide(registry, t, tl, v, vl, b, bl, NULL, out, sizeof out, &size) == INVALID, "no number");
    CHECK(kandev_policy_registry_decide(registry, t, tl, v, vl, b, bl, &number, NULL, 1, &size) == INVALID, "no buffer");
    CHECK(kandev_policy_registry_decide(registry, t, tl, v, vl, b, bl, &number, out, sizeof out, NULL) == INVALID, "no size");
    CHECK(kandev_policy_registry_decide(registry, t, tl, v, vl, NULL, 0, &number, out, sizeof out, &size) == OK && number == 0 &&
              size == strlen(DENY_BODY) && memcmp(out, DENY_BODY, size) == 0,
          "no body");
    CHECK(kandev_policy_unclassified_tools(NULL, 0, v, vl, b, bl, NULL, 1, &size) == INVALID, "no buffer");
    CHECK(kandev_policy_unclassified_tools(NULL, 0, v, vl, b, bl, out, sizeof out, NULL) == INVALID, "no size");
    CHECK(kandev_policy_unclassified_tools(NULL, 0, NULL, 0, NULL, 0, out, sizeof out, &size) == REFUSED, "nothing");
    kandev_policy_registry_free(registry);
}

static void configs(void)
{
    static const char *const good[] = {"{}", "{\"enabled_vendors\":null}", "{\"enabled_vendors\":[\"codex\",\"claude\"]}",
                                       "{\"enabled_vendors\":[]}", "{\"result_channel_scope\":\"reviewer\"}"};
    static const char *const bad[][2] = {
        {"", ""}, {"[]", "line 1"}, {"{", "line 1"}, {"\xff", "UTF-8"}, {"{\"other\":1}", "other"},
        {"{\"enabled_vendors\":\"codex\"}", "enabled_vendors"}, {"{\"enabled_vendors\":[\"secret\"]}", "enabled_vendors"},
        {"{\"result_channel_scope\":\"secret\"}", "result_channel_scope"}, {"{\"catalog\":\"secret\"}", "catalog"},
    };
    char token[64], other[64];
    size_t i, capacity;
    for (i = 0; i < sizeof good / sizeof *good; i++) {
        kandev_policy_registry_free(open_registry(good[i], token));
        kandev_policy_registry_free(open_registry(good[i], other));
        CHECK(strcmp(token, other) != 0, "two registries with one token");
    }
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        kandev_policy_registry *registry = (kandev_policy_registry *)(void *)token;
        char text[256], cut[256];
        size_t size = 0, whole = 0;
        CHECK(kandev_policy_registry_new(bad[i][0], strlen(bad[i][0]), NULL, &registry, text, sizeof text - 1, &size) ==
                      BAD_CONFIG && !registry && size > 0 && size < sizeof text,
              "%s", bad[i][0]);
        text[size < sizeof text ? size : 0] = '\0';
        CHECK(strstr(text, bad[i][1]) && !strstr(text, "secret"), "%s: %s", bad[i][0], text);
        memset(cut, CANARY, sizeof cut);
        CHECK(kandev_policy_registry_new(bad[i][0], strlen(bad[i][0]), NULL, &registry, cut, 5, &whole) == BAD_CONFIG &&
                  whole == size && memcmp(cut, text, 5) == 0 && cut[5] == CANARY,
              "%s: cut", bad[i][0]);
    }
    for (capacity = 0; capacity <= TOKEN + 1; capacity++) {
        guarded g = guarded_new(TOKEN + 1);
        char *out = g.end - capacity;
        kandev_policy_registry *registry = NULL;
        size_t size = 0, at, dirty = 0;
        bool fits = capacity >= TOKEN;
        memset(g.map, CANARY, g.size);
        CHECK(kandev_policy_registry_new("{}", 2, NULL, &registry, out, capacity, &size) == (fits ? OK : TOO_SMALL) &&
                  size == TOKEN && (registry != NULL) == fits,
              "capacity %lu", (unsigned long)capacity);
        for (at = 0; at < g.size; at++)
            dirty += g.map[at] != CANARY && !(fits && g.map + at >= out && g.map + at < out + TOKEN);
        CHECK(dirty == 0, "capacity %lu: %lu bytes are written", (unsigned long)capacity, (unsigned long)dirty);
        kandev_policy_registry_free(registry);
        guarded_free(&g);
    }
}

static void minting(void)
{
    static const char *const lists[][2] = {
        {NULL, "[]"}, {"null", "[]"}, {"[]", "[]"}, {LIST, LIST}, {"[\" KCAP-Review\\t\",\"kcap-review\"]", LIST},
        {"[\"kcap-flow-result\"]", "[]"}, {"[\"kcap-sessions\",\"kcap-review\"]", NULL},
    };
    static const char *const refused[][3] = {
        /* vendor, list, what the text names */
        {"claude", LIST, "claude"}, {"Codex", LIST, "Codex"}, {"", LIST, "vendor"}, {"\xff", LIST, "vendor"},
        {"codex", "[\"*\"]", "*"}, {"codex", "[\"\"]", "[0]"}, {"codex", "[\"kcap-review\",\" \"]", "[1]"},
        {"codex", "[\"kcap-flows\"]", "kcap-flows"}, {"codex", "[\"kcap-memory\"]", "kcap-memory"},
        {"codex", "[\"kcap_review\"]", "kcap_review"}, {"codex", "[\"nobody\"]", "nobody"}, {"codex", "[1]", "[0]"},
        {"codex", "{}", "array"}, {"codex", "\"kcap-review\"", "array"}, {"codex", "[\"kcap-review\"", "array"},
        {"codex", "[\"\xff\"]", ""}, {"codex", LIST "x", "array"},
    };
    char shared[64];
    kandev_policy_registry *registry = open_registry("{}", shared);
    uint64_t last = 0, number;
    size_t i, capacity;
    char json[512];
    size_t needed = 0;

    for (i = 0; i < sizeof lists / sizeof *lists; i++) {
        reviewer r = mint(registry, "codex", lists[i][0]);
        CHECK(!lists[i][1] || strcmp(r.servers, lists[i][1]) == 0, "%s: %s", lists[i][0] ? lists[i][0] : "", r.servers);
        CHECK(r.number > last && strcmp(r.token, shared) != 0, "number %lu", (unsigned long)r.number);
        last = r.number;
        CHECK(find(registry, r.token, "codex", &number) == OK && number == r.number, "the new token");
    }
    for (i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *vendor = refused[i][0], *list = refused[i][1];
        char text[256], cut[64];
        size_t size = 0, whole = 0;
        CHECK(kandev_policy_registry_mint(registry, vendor, strlen(vendor), list, strlen(list), NULL, text, sizeof text - 1,
                                          &size) == REFUSED && size > 0 && size < sizeof text,
              "%s %s", vendor, list);
        text[size < sizeof text ? size : 0] = '\0';
        CHECK(strstr(text, refused[i][2]), "%s %s: %s", vendor, list, text);
        memset(cut, CANARY, sizeof cut);
        CHECK(kandev_policy_registry_mint(registry, vendor, strlen(vendor), list, strlen(list), NULL, cut, 7, &whole) == REFUSED &&
                  whole == size && memcmp(cut, text, 7) == 0 && cut[7] == CANARY,
              "%s %s: cut", vendor, list);
    }
    kandev_policy_registry_mint(registry, "codex", 5, LIST, strlen(LIST), NULL, json, sizeof json, &needed);
    for (capacity = 0; capacity < needed; capacity++) {
        guarded g = guarded_new(needed);
        size_t size = 0, at, dirty = 0;
        memset(g.map, CANARY, g.size);
        CHECK(kandev_policy_registry_mint(registry, "codex", 5, LIST, strlen(LIST), NULL, g.end - capacity, capacity, &size) ==
                      TOO_SMALL && size >= needed,
              "capacity %lu", (unsigned long)capacity);
        for (at = 0; at < g.size; at++)
            dirty += g.map[at] != CANARY;
        CHECK(dirty == 0, "capacity %lu: %lu bytes are written", (unsigned long)capacity, (unsigned long)dirty);
        guarded_free(&g);
    }
    kandev_policy_registry_free(registry);
}

static void tokens(void)
{
    char shared[64], url[160], changed[64];
    kandev_policy_registry *registry = open_registry("{\"enabled_vendors\":[\"codex\",\"claude\"]}", shared);
    reviewer one = mint(registry, "codex", LIST), two = mint(registry, "claude", LIST);
    uint64_t number;
    size_t i;
    guarded g = guarded_new(256);

    CHECK(find(registry, one.token, "codex", &number) == OK && number == one.number, "one");
    CHECK(find(registry, two.token, "claude", &number) == OK && number == two.number, "two");
    CHECK(find(registry, shared, "codex", &number) == OK && number == 0, "shared");
    CHECK(find(registry, shared, "claude", &number) == OK && number == 0, "shared");
    CHECK(find(registry, one.token, "claude", &number) == UNKNOWN && number == 77, "another vendor");
    CHECK(find(registry, two.token, "codex", &number) == UNKNOWN, "another vendor");
    CHECK(find(registry, one.token, "Codex", &number) == UNKNOWN && find(registry, shared, "cod", &number) == UNKNOWN, "no vendor");
    for (i = 0; i <= TOKEN + 1; i++) {
        /* Each beginning, one character more, and each character changed; nothing is read behind it. */
        char *cut;
        memset(changed, 'A', sizeof changed);
        memcpy(changed, one.token, TOKEN);
        cut = guarded_place(&g, changed, i);
        number = 77;
        if (i != TOKEN)
            CHECK(kandev_policy_registry_find(registry, cut, i, "codex", 5, &number) == UNKNOWN && number == 77, "%lu",
                  (unsigned long)i);
        if (i < TOKEN) {
            changed[i] = changed[i] == 'A' ? 'B' : 'A';
            cut = guarded_place(&g, changed, TOKEN);
            CHECK(kandev_policy_registry_find(registry, cut, TOKEN, "codex", 5, &number) == UNKNOWN, "%lu", (unsigned long)i);
        }
    }

    expect_decision(registry, one.token, "codex", BOUND, ALLOW, one.number);
    expect_decision(registry, two.token, "claude", BOUND, ALLOW, two.number);
    expect_decision(registry, shared, "codex", BOUND,
                    "{\"decision\":\"ask\",\"reason\":\"interactive_prompt\",\"status\":200,\"server\":\"kcap_review\",\"tool\":"
                    "\"get_pr_summary\"}",
                    0);
    expect_decision(registry, one.token, "codex", "{}", DENY_BODY, one.number);
    expect_decision(registry, one.token, "claude", BOUND, NULL, 0);
    expect_decision(registry, "nobody", "codex", BOUND, NULL, 0);

    CHECK(kandev_policy_registry_revoke(registry, one.token, TOKEN) == OK, "revoked");
    expect_decision(registry, one.token, "codex", BOUND, NULL, 0);
    CHECK(find(registry, one.token, "codex", &number) == UNKNOWN, "revoked");
    CHECK(kandev_policy_registry_revoke(registry, one.token, TOKEN) == OK, "revoked again");
    CHECK(kandev_policy_registry_revoke(registry, "nobody", 6) == OK && kandev_policy_registry_revoke(registry, "", 0) == OK,
          "nobody's");
    expect_decision(registry, two.token, "claude", BOUND, ALLOW, two.number);
    CHECK(kandev_policy_registry_revoke(registry, shared, TOKEN) == OK && find(registry, shared, "codex", &number) == OK,
          "the shared token lives on");
    snprintf(url, sizeof url, "http://127.0.0.1:4000/%s/claude/permission-request", two.token);
    CHECK(kandev_policy_registry_revoke(registry, url, strlen(url)) == OK, "a URL");
    expect_decision(registry, two.token, "claude", BOUND, NULL, 0);
    one = mint(registry, "codex", LIST);
    CHECK(one.number > two.number, "a number is used again");
    guarded_free(&g);
    kandev_policy_registry_free(registry);
}

static void bodies(void)
{
    char shared[64];
    kandev_policy_registry *registry = open_registry("{}", shared);
    const reviewer r = mint(registry, "codex", LIST);
    const size_t needed = strlen(ALLOW), len = strlen(BOUND);
    guarded g = guarded_new(4096), big = guarded_new(MAX_DOCUMENT + 4096);
    size_t capacity, end, size, at, i;
    uint64_t number;
    char out[1024];

    for (capacity = 0; capacity <= needed + 3; capacity++) {
        bool fits = capacity >= needed;
        size_t dirty = 0;
        char *buffer = g.end - capacity;
        memset(g.map, CANARY, g.size);
        number = 77;
        size = 0;
        CHECK(kandev_policy_registry_decide(registry, r.token, TOKEN, "codex", 5, BOUND, len, &number, buffer, capacity,
                                            &size) == (fits ? OK : TOO_SMALL) && size == needed &&
                  number == (fits ? r.number : 77),
              "capacity %lu", (unsigned long)capacity);
        for (at = 0; at < g.size; at++)
            dirty += g.map[at] != CANARY && !(fits && g.map + at >= buffer && g.map + at < buffer + needed);
        CHECK(dirty == 0, "capacity %lu: %lu bytes are written", (unsigned long)capacity, (unsigned long)dirty);
    }
    for (end = 0; end < len; end++)
        CHECK(kandev_policy_registry_decide(registry, r.token, TOKEN, "codex", 5, guarded_place(&g, BOUND, end), end, &number, out,
                                            sizeof out, &size) == OK && size == strlen(DENY_BODY) &&
                  memcmp(out, DENY_BODY, size) == 0,
              "cut to %lu", (unsigned long)end);
    for (i = 0; i < 4; i++) {
        /* 1 MiB, one byte more, 16 MiB, and a length that lies about as much. */
        const size_t sizes[] = {MAX_BODY, MAX_BODY + 1, MAX_DOCUMENT, MAX_DOCUMENT + 1};
        const char *want = i == 0 ? ALLOW : DENY_BODY;
        buffer body = buffer_new();
        buffer_text(&body, BOUND);
        buffer_repeat(&body, " ", 1, sizes[i] - body.len);
        CHECK(kandev_policy_registry_decide(registry, r.token, TOKEN, "codex", 5, guarded_place(&big, body.data, body.len),
                                            i == 3 ? SIZE_MAX : body.len, &number, out, sizeof out, &size) == OK &&
                  size == strlen(want) && memcmp(out, want, size) == 0,
              "%lu bytes", (unsigned long)sizes[i]);
        buffer_free(&body);
    }
    guarded_free(&g);
    guarded_free(&big);
    kandev_policy_registry_free(registry);
}

static void guard(void)
{
    static const char *const cases[][3] = {
        /* server, list, names */
        {"kcap-review", "{\"tools\":[]}", "[]"},
        {"kcap-review", "{\"tools\":[{\"name\":\"get_pr_summary\",\"inputSchema\":{}}]}", "[]"},
        {"kcap-review", "{\"tools\":[{\"name\":\"b\"},{\"name\":\"get_pr_summary\"},{\"name\":\"a\\\"\"},{\"name\":\"b\"}]}",
         "[\"b\",\"a\\\"\"]"},
        {"kcap-flow-result", "{\"tools\":[{\"name\":\"submit_review_result\"}]}", "[]"},
        {"nobody", "{\"tools\":[]}", NULL},
        {"kcap-review", "", NULL},
        {"kcap-review", "{\"tools\":{}}", NULL},
        {"kcap-review", "{\"tools\":[{}]}", NULL},
        {"kcap-review", "{\"tools\":[],\"nextCursor\":\"x\"}", NULL},
    };
    size_t i, capacity;
    char text[256];
    size_t size;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *server = cases[i][0], *list = cases[i][1], *want = cases[i][2];
        kandev_policy_status status;
        size = 0;
        status = kandev_policy_unclassified_tools(NULL, 0, server, strlen(server), list, strlen(list), text, sizeof text, &size);
        if (!want) {
            CHECK(status == REFUSED && size > 0, "%s %s: status %d", server, list, (int)status);
            continue;
        }
        CHECK(status == OK && size == strlen(want) && memcmp(text, want, size) == 0, "%s %s: %.*s", server, list,
              status == OK ? (int)size : 0, text);
        for (capacity = 0; capacity < strlen(want); capacity++) {
            char out[64];
            memset(out, CANARY, sizeof out);
            CHECK(kandev_policy_unclassified_tools(NULL, 0, server, strlen(server), list, strlen(list), out, capacity, &size) ==
                          TOO_SMALL && size == strlen(want) && out[0] == CANARY,
                  "capacity %lu", (unsigned long)capacity);
        }
    }
    CHECK(kandev_policy_unclassified_tools("{}", 2, "kcap-review", 11, "{\"tools\":[]}", 12, text, sizeof text, &size) ==
                  BAD_CONFIG && size > 0,
          "a bad catalog");
}

enum { THREADS = 8 };

typedef struct shared_registry {
    const kandev_policy_registry *registry;
    reviewer constant;
} shared_registry;

static void *come_and_go(void *argument)
{
    const shared_registry *s = (const shared_registry *)argument;
    const int rounds = small_run() ? 10 : 300;
    int i;
    for (i = 0; i < rounds; i++) {
        reviewer own = mint(s->registry, "codex", LIST);
        expect_decision(s->registry, own.token, "codex", BOUND, ALLOW, own.number);
        expect_decision(s->registry, s->constant.token, "codex", BOUND, ALLOW, s->constant.number);
        CHECK(kandev_policy_registry_revoke(s->registry, own.token, TOKEN) == OK, "revoke");
        expect_decision(s->registry, own.token, "codex", BOUND, NULL, 0);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t ids[THREADS];
    char token[64];
    kandev_policy_registry *registry = open_registry("{}", token);
    shared_registry s;
    int i;
    s.registry = registry;
    s.constant = mint(registry, "codex", LIST);
    for (i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, come_and_go, &s) != 0)
            exit(1);
    for (i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    kandev_policy_registry_free(registry);
}

int main(void)
{
    arguments();
    configs();
    minting();
    tokens();
    bodies();
    guard();
    threads();
    return check_result("registry");
}
