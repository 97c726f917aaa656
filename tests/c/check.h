/* What the test programs share: checks that count, growing bytes, and memory that ends at an unmapped page. */
#ifndef KANDEV_TEST_CHECK_H
#define KANDEV_TEST_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kandev_policy.h"

#define OK KANDEV_POLICY_STATUS_OK
#define TOO_SMALL KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL
#define INVALID KANDEV_POLICY_STATUS_INVALID_ARGUMENT
#define BAD_CONFIG KANDEV_POLICY_STATUS_BAD_CONFIG
#define INTERNAL KANDEV_POLICY_STATUS_INTERNAL_ERROR

/* MAX_DOCUMENT_BYTES of the library. */
#define MAX_DOCUMENT ((size_t)16 * 1024 * 1024)

/* A check that failed is printed with its place and counted; the program goes on. Safe to use from any thread. */
#define CHECK(condition, ...) \
    ((condition) ? check_passed() : check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__))

void check_passed(void);
void check_failed(const char *file, int line, const char *condition, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 4, 5)))
#endif
    ;
/* Prints the last line, "PASS name: ..." or "FAIL name: ...", and returns the exit status. */
int check_result(const char *name);
unsigned long check_count(void);

/* Under Valgrind the huge cases are scaled down: whether KANDEV_TEST_SMALL is set. */
bool small_run(void);

/* Stops the program when there is no memory for the test itself. */
void *allocate(size_t size);

/* Bytes that grow. `data` is never NULL and has a NUL behind `len`. */
typedef struct buffer {
    char *data;
    size_t len, capacity;
} buffer;

buffer buffer_new(void);
void buffer_free(buffer *b);
void buffer_reserve(buffer *b, size_t more);
void buffer_add(buffer *b, const void *bytes, size_t len);
void buffer_text(buffer *b, const char *text);
void buffer_repeat(buffer *b, const void *bytes, size_t len, size_t times);

/* Memory whose last byte lies right before a page that can't be touched. */
typedef struct guarded {
    char *map, *end;
    size_t size, mapped;
} guarded;

guarded guarded_new(size_t size);
void guarded_free(guarded *g);
/* Copies the bytes to the very end of the memory and gives their place. */
char *guarded_place(guarded *g, const void *bytes, size_t len);

/* Appends a JSON string, escaped minimally. */
void buffer_json(buffer *b, const char *text, size_t len);
/* Appends the decision JSON that a verdict and its strings stand for. False: the two don't fit together. */
bool buffer_verdict(buffer *b, const kandev_policy_verdict *verdict, const char *strings, size_t size);

#endif
