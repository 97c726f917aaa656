/*
 * The ABI's contract, as include/kandev_policy.h states it: arguments, sizes, limits, errors, threads, and what a call
 * leaves behind in the process. KANDEV_TEST_SMALL scales the huge cases down.
 */
#define _DEFAULT_SOURCE
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORT "41000"
#define SERVERS "\"mcp_servers\":[{\"name\":\"kandev\",\"type\":\"http\",\"url\":\"http://localhost:" PORT "/mcp\"}]"
#define CONFIG "{\"agent_type\":\"claude-acp\",\"port\":" PORT ",\"injected_kandev_mcp\":true," SERVERS "}"
#define OPTIONS "\"options\":[{\"optionId\":\"no\",\"kind\":\"reject_once\"},{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]"
#define CALL "\"toolCall\":{\"name\":\"mcp__kandev__list_tasks\",\"rawInput\":{\"note\":\"\xc3\xa9\"}}"
#define FRAME "{" CALL "," OPTIONS "}"
#define MESSAGE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/request_permission\",\"params\":" FRAME "}"
#define SELECT \
    "{\"decision\":\"select\",\"reason\":\"injected_mcp\",\"option_id\":\"yes\",\"option_kind\":\"allow_once\"," \
    "\"server\":\"kandev\",\"tool\":\"list_tasks\"}"
#define ASK(reason) "{\"decision\":\"ask\",\"reason\":\"" reason "\"}"
#define MALFORMED ASK("malformed_frame")

