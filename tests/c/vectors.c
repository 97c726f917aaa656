/*
 * Replays the decision vectors through every way into the library and compares the whole decision byte for byte.
 *
 *     vectors tests/vectors/FILE.jsonl...
 */
#include "jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long vectors, one_shots, compiled, refused, left_out, failures;

/* With KANDEV_TEST_SMALL longer ones are left out: Valgrind takes a minute for them. */
enum { SMALL_BYTES = 256 * 1024 };

/* The bytes before and behind what may be written to. */
enum { CANARY = 0x5a, MARGIN = 16 };

typedef struct canary {
    char *memory, *data;
    size_t size;
} canary;

static canary canary_new(size_t size)
{
    canary c;
    c.size = size;
    c.memory = (char *)allocate(size + 2 * MARGIN);
    c.data = c.memory + MARGIN;
    memset(c.memory, CANARY, size + 2 * MARGIN);
    return c;
}

/* Whether nothing but the first `written` bytes was touched; frees the memory. */
static bool canary_lives(canary *c, size_t written)
{
    size_t i, total = c->size + 2 * MARGIN;
    bool lives = true;
    for (i = 0; i < total; i++)
        if ((i < MARGIN || i >= MARGIN + written) && c->memory[i] != CANARY)
            lives = false;
    free(c->memory);
    return lives;
}

static bool same(const vector *v, const char *what, const char *got, size_t len)
{
    if (len == v->expect.len && memcmp(got, v->expect.data, len) == 0)
        return true;
    fprintf(stderr, "%s (%s): %s\n  got  %.*s\n  want %s\n", v->id.data, v->why.data, what, (int)len, got,
            v->expect.data);
    return false;
}

static bool fault(const vector *v, const char *what)
{
    fprintf(stderr, "%s (%s): %s\n", v->id.data, v->why.data, what);
    return false;
}

static bool has_nul(const buffer *b)
{
    return memchr(b->data, '\0', b->len) != NULL;
}

static bool one_shot(const vector *v)
{
    char *json = kandev_policy_decide(v->input.data, v->config.data);
    bool fine = json ? same(v, "decide", json, strlen(json)) : fault(v, "decide returns NULL");
    kandev_policy_string_free(json);
    json = kandev_policy_explain(v->input.data, v->config.data);
    if (!json) {
        fine = fault(v, "explain returns NULL");
    } else {
        /* The decision's members, then `detail` and `trace`. */
        size_t members = v->expect.len - 1, len = strlen(json);
        static const char detail[] = ",\"detail\":\"", trace[] = "\",\"trace\":[";
        if (len < members + sizeof detail || memcmp(json, v->expect.data, members) != 0 ||
            memcmp(json + members, detail, sizeof detail - 1) != 0 || !strstr(json + members, trace) ||
            strcmp(json + len - 2, "]}") != 0) {
            fprintf(stderr, "%s: explain gives %s\n", v->id.data, json);
            fine = false;
        }
    }
    kandev_policy_string_free(json);
    return fine;
}

static bool evaluate(const vector *v, const kandev_policy *policy)
{
    const char *frame = v->input.data;
    size_t len = v->input.len, needed = v->expect.len, size = 0;
    canary c;
    bool fine = true;

    if (kandev_policy_evaluate(policy, frame, len, NULL, 0, &size) != TOO_SMALL || size != needed)
        fine = fault(v, "evaluate: another size than the decision's");
    c = canary_new(needed);
    size = 0;
    if (kandev_policy_evaluate(policy, frame, len, c.data, needed - 1, &size) != TOO_SMALL || size != needed)
        fine = fault(v, "evaluate: one byte too few");
    if (!canary_lives(&c, 0))
        fine = fault(v, "evaluate: writes to a buffer that is too small");
    c = canary_new(needed);
    size = 0;
    if (kandev_policy_evaluate(policy, frame, len, c.data, needed, &size) != OK || size != needed)
        fine = fault(v, "evaluate: the exact size");
    else
        fine = same(v, "evaluate", c.data, size) && fine;
    if (!canary_lives(&c, needed))
        fine = fault(v, "evaluate: writes outside the buffer");
    return fine;
}

