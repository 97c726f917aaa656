/*
 * Reads the decision vectors: one line of a tests/vectors/ file at a time, in exactly the form that they are written
 * in, and nothing else:
 *
 *     {"id":S,"why":S,["agent":S,"scenario":S,]"config":C,"input":I,"expect":O}
 *
 * C is an object (its bytes as they stand), a string, or an array of parts; I a string or an array of parts; a part is
 * a string, {"repeat":S,"times":N} or {"hex":S}. The bytes of O as they stand are the decision to compare with.
 */
#ifndef KANDEV_TEST_JSONL_H
#define KANDEV_TEST_JSONL_H

#include "check.h"

enum {
    JSONL_MAX_FILE = 64 * 1024 * 1024,
    JSONL_MAX_TEXT = 64 * 1024 * 1024 /* one decoded config or input */
};

typedef struct vector {
    buffer id, why, agent, scenario, config, input, expect;
} vector;

vector vector_new(void);
void vector_free(vector *v);

/* Reads one line (without its newline) into `v`, over what it held. False: the line has another form. */
bool vector_read(vector *v, const char *line, size_t len);

/* Reads a whole file; stops the program when there is none. */
buffer file_read(const char *path);

#endif
