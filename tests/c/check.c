#define _DEFAULT_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long passed, failed;

void check_passed(void)
{
    pthread_mutex_lock(&lock);
    passed++;
    pthread_mutex_unlock(&lock);
}

void check_failed(const char *file, int line, const char *condition, const char *format, ...)
{
    enum { SHOWN = 40 };
    va_list arguments;
    pthread_mutex_lock(&lock);
    if (++failed <= SHOWN) {
        fprintf(stderr, "%s:%d: %s: ", file, line, condition);
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputs(failed == SHOWN ? "\n(no more are shown)\n" : "\n", stderr);
    }
    pthread_mutex_unlock(&lock);
}

unsigned long check_count(void)
{
    return passed + failed;
}

int check_result(const char *name)
{
    if (failed == 0 && passed > 0) {
        printf("PASS %s: %lu checks\n", name, passed);
        return 0;
    }
    printf("FAIL %s: %lu of %lu checks failed\n", name, failed, passed + failed);
    return 1;
}

bool small_run(void)
{
    return getenv("KANDEV_TEST_SMALL") != NULL;
}

void *allocate(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

buffer buffer_new(void)
{
    buffer b;
    b.capacity = 256;
    b.len = 0;
    b.data = (char *)allocate(b.capacity);
    b.data[0] = '\0';
    return b;
}

void buffer_free(buffer *b)
{
    free(b->data);
    b->data = NULL;
    b->len = b->capacity = 0;
}

void buffer_reserve(buffer *b, size_t more)
{
    size_t needed = b->len + more + 1;
    if (needed > b->capacity) {
        size_t capacity = needed > b->capacity * 2 ? needed : b->capacity * 2;
        char *data = (char *)allocate(capacity);
        memcpy(data, b->data, b->len + 1);
        free(b->data);
        b->data = data;
        b->capacity = capacity;
    }
}

void buffer_add(buffer *b, const void *bytes, size_t len)
{
    buffer_reserve(b, len);
    if (len > 0)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buffer_text(buffer *b, const char *text)
{
    buffer_add(b, text, strlen(text));
}

void buffer_repeat(buffer *b, const void *bytes, size_t len, size_t times)
{
    const size_t total = len * times;
    size_t done = len;
    char *start;
    if (total == 0)
        return;
    buffer_reserve(b, total);
    start = b->data + b->len;
    memcpy(start, bytes, len);
    while (done < total) { /* what is there, doubled */
        size_t more = done < total - done ? done : total - done;
        memcpy(start + done, start, more);
        done += more;
    }
    b->len += total;
    b->data[b->len] = '\0';
}

guarded guarded_new(size_t size)
{
    guarded g;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map;
    g.size = (size + page - 1) / page * page;
    g.mapped = g.size + page;
    map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect((char *)map + g.size, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(1);
    }
    g.map = (char *)map;
    g.end = g.map + g.size;
    return g;
}

void guarded_free(guarded *g)
{
    munmap(g->map, g->mapped);
}

char *guarded_place(guarded *g, const void *bytes, size_t len)
{
    if (len > g->size) {
        fputs("guarded memory is too small\n", stderr);
        exit(1);
    }
    if (len > 0)
        memmove(g->end - len, bytes, len);
    return g->end - len;
}

void buffer_json(buffer *b, const char *text, size_t len)
{
    size_t at;
    buffer_text(b, "\"");
    for (at = 0; at < len; at++) {
        unsigned char byte = (unsigned char)text[at];
        const char *name = "btn?fr"; /* 8 to 13 */
        char escape[8];
        if (byte == '"' || byte == '\\') {
            snprintf(escape, sizeof escape, "\\%c", byte);
        } else if (byte >= 8 && byte <= 13 && byte != 11) {
            snprintf(escape, sizeof escape, "\\%c", name[byte - 8]);
        } else if (byte < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", byte);
        } else {
            buffer_add(b, text + at, 1);
            continue;
        }
        buffer_text(b, escape);
    }
    buffer_text(b, "\"");
}

bool buffer_verdict(buffer *b, const kandev_policy_verdict *verdict, const char *strings, size_t size)
{
    static const char *const kinds[] = {"ask", "select", "cancel", "allow", "deny"};
    static const char *const option_kinds[] = {"", "allow_once", "allow_always", "reject_once", "reject_always"};
    const char *reason = kandev_policy_reason_word((uint16_t)verdict->reason);
    const char *server = strings + verdict->option_id_len, *tool = server + verdict->server_len;
    bool selected = verdict->option_index != UINT32_MAX;

    if ((size_t)verdict->kind > 4 || (size_t)verdict->option_kind > 4 || !reason || verdict->reserved != 0)
        return false;
    if ((size_t)verdict->option_id_len + verdict->server_len + verdict->tool_len + verdict->response_len != size)
        return false;
    if ((verdict->server_len == 0) != (verdict->tool_len == 0))
        return false;
    if (!selected && (verdict->option_id_len > 0 || verdict->option_kind != KANDEV_POLICY_OPTION_KIND_NONE))
        return false;

    buffer_text(b, "{\"decision\":");
    buffer_json(b, kinds[verdict->kind], strlen(kinds[verdict->kind]));
    buffer_text(b, ",\"reason\":");
    buffer_json(b, reason, strlen(reason));
    if (verdict->status != 0) {
        char status[32];
        snprintf(status, sizeof status, ",\"status\":%u", (unsigned)verdict->status);
        buffer_text(b, status);
    }
    if (selected) {
        buffer_text(b, ",\"option_id\":");
        buffer_json(b, strings, verdict->option_id_len);
    }
    if (verdict->option_kind != KANDEV_POLICY_OPTION_KIND_NONE) {
        const char *kind = option_kinds[verdict->option_kind];
        buffer_text(b, ",\"option_kind\":");
        buffer_json(b, kind, strlen(kind));
    }
    if (verdict->server_len > 0) {
        buffer_text(b, ",\"server\":");
        buffer_json(b, server, verdict->server_len);
        buffer_text(b, ",\"tool\":");
        buffer_json(b, tool, verdict->tool_len);
    }
    if (verdict->response_len > 0) {
        buffer_text(b, ",\"response\":");
        buffer_add(b, tool + verdict->tool_len, verdict->response_len);
    }
    buffer_text(b, "}");
    return true;
}