static bool evaluate_frame(const vector *v, const kandev_policy *policy)
{
    const char *frame = v->input.data;
    size_t len = v->input.len, needed = 0, size = 0;
    kandev_policy_verdict verdict, untouched;
    buffer json = buffer_new();
    canary c;
    bool fine = true;

    memset(&verdict, CANARY, sizeof verdict);
    memcpy(&untouched, &verdict, sizeof verdict);
    switch (kandev_policy_evaluate_frame(policy, frame, len, &verdict, NULL, 0, &needed)) {
    case OK:
        if (needed != 0)
            fine = fault(v, "evaluate_frame: strings without a buffer");
        break;
    case TOO_SMALL:
        if (needed == 0 || memcmp(&verdict, &untouched, sizeof verdict) != 0)
            fine = fault(v, "evaluate_frame: the verdict is written without its strings");
        break;
    default: fine = fault(v, "evaluate_frame: another status");
    }
    if (needed > 0) {
        c = canary_new(needed);
        memcpy(&verdict, &untouched, sizeof verdict);
        if (kandev_policy_evaluate_frame(policy, frame, len, &verdict, c.data, needed - 1, &size) != TOO_SMALL ||
            size != needed || memcmp(&verdict, &untouched, sizeof verdict) != 0)
            fine = fault(v, "evaluate_frame: one byte too few");
        if (!canary_lives(&c, 0))
            fine = fault(v, "evaluate_frame: writes to a buffer that is too small");
    }
    c = canary_new(needed);
    size = SIZE_MAX;
    if (kandev_policy_evaluate_frame(policy, frame, len, &verdict, c.data, needed, &size) != OK || size != needed)
        fine = fault(v, "evaluate_frame: the exact size");
    else if (!buffer_verdict(&json, &verdict, c.data, size))
        fine = fault(v, "evaluate_frame: a verdict that can't be");
    else
        fine = same(v, "evaluate_frame", json.data, json.len) && fine;
    if (!canary_lives(&c, needed))
        fine = fault(v, "evaluate_frame: writes outside the buffer");
    buffer_free(&json);
    return fine;
}

static bool handle(const vector *v)
{
    kandev_policy *policy = NULL;
    size_t error_size = SIZE_MAX;
    kandev_policy_status status = kandev_policy_new(v->config.data, v->config.len, &policy, NULL, 0, &error_size);
    bool fine = true;
    bool unusable = strstr(v->expect.data, "\"reason\":\"malformed_config\"") != NULL;

    if (status == BAD_CONFIG) {
        refused++;
        if (policy || error_size == 0)
            fine = fault(v, "new: BAD_CONFIG with a handle or without a text");
        return unusable ? fine : fault(v, "new: BAD_CONFIG");
    }
    if (status != OK || !policy || error_size != 0)
        return fault(v, "new: another status");
    if (unusable)
        fine = fault(v, "new takes the config");
    compiled++;
    fine = evaluate(v, policy) && fine;
    fine = evaluate_frame(v, policy) && fine;
    kandev_policy_free(policy);
    return fine;
}

/* A line that is cut anywhere is none. */
static void cut_line(const char *path, const char *line, size_t len)
{
    vector v = vector_new();
    size_t cut;
    for (cut = 0; cut < len; cut += 1 + cut / 64) {
        char *exact = (char *)allocate(cut);
        memcpy(exact, line, cut);
        if (vector_read(&v, exact, cut)) {
            fprintf(stderr, "%s: the reader takes the first %lu bytes of a line\n", path, (unsigned long)cut);
            failures++;
        }
        free(exact);
    }
    vector_free(&v);
}

static void replay(const char *path)
{
    buffer file = file_read(path);
    const char *line = file.data, *end = file.data + file.len;
    unsigned long number = 0, before = vectors + left_out;
    vector v = vector_new();
    while (line < end) {
        const char *newline = (const char *)memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        number++;
        if (!vector_read(&v, line, (size_t)(stop - line))) {
            fprintf(stderr, "%s:%lu: not a vector\n", path, number);
            failures++;
        } else if (small_run() && v.input.len + v.config.len > SMALL_BYTES) {
            left_out++;
        } else {
            bool fine = true;
            vectors++;
            if (number == 1)
                cut_line(path, line, (size_t)(stop - line));
            if (!has_nul(&v.input) && !has_nul(&v.config)) {
                one_shots++;
                fine = one_shot(&v);
            }
            fine = handle(&v) && fine;
            if (!fine)
                failures++;
        }
        line = stop + 1;
    }
    if (vectors + left_out == before) {
        fprintf(stderr, "%s: no vectors\n", path);
        failures++;
    }
    vector_free(&v);
    buffer_free(&file);
}

int main(int argc, char **argv)
{
    int i;
    if (argc < 2) {
        fputs("usage: vectors FILE.jsonl...\n", stderr);
        return 2;
    }
    for (i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%s vectors: %lu vectors of %d files, %lu one-shot, %lu compiled, %lu configs refused, "
           "%lu too long for this run, %lu failed\n",
           failures ? "FAIL" : "PASS", vectors, argc - 1, one_shots, compiled, refused, left_out, failures);
    return failures ? 1 : 0;
}
