#include "jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at, *end;
} reader;

static bool literal(reader *r, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
        return false;
    r->at += len;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool hex4(reader *r, uint32_t *value)
{
    int i;
    *value = 0;
    if (r->end - r->at < 4)
        return false;
    for (i = 0; i < 4; i++) {
        int digit = hex_digit(*r->at++);
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

static void add_utf8(buffer *out, uint32_t c)
{
    unsigned char bytes[4];
    size_t len;
    if (c < 0x80) {
        bytes[0] = (unsigned char)c;
        len = 1;
    } else if (c < 0x800) {
        bytes[0] = (unsigned char)(0xc0 | c >> 6);
        bytes[1] = (unsigned char)(0x80 | (c & 0x3f));
        len = 2;
    } else if (c < 0x10000) {
        bytes[0] = (unsigned char)(0xe0 | c >> 12);
        bytes[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
        bytes[2] = (unsigned char)(0x80 | (c & 0x3f));
        len = 3;
    } else {
        bytes[0] = (unsigned char)(0xf0 | c >> 18);
        bytes[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
        bytes[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
        bytes[3] = (unsigned char)(0x80 | (c & 0x3f));
        len = 4;
    }
    buffer_add(out, bytes, len);
}

static bool unicode_escape(reader *r, buffer *out)
{
    uint32_t high, low;
    if (!hex4(r, &high))
        return false;
    if (high >= 0xd800 && high < 0xdc00) {
        if (!literal(r, "\\u") || !hex4(r, &low) || low < 0xdc00 || low >= 0xe000)
            return false;
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    } else if (high >= 0xdc00 && high < 0xe000) {
        return false; /* half a character is no text */
    }
    add_utf8(out, high);
    return true;
}

/* Appends what a string says. */
static bool string(reader *r, buffer *out)
{
    if (!literal(r, "\""))
        return false;
    while (r->at < r->end) {
        const char *plain = r->at;
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20)
            r->at++;
        buffer_add(out, plain, (size_t)(r->at - plain));
        if (literal(r, "\""))
            return true;
        if (!literal(r, "\\") || r->at == r->end)
            return false;
        switch (*r->at++) {
        case '"': buffer_text(out, "\""); break;
        case '\\': buffer_text(out, "\\"); break;
        case '/': buffer_text(out, "/"); break;
        case 'b': buffer_text(out, "\b"); break;
        case 'f': buffer_text(out, "\f"); break;
        case 'n': buffer_text(out, "\n"); break;
        case 'r': buffer_text(out, "\r"); break;
        case 't': buffer_text(out, "\t"); break;
        case 'u':
            if (!unicode_escape(r, out))
                return false;
            break;
        default: return false;
        }
    }
    return false;
}

static bool number(reader *r, size_t *value)
{
    const char *start = r->at;
    *value = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        *value = *value * 10 + (size_t)(*r->at++ - '0');
        if (*value > JSONL_MAX_TEXT)
            return false;
    }
    return r->at > start;
}

static bool part(reader *r, buffer *out)
{
    buffer text;
    size_t times = 0, i;
    bool fine = false;
    if (r->at < r->end && *r->at == '"')
        return string(r, out);
    text = buffer_new();
    if (literal(r, "{\"repeat\":")) {
        fine = string(r, &text) && literal(r, ",\"times\":") && number(r, &times) && literal(r, "}") &&
               (times == 0 || text.len <= (JSONL_MAX_TEXT - out->len) / times);
        if (fine)
            buffer_repeat(out, text.data, text.len, times);
    } else if (literal(r, "{\"hex\":")) {
        fine = string(r, &text) && literal(r, "}") && text.len % 2 == 0;
        for (i = 0; fine && i < text.len; i += 2) {
            int high = hex_digit(text.data[i]), low = hex_digit(text.data[i + 1]);
            char byte = (char)(high * 16 + low);
            fine = high >= 0 && low >= 0;
            buffer_add(out, &byte, 1);
        }
    }
    buffer_free(&text);
    return fine && out->len <= JSONL_MAX_TEXT;
}

/* A string, or an array of parts. */
static bool text(reader *r, buffer *out)
{
    if (!literal(r, "["))
        return string(r, out);
    if (literal(r, "]"))
        return true;
    do {
        if (!part(r, out))
            return false;
    } while (literal(r, ","));
    return literal(r, "]");
}

/* Appends an object's own bytes. That it is JSON is for the library to say; here only its end is looked for. */
static bool object(reader *r, buffer *out)
{
    const char *start = r->at;
    size_t depth = 0;
    bool quoted = false;
    if (r->at == r->end || *r->at != '{')
        return false;
    for (; r->at < r->end; r->at++) {
        char c = *r->at;
        if (quoted) {
            if (c == '\\' && r->end - r->at > 1)
                r->at++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            r->at++;
            buffer_add(out, start, (size_t)(r->at - start));
            return true;
        }
    }
    return false;
}

static buffer *const *members(vector *v, buffer *all[7])
{
    all[0] = &v->id;
    all[1] = &v->why;
    all[2] = &v->agent;
    all[3] = &v->scenario;
    all[4] = &v->config;
    all[5] = &v->input;
    all[6] = &v->expect;
    return all;
}

vector vector_new(void)
{
    vector v;
    buffer *all[7];
    size_t i;
    for (i = 0; i < 7; i++)
        *members(&v, all)[i] = buffer_new();
    return v;
}

void vector_free(vector *v)
{
    buffer *all[7];
    size_t i;
    for (i = 0; i < 7; i++)
        buffer_free(members(v, all)[i]);
}

bool vector_read(vector *v, const char *line, size_t len)
{
    reader r;
    buffer *all[7];
    size_t i;
    r.at = line;
    r.end = line + len;
    for (i = 0; i < 7; i++) {
        members(v, all)[i]->len = 0;
        members(v, all)[i]->data[0] = '\0';
    }
    if (!literal(&r, "{\"id\":") || !string(&r, &v->id) || !literal(&r, ",\"why\":") || !string(&r, &v->why))
        return false;
    if (literal(&r, ",\"agent\":") &&
        (!string(&r, &v->agent) || !literal(&r, ",\"scenario\":") || !string(&r, &v->scenario)))
        return false;
    if (!literal(&r, ",\"config\":"))
        return false;
    if (r.at < r.end && *r.at == '{' ? !object(&r, &v->config) : !text(&r, &v->config))
        return false;
    return literal(&r, ",\"input\":") && text(&r, &v->input) && literal(&r, ",\"expect\":") &&
           object(&r, &v->expect) && literal(&r, "}") && r.at == r.end && v->id.len > 0;
}

buffer file_read(const char *path)
{
    buffer content = buffer_new();
    char chunk[65536];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        if (content.len + got > JSONL_MAX_FILE) {
            fprintf(stderr, "%s: too large\n", path);
            exit(1);
        }
        buffer_add(&content, chunk, got);
    }
    if (ferror(file)) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return content;
}