#define REVIEWER "{\"policy\":\"unattended_review\",\"vendor\":\"codex\",\"token\":\"reviewer\",\"servers\":[\"kcap-review\"]}"
#define HOOK "{\"session_id\":\"s\",\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"mcp__kcap_review__get_pr_summary\"}"
#define ALLOW \
    "{\"decision\":\"allow\",\"reason\":\"allowlisted_server\",\"status\":200,\"server\":\"kcap_review\",\"tool\":" \
    "\"get_pr_summary\",\"response\":{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":" \
    "{\"behavior\":\"allow\"}}}}"
#define DENY(reason, status) "{\"decision\":\"deny\",\"reason\":\"" reason "\",\"status\":" status "}"

enum { CANARY = 0x5a };

static kandev_policy *open_policy(const char *config)
{
    kandev_policy *policy = NULL;
    CHECK(kandev_policy_new(config, strlen(config), &policy, NULL, 0, NULL) == OK, "%.200s", config);
    if (!policy)
        exit(1);
    return policy;
}

static bool is_text(const char *got, size_t len, const char *want)
{
    return got && len == strlen(want) && memcmp(got, want, len) == 0;
}

/* One decision through the handle. */
static void expect_handle(const kandev_policy *policy, const char *frame, size_t len, const char *want, const char *what)
{
    char json[1024], strings[1024];
    size_t size = SIZE_MAX;
    kandev_policy_verdict verdict;
    buffer rebuilt = buffer_new();
    kandev_policy_status status = kandev_policy_evaluate(policy, frame, len, json, sizeof json, &size);
    CHECK(status == OK && is_text(json, size, want), "%s: %.*s", what, status == OK ? (int)size : 0, json);
    status = kandev_policy_evaluate_frame(policy, frame, len, &verdict, strings, sizeof strings, &size);
    CHECK(status == OK, "%s", what);
    CHECK(status == OK && buffer_verdict(&rebuilt, &verdict, strings, size) && is_text(rebuilt.data, rebuilt.len, want),
          "%s: %s", what, rebuilt.data);
    buffer_free(&rebuilt);
}

/* One decision from two C strings. */
static void expect_strings(const char *frame, const char *config, const char *want, const char *what)
{
    char *json = kandev_policy_decide(frame, config);
    CHECK(json && strcmp(json, want) == 0, "%s: %.500s", what, json ? json : "NULL");
    kandev_policy_string_free(json);
    json = kandev_policy_explain(frame, config);
    CHECK(json && strncmp(json, want, strlen(want) - 1) == 0 && strstr(json, ",\"trace\":["), "%s: %.500s", what,
          json ? json : "NULL");
    kandev_policy_string_free(json);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the library as a whole ---- */

static void constants(void)
{
    /* Step by step in the order of the contract; the place is the number. */
    static const char *const words[] = {
        "internal_error", "engine_unavailable", "malformed_config", "malformed_frame", "not_a_permission_request",
        "no_options", "blanket_approval", "identity_missing", "identity_malformed", "identity_conflict",
        "not_mcp_tool", "ambiguous_tool_name", "invalid_tool_name", "other_server", "provenance_missing",
        "server_not_injected", "server_name_conflict", "untrusted_server_source", "no_allow_option",
        "option_id_unusable", "injected_mcp", "malformed_request", "result_channel", "allowlisted_server",
        "server_not_allowlisted", "classified_bare_tool", "bare_tool_denied", "interactive_prompt",
    };
    const uint32_t count = sizeof words / sizeof *words;
    uint32_t n;
    const char *version = kandev_policy_version();

    CHECK(kandev_policy_abi_version() == 1 && KANDEV_POLICY_ABI_VERSION == 1, "%u", (unsigned)kandev_policy_abi_version());
    kandev_policy_abi_1(); /* links, and does nothing */
#ifdef CRATE_VERSION
    CHECK(strcmp(version, CRATE_VERSION) == 0, "%s", version);
#endif
    CHECK(version == kandev_policy_version(), "the version moves");
    for (n = 0; n <= UINT16_MAX; n++) {
        const char *word = kandev_policy_reason_word((uint16_t)n);
        if (n < count)
            CHECK(word && strcmp(word, words[n]) == 0, "reason %u: %s", (unsigned)n, word ? word : "NULL");
        else if (word || n % 4096 == 0)
            CHECK(!word, "reason %u: %s", (unsigned)n, word);
        if (word)
            CHECK(word == kandev_policy_reason_word((uint16_t)n), "the word of reason %u moves", (unsigned)n);
    }
#ifdef HEADER_REASONS
    CHECK(count == HEADER_REASONS, "the header has %d reasons", HEADER_REASONS);
#endif
    CHECK((int)KANDEV_POLICY_REASON_INTERNAL_ERROR == 0 && (int)KANDEV_POLICY_REASON_INJECTED_MCP == 20 &&
              (int)KANDEV_POLICY_REASON_INTERACTIVE_PROMPT == 27,
          "a reason has another number");
    CHECK((int)OK == 0 && (int)TOO_SMALL == 1 && (int)INVALID == 2 && (int)BAD_CONFIG == 3 && (int)INTERNAL == 4,
          "a status has another number");
    CHECK(sizeof(kandev_policy_status) == 4 && sizeof(kandev_policy_verdict) == 28, "%lu",
          (unsigned long)sizeof(kandev_policy_verdict));
    CHECK(offsetof(kandev_policy_verdict, option_kind) == 1 && offsetof(kandev_policy_verdict, reason) == 2 &&
              offsetof(kandev_policy_verdict, status) == 4 && offsetof(kandev_policy_verdict, option_index) == 8 &&
              offsetof(kandev_policy_verdict, response_len) == 24,
          "the verdict is laid out in another way");
}

/* ---- NULL and empty ---- */

static void null_strings(void)
{
    kandev_policy_string_free(NULL);
    kandev_policy_free(NULL);
    expect_strings(FRAME, CONFIG, SELECT, "both there");
    expect_strings(NULL, CONFIG, MALFORMED, "no frame");
    expect_strings("", CONFIG, MALFORMED, "an empty frame");
    expect_strings(FRAME, NULL, ASK("malformed_config"), "no config");
    expect_strings(FRAME, "", ASK("malformed_config"), "an empty config");
    expect_strings(NULL, NULL, ASK("malformed_config"), "nothing");
    expect_strings(HOOK, REVIEWER, ALLOW, "a hook");
    expect_strings(NULL, REVIEWER, DENY("malformed_request", "400"), "no payload");
    expect_strings(HOOK, "{\"policy\":\"unattended_review\"}", DENY("malformed_config", "500"), "a reviewer's bad config");
}

static void null_new(void)
{
    kandev_policy *policy;
    char error[64];
    size_t size;

    size = SIZE_MAX;
    CHECK(kandev_policy_new(CONFIG, strlen(CONFIG), NULL, error, sizeof error, &size) == INVALID, "policy is NULL");
    CHECK(kandev_policy_new(CONFIG, strlen(CONFIG), NULL, NULL, 0, NULL) == INVALID, "policy is NULL");
    policy = (kandev_policy *)(void *)error;
    CHECK(kandev_policy_new(CONFIG, strlen(CONFIG), &policy, NULL, 1, &size) == INVALID && !policy, "error is NULL");
    policy = (kandev_policy *)(void *)error;
    CHECK(kandev_policy_new("{", 1, &policy, NULL, 1, &size) == INVALID && !policy, "error is NULL");

    policy = (kandev_policy *)(void *)error;
    size = 0;
    CHECK(kandev_policy_new(NULL, 0, &policy, error, sizeof error, &size) == BAD_CONFIG && !policy && size > 0, "empty");
    CHECK(kandev_policy_new("", 0, &policy, NULL, 0, NULL) == BAD_CONFIG && !policy, "empty");
    policy = (kandev_policy *)(void *)error;
    CHECK(kandev_policy_new(NULL, 7, &policy, error, sizeof error, &size) == BAD_CONFIG && !policy, "NULL of 7 bytes");

    size = SIZE_MAX;
    memset(error, CANARY, sizeof error);
    CHECK(kandev_policy_new(CONFIG, strlen(CONFIG), &policy, error, sizeof error, &size) == OK && policy && size == 0 &&
              error[0] == CANARY,
          "a good config has no error text");
    kandev_policy_free(policy);
    CHECK(kandev_policy_new(CONFIG, strlen(CONFIG), &policy, NULL, 0, NULL) == OK && policy, "no error wanted");
    kandev_policy_free(policy);
}

static void null_evaluate(const kandev_policy *policy)
{
    char out[64], untouched[64];
    kandev_policy_verdict verdict, same;
    size_t size = 77;
    const size_t len = strlen(FRAME);
    memset(out, CANARY, sizeof out);
    memset(untouched, CANARY, sizeof untouched);
    memset(&verdict, CANARY, sizeof verdict);
    memset(&same, CANARY, sizeof same);

    CHECK(kandev_policy_evaluate(NULL, FRAME, len, out, sizeof out, &size) == INVALID, "no policy");
    CHECK(kandev_policy_evaluate(policy, FRAME, len, out, sizeof out, NULL) == INVALID, "no size");
    CHECK(kandev_policy_evaluate(policy, FRAME, len, NULL, 1, &size) == INVALID, "no buffer");
    CHECK(kandev_policy_evaluate(NULL, NULL, 0, NULL, 0, NULL) == INVALID, "nothing");
    CHECK(kandev_policy_evaluate_frame(NULL, FRAME, len, &verdict, out, sizeof out, &size) == INVALID, "no policy");
    CHECK(kandev_policy_evaluate_frame(policy, FRAME, len, NULL, out, sizeof out, &size) == INVALID, "no verdict");
    CHECK(kandev_policy_evaluate_frame(policy, FRAME, len, &verdict, NULL, 1, &size) == INVALID, "no buffer");
    CHECK(kandev_policy_evaluate_frame(policy, FRAME, len, &verdict, out, sizeof out, NULL) == INVALID, "no size");
    CHECK(kandev_policy_evaluate_request(NULL, NULL, 0, &verdict) == INVALID, "no policy");
    CHECK(kandev_policy_evaluate_request(policy, NULL, 0, NULL) == INVALID, "no verdict");
    CHECK(size == 77 && memcmp(out, untouched, sizeof out) == 0 && memcmp(&verdict, &same, sizeof verdict) == 0,
          "INVALID_ARGUMENT writes");

    expect_handle(policy, NULL, 0, MALFORMED, "no frame");
    expect_handle(policy, NULL, 7, MALFORMED, "NULL of 7 bytes");
    expect_handle(policy, "", 0, MALFORMED, "an empty frame");
    CHECK(kandev_policy_evaluate_request(policy, NULL, 0, &verdict) == OK &&
              verdict.reason == KANDEV_POLICY_REASON_MALFORMED_FRAME && verdict.kind == KANDEV_POLICY_KIND_ASK,
          "no request");
    CHECK(kandev_policy_evaluate_request(policy, NULL, 32, &verdict) == OK &&
              verdict.reason == KANDEV_POLICY_REASON_MALFORMED_FRAME,
          "NULL of 32 bytes");
}

/* ---- sizes ---- */

static void capacities(const kandev_policy *policy, const char *frame, const char *want)
{
    const size_t len = strlen(frame), needed = strlen(want);
    guarded g = guarded_new(4096);
    char *memory = (char *)allocate(needed + 64);
    kandev_policy_verdict verdict, untouched;
    size_t capacity, strings = 0, size;
    memset(&untouched, CANARY, sizeof untouched);

    for (capacity = 0; capacity <= needed + 32; capacity++) {
        /* Ends at an unmapped page, so that one byte too many crashes. */
        char *out = g.end - capacity;
        size_t i, written = capacity >= needed ? needed : 0;
        kandev_policy_status status;
        bool clean = true;
        memset(g.map, CANARY, g.size);
        size = SIZE_MAX;
        status = kandev_policy_evaluate(policy, frame, len, out, capacity, &size);
        CHECK(size == needed && status == (capacity >= needed ? OK : TOO_SMALL), "capacity %lu", (unsigned long)capacity);
        for (i = 0; i < g.size; i++)
            clean = clean && (g.map[i] == CANARY || (g.map + i >= out && g.map + i < out + written));
        CHECK(clean && (!written || memcmp(out, want, needed) == 0), "capacity %lu", (unsigned long)capacity);
    }
    kandev_policy_evaluate_frame(policy, frame, len, &verdict, NULL, 0, &strings);
    for (capacity = 0; capacity <= strings + 8; capacity++) {
        char *out = g.end - capacity;
        bool fits = capacity >= strings, clean = true;
        size_t i;
        kandev_policy_status status;
        memset(g.map, CANARY, g.size);
        memcpy(&verdict, &untouched, sizeof verdict);
        size = SIZE_MAX;
        status = kandev_policy_evaluate_frame(policy, frame, len, &verdict, out, capacity, &size);
        CHECK(size == strings && status == (fits ? OK : TOO_SMALL), "capacity %lu", (unsigned long)capacity);
        CHECK((memcmp(&verdict, &untouched, sizeof verdict) == 0) != fits, "capacity %lu", (unsigned long)capacity);
        for (i = 0; i < g.size; i++)
            clean = clean && (g.map[i] == CANARY || (g.map + i >= out && g.map + i < out + (fits ? strings : 0)));
        CHECK(clean, "capacity %lu", (unsigned long)capacity);
    }
    free(memory);
    guarded_free(&g);
}

/* Every beginning of a document ends at an unmapped page and is malformed. */
static void truncated(const kandev_policy *policy, const char *config, const char *frame, const char *whole,
                      const char *cut)
{
    const size_t len = strlen(frame);
    size_t end;
    guarded g = guarded_new(8192);
    for (end = 0; end <= len; end++) {
        const char *want = end == len ? whole : cut;
        buffer string = buffer_new();
        expect_handle(policy, guarded_place(&g, frame, end), end, want, "a cut frame");
        buffer_add(&string, frame, end);
        expect_strings(guarded_place(&g, string.data, end + 1), config, want, "a cut frame");
        buffer_free(&string);
    }
    guarded_free(&g);
}

static void truncated_config(const char *config, const char *cut)
{
    const size_t len = strlen(config);
    size_t end;
    guarded g = guarded_new(8192);
    for (end = 0; end < len; end++) {
        kandev_policy *policy = NULL;
        char error[128];
        size_t size = 0;
        buffer string = buffer_new();
        CHECK(kandev_policy_new(guarded_place(&g, config, end), end, &policy, error, sizeof error, &size) == BAD_CONFIG,
              "%lu bytes", (unsigned long)end);
        CHECK(!policy && size > 0 && size < sizeof error, "%lu bytes", (unsigned long)end);
        buffer_add(&string, config, end);
        expect_strings(FRAME, guarded_place(&g, string.data, end + 1), cut, "a cut config");
        buffer_free(&string);
    }
    guarded_free(&g);
}

static void encodings(const kandev_policy *policy)
{
    static const char *const wrong[] = {
        "\x80", "\xff", "\xc0\x80", "\xc3", "\xc3(", "\xe2\x82", "\xe2(\xa1", "\xed\xa0\x80", "\xf0\x9f\x98",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe0\x80\x80",
    };
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        buffer frame = buffer_new(), config = buffer_new();
        kandev_policy *none = NULL;
        char error[128];
        size_t size = 0;
        buffer_text(&frame, "{\"note\":\"");
        buffer_text(&frame, wrong[i]);
        buffer_text(&frame, "\"," CALL "," OPTIONS "}");
        expect_handle(policy, frame.data, frame.len, MALFORMED, "not UTF-8");
        expect_strings(frame.data, CONFIG, MALFORMED, "not UTF-8");
        buffer_text(&config, "{\"agent_type\":\"");
        buffer_text(&config, wrong[i]);
        buffer_text(&config, "\"}");
        expect_strings(FRAME, config.data, ASK("malformed_config"), "a config that is not UTF-8");
        CHECK(kandev_policy_new(config.data, config.len, &none, error, sizeof error - 1, &size) == BAD_CONFIG && !none &&
                  size < sizeof error,
              "a config that is not UTF-8");
        error[size < sizeof error ? size : 0] = '\0';
        CHECK(strstr(error, "UTF-8"), "%s", error);
        buffer_free(&frame);
        buffer_free(&config);
    }
    expect_handle(policy, "\xef\xbb\xbf" FRAME, strlen(FRAME) + 3, MALFORMED, "a BOM");
    expect_handle(policy, FRAME "\0", strlen(FRAME) + 1, MALFORMED, "a NUL behind");
    expect_handle(policy, " \t\r\n" FRAME "\n", strlen(FRAME) + 5, SELECT, "white space around");
}

/* ---- what kandev_policy_new says ---- */

static void config_errors(void)
{
    /* The config, and what its error text must hold; `secret` stands for what it must not. */
    static const struct {
        const char *config, *key, *found, *expected;
    } errors[] = {
        {"{\"port\":\"secret\"}", "port", "string", "integer"},
        {"{\"port\":1.5}", "port", "number", "integer"},
        {"{\"port\":1e3}", "port", "number", "integer"},
        {"{\"port\":99999999999999999999}", "port", "number", "integer"},
        {"{\"port\":[\"secret\"]}", "port", "array", "integer"},
        {"{\"port\":true}", "port", "boolean", "integer"},
        {"{\"agent_type\":7}", "agent_type", "integer", "string"},
        {"{\"agent_type\":\"\\ud800 secret\"}", "agent_type", "surrogate", "string"},
        {"{\"mcp_host\":{\"secret\":1}}", "mcp_host", "object", "string"},
        {"{\"injected_kandev_mcp\":\"secret\"}", "injected_kandev_mcp", "string", "boolean"},
        {"{\"auto_approve_permissions\":1}", "auto_approve_permissions", "integer", "boolean"},
        {"{\"mcp_servers\":{\"secret\":1}}", "mcp_servers", "object", "array"},
        {"{\"mcp_servers\":[{},\"secret\"]}", "mcp_servers[1]", "string", "object"},
        {"{\"mcp_servers\":[{\"name\":\"secret\",\"name\":\"secret\"}]}", "mcp_servers[0]", "duplicate", ""},
        {"{\"policy\":3}", "policy", "integer", "string"},
        {"{\"policy\":\"secret\"}", "policy", "injected_mcp", "unattended_review"},
        {"{\"ports\":\"secret\"}", "ports", "unknown", ""},
        {"{\"a secret\":1}", "unknown key", "", ""},
        {"{\"port\":1,\"port\":2}", "port", "duplicate", ""},
        {"{\"policy\":\"unattended_review\",\"vendor\":7}", "vendor", "integer", "string"},
        {"{\"policy\":\"unattended_review\",\"port\":1}", "port", "unknown", ""},
        {"{\"policy\":\"unattended_review\",\"vendor\":\"codex\",\"token\":\"reviewer\",\"servers\":[\"secret\"]}",
         "servers[0]", "", ""},
        /* The place of a syntax error: the offending byte, both numbers counted from 1. */
        {"{\"port\":1,}", "line 1", "column 11", ""},
        {"{\"port\":1,\n  secret}", "line 2", "column 3", ""},
        {"{\n\n\"port\": 01}", "line 3", "column 10", ""},
        {"{} secret", "line 1", "column 4", ""},
        {"{\"port\"", "line 1", "column 7", ""},
    };
    size_t i, capacity;
    for (i = 0; i < sizeof errors / sizeof *errors; i++) {
        const char *config = errors[i].config;
        char text[256];
        size_t size = 0;
        kandev_policy *policy = (kandev_policy *)(void *)text;
        guarded g = guarded_new(4096);
        CHECK(kandev_policy_new(config, strlen(config), &policy, text, sizeof text - 1, &size) == BAD_CONFIG, "%s", config);
        CHECK(!policy && size > 0 && size < sizeof text, "%s", config);
        text[size < sizeof text ? size : 0] = '\0';
        CHECK(strlen(text) == size && strstr(text, errors[i].key) && strstr(text, errors[i].found) &&
                  strstr(text, errors[i].expected) && !strstr(text, "secret"),
              "%s: %s", config, text);
        /* Cut to any capacity: the first bytes, no NUL behind them, and the whole length. */
        for (capacity = 0; capacity <= size + 4; capacity++) {
            char *out = g.end - capacity;
            size_t whole = 0, written = capacity < size ? capacity : size, at;
            bool clean = true;
            memset(g.map, CANARY, g.size);
            CHECK(kandev_policy_new(config, strlen(config), &policy, out, capacity, &whole) == BAD_CONFIG && whole == size &&
                      memcmp(out, text, written) == 0,
                  "%s: capacity %lu", config, (unsigned long)capacity);
            for (at = 0; at < g.size; at++)
                clean = clean && (g.map[at] == CANARY || (g.map + at >= out && g.map + at < out + written));
            CHECK(clean, "%s: capacity %lu", config, (unsigned long)capacity);
        }
        CHECK(kandev_policy_new(config, strlen(config), &policy, NULL, 0, &size) == BAD_CONFIG && size == strlen(text),
              "%s: the size alone", config);
        guarded_free(&g);
    }
}

/* ---- huge ---- */

/* `frame` made `size` bytes long by a text that nobody reads. */
static buffer padded_frame(size_t size)
{
    static const char head[] = "{\"note\":\"", tail[] = "\"," CALL "," OPTIONS "}";
    buffer b = buffer_new();
    buffer_text(&b, head);
    buffer_repeat(&b, "x", 1, size - strlen(head) - strlen(tail));
    buffer_text(&b, tail);
    CHECK(b.len == size, "%lu", (unsigned long)b.len);
    return b;
}

static buffer padded_config(size_t size)
{
    buffer b = buffer_new();
    buffer_text(&b, CONFIG);
    buffer_repeat(&b, " ", 1, size - b.len);
    return b;
}

static void limits(const kandev_policy *policy)
{
    guarded g = guarded_new(MAX_DOCUMENT + 4096);
    buffer exact = padded_frame(MAX_DOCUMENT), more = padded_frame(MAX_DOCUMENT + 1);
    kandev_policy *compiled = NULL;
    char error[128];
    size_t size = 0;

    expect_handle(policy, guarded_place(&g, exact.data, exact.len), exact.len, SELECT, "16 MiB");
    expect_handle(policy, guarded_place(&g, more.data, more.len), more.len, MALFORMED, "16 MiB and one byte");
    expect_handle(policy, g.end - more.len, SIZE_MAX, MALFORMED, "a length of SIZE_MAX");
    expect_handle(policy, g.end - more.len, SIZE_MAX / 2 + 1, MALFORMED, "a length of SIZE_MAX / 2 + 1");
    expect_strings(guarded_place(&g, exact.data, exact.len + 1), CONFIG, SELECT, "16 MiB and a NUL");
    expect_strings(guarded_place(&g, more.data, more.len + 1), CONFIG, MALFORMED, "16 MiB, one byte and a NUL");
    /* No NUL before the unmapped page: nothing is read behind the first byte too many. */
    expect_strings(guarded_place(&g, more.data, more.len), CONFIG, MALFORMED, "16 MiB and one byte, not terminated");
    buffer_free(&exact);
    buffer_free(&more);

    exact = padded_config(MAX_DOCUMENT);
    CHECK(kandev_policy_new(guarded_place(&g, exact.data, exact.len), exact.len, &compiled, error, sizeof error, &size) ==
                  OK && compiled,
          "a config of 16 MiB");
    if (compiled)
        expect_handle(compiled, FRAME, strlen(FRAME), SELECT, "a config of 16 MiB");
    kandev_policy_free(compiled);
    expect_strings(FRAME, guarded_place(&g, exact.data, exact.len + 1), SELECT, "a config of 16 MiB and a NUL");
    buffer_text(&exact, " ");
    CHECK(kandev_policy_new(guarded_place(&g, exact.data, exact.len), exact.len, &compiled, error, sizeof error, &size) ==
                  BAD_CONFIG && !compiled && size < sizeof error,
          "a config of 16 MiB and one byte");
    CHECK(kandev_policy_new(g.end - exact.len, SIZE_MAX, &compiled, error, sizeof error, &size) == BAD_CONFIG && !compiled,
          "a config with a length of SIZE_MAX");
    expect_strings(FRAME, guarded_place(&g, exact.data, exact.len), ASK("malformed_config"),
                   "a config of 16 MiB and one byte, not terminated");
    buffer_free(&exact);
    guarded_free(&g);
}

static void nested(const kandev_policy *policy)
{
    const size_t depth = small_run() ? 20000 : 1000000;
    buffer frame = buffer_new(), config = buffer_new();
    size_t open;

    buffer_text(&frame, "{\"note\":");
    buffer_repeat(&frame, "[", 1, depth);
    open = frame.len;
    buffer_repeat(&frame, "]", 1, depth);
    buffer_text(&frame, "," CALL "," OPTIONS "}");
    expect_handle(policy, frame.data, frame.len, SELECT, "nested arrays");
    expect_strings(frame.data, CONFIG, SELECT, "nested arrays");
    expect_handle(policy, frame.data, open, MALFORMED, "arrays that don't close");
    frame.data[open + depth / 2] = '}';
    expect_handle(policy, frame.data, frame.len, MALFORMED, "an array closed as an object");

    frame.len = 0;
    buffer_text(&frame, "{\"note\":");
    buffer_repeat(&frame, "{\"a\":", 5, depth);
    buffer_text(&frame, "0");
    buffer_repeat(&frame, "}", 1, depth);
    buffer_text(&frame, "," CALL "," OPTIONS "}");
    expect_handle(policy, frame.data, frame.len, SELECT, "nested objects");
    buffer_free(&frame);

    /* In an entry that is not ours they are skipped; in ours they are a member that says something. */
    buffer_text(&config, "{\"port\":" PORT ",\"injected_kandev_mcp\":true,\"mcp_servers\":[{\"name\":\"kandev\",\"type\":\"http\","
                         "\"url\":\"http://localhost:" PORT "/mcp\"},{\"name\":\"other\",\"x\":");
    buffer_repeat(&config, "[", 1, depth);
    buffer_repeat(&config, "]", 1, depth);
    buffer_text(&config, "}]}");
    expect_strings(FRAME, config.data, SELECT, "nested arrays in another server's entry");
    config.len = 0;
    buffer_text(&config, "{\"port\":" PORT ",\"injected_kandev_mcp\":true,\"mcp_servers\":[{\"name\":\"kandev\",\"type\":\"http\","
                         "\"url\":\"http://localhost:" PORT "/mcp\",\"args\":");
    buffer_repeat(&config, "[", 1, depth);
    buffer_repeat(&config, "]", 1, depth);
    buffer_text(&config, "}]}");
    expect_strings(FRAME, config.data,
                   "{\"decision\":\"ask\",\"reason\":\"server_not_injected\",\"server\":\"kandev\",\"tool\":\"list_tasks\"}",
                   "nested arrays in our entry");
    buffer_free(&config);
}

static void many_options(const kandev_policy *policy)
{
    const size_t count = small_run() ? 5000 : 500000;
    static const char option[] = "{\"optionId\":\"a\",\"kind\":\"\"},";
    static const char last[] = "{\"optionId\":\"b\",\"kind\":\"allow_once\"}]}";
    buffer frame = buffer_new();
    kandev_policy_verdict verdict;
    char strings[64];
    size_t size = 0;

    buffer_text(&frame, "{" CALL ",\"options\":[");
    buffer_repeat(&frame, option, strlen(option), count);
    buffer_text(&frame, last);
    CHECK(frame.len <= MAX_DOCUMENT, "%lu", (unsigned long)frame.len);
    CHECK(kandev_policy_evaluate_frame(policy, frame.data, frame.len, &verdict, strings, sizeof strings, &size) == OK &&
              verdict.reason == KANDEV_POLICY_REASON_INJECTED_MCP && verdict.option_index == count &&
              verdict.option_id_len == 1 && strings[0] == 'b',
          "the last of many options");
    frame.data[frame.len - strlen(last) + strlen("{\"optionId\":\"")] = 'a';
    CHECK(kandev_policy_evaluate_frame(policy, frame.data, frame.len, &verdict, strings, sizeof strings, &size) == OK &&
              verdict.reason == KANDEV_POLICY_REASON_OPTION_ID_UNUSABLE && verdict.option_index == UINT32_MAX,
          "one id of many");
    buffer_free(&frame);
}

static void huge(const kandev_policy *policy)
{
    double start = now();
    limits(policy);
    nested(policy);
    many_options(policy);
    /* Some twenty documents of up to 16 MiB. Quadratic work would take hours. */
    CHECK(small_run() || now() - start < 30, "%.1f s", now() - start);
    expect_handle(policy, FRAME, strlen(FRAME), SELECT, "after the huge ones");
}

/* ---- kandev_policy_evaluate_request ---- */

enum { HAS_NAME = 1, META_WRONG_TYPE = 2, META_AMBIGUOUS = 4, HAS_TOOL_NAME = 8, HAS_SERVER = 16 };
enum { NAME, TITLE, KIND, TOOL_NAME, SERVER_NAME, SERVER_SOURCE, TEXTS };

typedef struct request {
    uint32_t flags;
    const char *texts[TEXTS];
    const char *options[4][2]; /* id and kind, up to a NULL */
} request;

static void add_u32(buffer *b, size_t value)
{
    unsigned char bytes[4];
    bytes[0] = (unsigned char)(value & 0xff);
    bytes[1] = (unsigned char)(value >> 8 & 0xff);
    bytes[2] = (unsigned char)(value >> 16 & 0xff);
    bytes[3] = (unsigned char)(value >> 24 & 0xff);
    buffer_add(b, bytes, 4);
}

static void put_u32(buffer *b, size_t at, size_t value)
{
    b->data[at] = (char)(value & 0xff);
    b->data[at + 1] = (char)(value >> 8 & 0xff);
    b->data[at + 2] = (char)(value >> 16 & 0xff);
    b->data[at + 3] = (char)(value >> 24 & 0xff);
}

static size_t get_u32(const buffer *b, size_t at)
{
    const unsigned char *p = (const unsigned char *)b->data + at;
    return (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static size_t option_count(const request *r)
{
    size_t n = 0;
    while (n < 4 && r->options[n][0])
        n++;
    return n;
}

static buffer encode(const request *r)
{
    buffer b = buffer_new();
    size_t i, count = option_count(r);
    add_u32(&b, r->flags);
    for (i = 0; i < TEXTS; i++)
        add_u32(&b, strlen(text_of(r->texts[i])));
    add_u32(&b, count);
    for (i = 0; i < 2 * count; i++)
        add_u32(&b, strlen(r->options[i / 2][i % 2]));
    for (i = 0; i < TEXTS; i++)
        buffer_text(&b, text_of(r->texts[i]));
    for (i = 0; i < 2 * count; i++)
        buffer_text(&b, r->options[i / 2][i % 2]);
    return b;
}

static kandev_policy_verdict decide_request(const kandev_policy *policy, const char *bytes, size_t len)
{
    kandev_policy_verdict verdict;
    memset(&verdict, CANARY, sizeof verdict);
    CHECK(kandev_policy_evaluate_request(policy, bytes, len, &verdict) == OK, "%lu bytes", (unsigned long)len);
    return verdict;
}

static bool is_malformed(kandev_policy_verdict v)
{
    return v.kind == KANDEV_POLICY_KIND_ASK && v.reason == KANDEV_POLICY_REASON_MALFORMED_FRAME &&
           v.option_kind == KANDEV_POLICY_OPTION_KIND_NONE && v.option_index == UINT32_MAX && v.option_id_len == 0 &&
           v.server_len == 0 && v.tool_len == 0 && v.response_len == 0 && v.status == 0 && v.reserved == 0;
}

#define TOOL "mcp__kandev__list_tasks"
#define YES {{"no", "reject_once"}, {"yes", "allow_once"}, {NULL, NULL}, {NULL, NULL}}
#define NO_TEXT NULL, NULL, NULL, NULL, NULL, NULL

static void requests_decided(const kandev_policy *policy, const kandev_policy *other_agent, const kandev_policy *blanket)
{
    static const struct {
        const char *what;
        request r;
        int agent; /* 0 Claude, 1 another one, 2 Claude with blanket approval */
        int kind, reason;
        uint32_t index, id_len, server_len, tool_len;
    } cases[] = {
        {"the name", {HAS_NAME, {TOOL, "t", "other", NULL, NULL, NULL}, YES}, 0, 1, 20, 1, 3, 6, 10},
        {"the metadata", {HAS_TOOL_NAME, {NULL, "t", "x", TOOL, NULL, NULL}, YES}, 0, 1, 20, 1, 3, 6, 10},
        {"the title", {0, {NULL, TOOL, "other", NULL, NULL, NULL}, YES}, 0, 1, 20, 1, 3, 6, 10},
        {"the title of another kind", {0, {NULL, TOOL, "Other", NULL, NULL, NULL}, YES}, 0, 0, 7, UINT32_MAX, 0, 0, 0},
        {"both names", {HAS_NAME | HAS_TOOL_NAME, {TOOL, "", "", TOOL, NULL, NULL}, YES}, 0, 1, 20, 1, 3, 6, 10},
        {"two names", {HAS_NAME | HAS_TOOL_NAME, {TOOL, "", "", TOOL "x", NULL, NULL}, YES}, 0, 0, 9, UINT32_MAX, 0, 0, 0},
        {"an empty name", {HAS_NAME, {"", TOOL, "other", NULL, NULL, NULL}, YES}, 0, 0, 10, UINT32_MAX, 0, 0, 0},
        {"nothing", {0, {NO_TEXT}, YES}, 0, 0, 7, UINT32_MAX, 0, 0, 0},
        {"no options", {HAS_NAME, {TOOL, NULL, NULL, NULL, NULL, NULL}, {{NULL, NULL}}}, 0, 2, 5, UINT32_MAX, 0, 0, 0},
        {"other server", {HAS_NAME, {"mcp__other__search", NULL, NULL, NULL, NULL, NULL}, YES}, 0, 0, 13, UINT32_MAX, 0, 5, 6},
        {"ambiguous", {HAS_NAME, {TOOL "__x", NULL, NULL, NULL, NULL, NULL}, YES}, 0, 0, 11, UINT32_MAX, 0, 0, 0},
        {"invalid", {HAS_NAME, {"mcp__kandev__", NULL, NULL, NULL, NULL, NULL}, YES}, 0, 0, 12, UINT32_MAX, 0, 0, 0},
        {"bad metadata", {HAS_NAME | META_WRONG_TYPE, {TOOL, NULL, NULL, NULL, NULL, NULL}, YES}, 0, 0, 8, UINT32_MAX, 0, 0, 0},
        {"rival keys", {HAS_NAME | META_AMBIGUOUS, {TOOL, NULL, NULL, NULL, NULL, NULL}, YES}, 0, 0, 3, UINT32_MAX, 0, 0, 0},
        {"evidence", {HAS_NAME | HAS_SERVER, {TOOL, NULL, NULL, NULL, "kandev", "dynamic"}, YES}, 0, 1, 20, 1, 3, 6, 10},
        {"untrusted", {HAS_NAME | HAS_SERVER, {TOOL, NULL, NULL, NULL, "kandev", "project"}, YES}, 0, 0, 17, UINT32_MAX, 0, 6, 10},
        {"another server's evidence", {HAS_NAME | HAS_SERVER, {TOOL, NULL, NULL, NULL, "Kandev", "dynamic"}, YES}, 0, 0, 9,
         UINT32_MAX, 0, 6, 10},
        {"no source", {HAS_NAME | HAS_SERVER, {TOOL, NULL, NULL, NULL, "kandev", ""}, YES}, 0, 0, 17, UINT32_MAX, 0, 6, 10},
        {"no allow option", {HAS_NAME, {TOOL, NULL, NULL, NULL, NULL, NULL}, {{"no", "reject_once"}, {NULL, NULL}}}, 0, 0, 18,
         UINT32_MAX, 0, 6, 10},
        {"the same id twice", {HAS_NAME, {TOOL, NULL, NULL, NULL, NULL, NULL}, {{"a", "x"}, {"a", "allow_once"}, {NULL, NULL}}}, 0,
         0, 19, UINT32_MAX, 0, 6, 10},
        {"a blank id", {HAS_NAME, {TOOL, NULL, NULL, NULL, NULL, NULL}, {{"\xe3\x80\x80 ", "allow_once"}, {NULL, NULL}}}, 0, 0, 19,
         UINT32_MAX, 0, 6, 10},
        {"another agent's name", {HAS_NAME, {TOOL, NULL, NULL, NULL, NULL, NULL}, YES}, 1, 1, 20, 1, 3, 6, 10},
        {"another agent's metadata", {HAS_NAME | META_WRONG_TYPE | META_AMBIGUOUS, {TOOL, NULL, NULL, NULL, NULL, NULL}, YES}, 1,
         1, 20, 1, 3, 6, 10},
        {"another agent's tool name", {HAS_TOOL_NAME, {NULL, NULL, NULL, TOOL, NULL, NULL}, YES}, 1, 0, 7, UINT32_MAX, 0, 0, 0},
        {"blanket", {HAS_NAME, {"Bash", NULL, NULL, NULL, NULL, NULL}, YES}, 2, 1, 6, 1, 3, 0, 0},
        {"blanket without an allow", {0, {NO_TEXT}, {{"n\xc3\xa9", "x"}, {NULL, NULL}}}, 2, 1, 6, 0, 3, 0, 0},
    };
    const kandev_policy *policies[3];
    size_t i;
    policies[0] = policy;
    policies[1] = other_agent;
    policies[2] = blanket;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        buffer b = encode(&cases[i].r);
        guarded g = guarded_new(b.len);
        kandev_policy_verdict v = decide_request(policies[cases[i].agent], guarded_place(&g, b.data, b.len), b.len);
        int option_kind = 0;
        if (v.option_index != UINT32_MAX && v.option_index < 4) {
            const char *kind = cases[i].r.options[v.option_index][1];
            option_kind = strcmp(kind, "allow_once") == 0 ? 1 : 0;
        }
        CHECK((int)v.kind == cases[i].kind && (int)v.reason == cases[i].reason && v.option_index == cases[i].index &&
                  v.option_id_len == cases[i].id_len && v.server_len == cases[i].server_len &&
                  v.tool_len == cases[i].tool_len && (int)v.option_kind == option_kind && v.status == 0 &&
                  v.reserved == 0 && v.response_len == 0,
              "%s: kind %d, reason %s, option %u", cases[i].what, (int)v.kind, kandev_policy_reason_word((uint16_t)v.reason),
              (unsigned)v.option_index);
        guarded_free(&g);
        buffer_free(&b);
    }
}

static void requests_broken(const kandev_policy *policy)
{
    static const request full = {
        HAS_NAME | HAS_TOOL_NAME | HAS_SERVER, {TOOL, "t\xc3\xa9", "other", TOOL, "kandev", "dynamic"}, YES};
    const buffer good = encode(&full);
    const size_t count = option_count(&full), words = 8 + 2 * count;
    guarded g = guarded_new(good.len + 16);
    size_t i, end, bit;
    buffer b;

    CHECK(decide_request(policy, guarded_place(&g, good.data, good.len), good.len).reason == KANDEV_POLICY_REASON_INJECTED_MCP,
          "the whole request");
    for (end = 0; end < good.len; end++)
        CHECK(is_malformed(decide_request(policy, guarded_place(&g, good.data, end), end)), "cut to %lu bytes",
              (unsigned long)end);

#define BROKEN(...) \
    do { \
        CHECK(is_malformed(decide_request(policy, guarded_place(&g, b.data, b.len), b.len)), __VA_ARGS__); \
        buffer_free(&b); \
    } while (0)
#define COPY() (b = buffer_new(), buffer_add(&b, good.data, good.len))

    COPY();
    buffer_add(&b, "x", 1);
    BROKEN("a byte behind");
    COPY();
    buffer_add(&b, "\0", 1);
    BROKEN("a NUL behind");
    for (i = 1; i < words; i++) {
        COPY();
        put_u32(&b, 4 * i, get_u32(&b, 4 * i) + 1);
        BROKEN("number %lu one more", (unsigned long)i);
        COPY();
        put_u32(&b, 4 * i, get_u32(&b, 4 * i) - 1);
        BROKEN("number %lu one less", (unsigned long)i);
        COPY();
        put_u32(&b, 4 * i, 0xffffffff);
        BROKEN("number %lu is 2^32 - 1", (unsigned long)i);
        COPY();
        put_u32(&b, 4 * i, 0x80000000);
        BROKEN("number %lu is 2^31", (unsigned long)i);
    }
    for (i = 0x1fffffff; i <= 0x20000001; i++) { /* times 8 is 2^32 */
        COPY();
        put_u32(&b, 28, i);
        BROKEN("%lu options", (unsigned long)i);
    }
    /* Lengths that add up, but cut a character: the title is `t` and two bytes. */
    COPY();
    put_u32(&b, 8, get_u32(&b, 8) - 1);
    put_u32(&b, 12, get_u32(&b, 12) + 1);
    BROKEN("a cut character");
    for (bit = 5; bit < 32; bit++) {
        COPY();
        put_u32(&b, 0, get_u32(&b, 0) | (size_t)1 << bit);
        BROKEN("flag %lu", (unsigned long)bit);
    }
    /* Any byte of any text, made one that no UTF-8 has. */
    for (i = 32 + 8 * count; i < good.len; i++) {
        COPY();
        b.data[i] = (char)0xff;
        BROKEN("byte %lu is no UTF-8", (unsigned long)i);
    }
    /* Half a surrogate pair, written as UTF-8 would. */
    {
        static const request torn = {HAS_NAME, {"\xed\xa0\x80", NULL, NULL, NULL, NULL, NULL}, YES};
        b = encode(&torn);
        BROKEN("a surrogate");
    }
    buffer_free((buffer *)&good);
    guarded_free(&g);
}

static void requests_huge(const kandev_policy *policy)
{
    const size_t count = small_run() ? 5000 : 500000;
    static const char tool[] = TOOL;
    buffer b = buffer_new();
    size_t i, id;
    kandev_policy_verdict v;

    /* Many options, the last of which is the one. */
    add_u32(&b, HAS_NAME);
    add_u32(&b, strlen(tool));
    for (i = 0; i < 5; i++)
        add_u32(&b, 0);
    add_u32(&b, count);
    for (i = 0; i < count; i++) {
        add_u32(&b, 1);
        add_u32(&b, i + 1 == count ? strlen("allow_once") : 0);
    }
    buffer_text(&b, tool);
    buffer_repeat(&b, "a", 1, count - 1);
    buffer_text(&b, "ballow_once");
    v = decide_request(policy, b.data, b.len);
    CHECK(v.reason == KANDEV_POLICY_REASON_INJECTED_MCP && v.option_index == count - 1 && v.option_id_len == 1, "reason %d",
          (int)v.reason);
    b.data[b.len - strlen("ballow_once")] = 'a';
    v = decide_request(policy, b.data, b.len);
    CHECK(v.reason == KANDEV_POLICY_REASON_OPTION_ID_UNUSABLE, "reason %d", (int)v.reason);
    buffer_free(&b);

    /* An id that fills 16 MiB, and one byte more. */
    for (i = 0; i < 2; i++) {
        guarded g = guarded_new(MAX_DOCUMENT + 1);
        size_t total = MAX_DOCUMENT + i, head = 32 + 8, j;
        id = total - head - strlen(tool) - strlen("allow_once");
        b = buffer_new();
        add_u32(&b, HAS_NAME);
        add_u32(&b, strlen(tool));
        for (j = 0; j < 5; j++)
            add_u32(&b, 0);
        add_u32(&b, 1);
        add_u32(&b, id);
        add_u32(&b, strlen("allow_once"));
        buffer_text(&b, tool);
        buffer_repeat(&b, "i", 1, id);
        buffer_text(&b, "allow_once");
        CHECK(b.len == total, "%lu", (unsigned long)b.len);
        v = decide_request(policy, guarded_place(&g, b.data, b.len), b.len);
        if (i == 0) {
            CHECK(v.kind == KANDEV_POLICY_KIND_SELECT && v.option_id_len == id && v.option_index == 0, "16 MiB");
        } else {
            CHECK(is_malformed(v), "16 MiB and one byte");
            CHECK(is_malformed(decide_request(policy, g.end - b.len, SIZE_MAX)), "a length of SIZE_MAX");
        }
        buffer_free(&b);
        guarded_free(&g);
    }
}

static void requests(void)
{
    static const request plain = {HAS_NAME, {TOOL, NULL, NULL, NULL, NULL, NULL}, YES};
    kandev_policy *policy = open_policy(CONFIG);
    kandev_policy *other = open_policy("{\"agent_type\":\"codex\",\"port\":" PORT ",\"injected_kandev_mcp\":true," SERVERS "}");
    kandev_policy *blanket = open_policy("{\"agent_type\":\"claude-acp\",\"auto_approve_permissions\":true}");
    kandev_policy *reviewer = open_policy(REVIEWER);
    kandev_policy_verdict v;
    buffer b = encode(&plain);

    requests_decided(policy, other, blanket);
    requests_broken(policy);
    requests_huge(policy);
    v = decide_request(reviewer, b.data, b.len);
    CHECK(v.kind == KANDEV_POLICY_KIND_DENY && v.reason == KANDEV_POLICY_REASON_MALFORMED_REQUEST && v.status == 400 &&
              v.option_index == UINT32_MAX,
          "a reviewer's policy and a request: reason %d", (int)v.reason);
    buffer_free(&b);
    kandev_policy_free(policy);
    kandev_policy_free(other);
    kandev_policy_free(blanket);
    kandev_policy_free(reviewer);
}

/* ---- threads, and what is left behind ---- */

enum { THREADS = 8 };

static void *work(void *shared)
{
    static const request plain = {HAS_NAME, {TOOL, NULL, NULL, NULL, NULL, NULL}, YES};
    const kandev_policy *policy = (const kandev_policy *)shared;
    const int rounds = small_run() ? 20 : 1000;
    buffer b = encode(&plain);
    int i;
    for (i = 0; i < rounds; i++) {
        kandev_policy *own = open_policy(i % 2 ? CONFIG : REVIEWER);
        expect_handle(policy, FRAME, strlen(FRAME), SELECT, "a thread on the shared handle");
        expect_handle(policy, FRAME, (size_t)i % strlen(FRAME), MALFORMED, "a thread on the shared handle");
        if (i % 2)
            expect_handle(own, MESSAGE, strlen(MESSAGE), SELECT, "a thread on its own handle");
        else
            expect_handle(own, HOOK, strlen(HOOK), ALLOW, "a thread on its own handle");
        expect_strings(FRAME, CONFIG, SELECT, "a thread on its own");
        expect_strings(HOOK, REVIEWER, ALLOW, "a thread on its own");
        CHECK(decide_request(policy, b.data, b.len).option_index == 1, "a thread's request");
        CHECK(strcmp(kandev_policy_reason_word(20), "injected_mcp") == 0, "a thread's word");
        kandev_policy_free(own);
    }
    buffer_free(&b);
    return NULL;
}

static void threads(void)
{
    pthread_t ids[THREADS];
    kandev_policy *policy = open_policy(CONFIG);
    int i;
    for (i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, work, policy) != 0)
            exit(1);
    for (i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    kandev_policy_free(policy);
}

static void open_and_close(void)
{
    const int rounds = small_run() ? 200 : 20000;
    int i;
    for (i = 0; i < rounds; i++) {
        kandev_policy *policy = open_policy(i % 3 ? CONFIG : REVIEWER), *none = NULL;
        if (i % 100 == 0)
            expect_handle(policy, "{}", 2, i % 3 ? MALFORMED : DENY("malformed_request", "400"), "a short life");
        CHECK(kandev_policy_new("{\"port\":{}}", 11, &none, NULL, 0, NULL) == BAD_CONFIG && !none, "a bad config");
        kandev_policy_free(policy);
    }
}

typedef struct process {
    struct sigaction actions[65];
    stack_t stack;
    sigset_t mask;
    int threads;
} process;

static process process_now(void)
{
    process p;
    DIR *tasks;
    int s;
    memset(&p, 0, sizeof p);
    for (s = 1; s < 65; s++)
        sigaction(s, NULL, &p.actions[s]);
    sigaltstack(NULL, &p.stack);
    sigprocmask(SIG_SETMASK, NULL, &p.mask);
    tasks = opendir("/proc/self/task");
    if (tasks) {
        struct dirent *entry;
        while ((entry = readdir(tasks)))
            p.threads += entry->d_name[0] != '.';
        closedir(tasks);
    }
    return p;
}

static void process_unchanged(const process *before, const char *when)
{
    process after = process_now();
    int s;
    for (s = 1; s < 65; s++)
        CHECK(before->actions[s].sa_handler == after.actions[s].sa_handler &&
                  before->actions[s].sa_flags == after.actions[s].sa_flags,
              "%s: signal %d is handled in another way", when, s);
    CHECK(before->stack.ss_sp == after.stack.ss_sp && before->stack.ss_flags == after.stack.ss_flags,
          "%s: another signal stack", when);
    for (s = 1; s < 65; s++)
        CHECK(sigismember(&before->mask, s) == sigismember(&after.mask, s), "%s: signal %d is masked", when, s);
    CHECK(before->threads == after.threads, "%s: %d threads, then %d", when, before->threads, after.threads);
}

int main(void)
{
    const process before = process_now();
    kandev_policy *policy, *reviewer;

    constants();
    process_unchanged(&before, "first call");
    null_strings();
    null_new();
    process_unchanged(&before, "first decision");

    policy = open_policy(CONFIG);
    reviewer = open_policy(REVIEWER);
    null_evaluate(policy);
    expect_handle(reviewer, HOOK, strlen(HOOK), ALLOW, "a hook");
    capacities(policy, FRAME, SELECT);
    capacities(policy, "", MALFORMED);
    capacities(reviewer, HOOK, ALLOW);
    truncated(policy, CONFIG, FRAME, SELECT, MALFORMED);
    truncated(policy, CONFIG, MESSAGE, SELECT, MALFORMED);
    truncated(reviewer, REVIEWER, HOOK, ALLOW, DENY("malformed_request", "400"));
    truncated_config(CONFIG, ASK("malformed_config"));
    truncated_config(REVIEWER, ASK("malformed_config")); /* no object, so no reviewer's either */
    encodings(policy);
    config_errors();
    huge(policy);
    requests();
    threads();
    open_and_close();
    expect_handle(policy, FRAME, strlen(FRAME), SELECT, "at last");
    kandev_policy_free(policy);
    kandev_policy_free(reviewer);
    process_unchanged(&before, "last call");
    return check_result("contract");
}
