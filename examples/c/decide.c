/*
 * Decides one permission request: once from two strings, then with a compiled config.
 *
 *     cargo build --release --features capi
 *     cc -Iinclude examples/c/decide.c target/release/libkandev_policy.a -lgcc_s -lpthread -lm -ldl -o decide
 *     ./decide
 */
#include "kandev_policy.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *config = "{\"agent_type\":\"claude-acp\",\"port\":41000,\"injected_kandev_mcp\":true,"
                         "\"mcp_servers\":[{\"name\":\"kandev\",\"type\":\"http\",\"url\":\"http://localhost:41000/mcp\"}]}";
    const char *frame = "{\"toolCall\":{\"name\":\"mcp__kandev__list_tasks\"},"
                        "\"options\":[{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]}";

    /* Once. NULL means that there was no memory for the answer, and then the host asks. */
    char *json = kandev_policy_decide(frame, config);
    puts(json ? json : "ask");
    kandev_policy_string_free(json);

    /* Often: the config is compiled once, and any number of threads may use the handle. */
    kandev_policy *policy;
    char text[512];
    size_t size;
    if (kandev_policy_new(config, strlen(config), &policy, text, sizeof text, &size) != KANDEV_POLICY_STATUS_OK) {
        fprintf(stderr, "bad config: %.*s\n", (int)(size < sizeof text ? size : sizeof text), text);
        return 1;
    }
    kandev_policy_verdict verdict;
    kandev_policy_status status =
        kandev_policy_evaluate_frame(policy, frame, strlen(frame), &verdict, text, sizeof text, &size);
    if (status == KANDEV_POLICY_STATUS_OK && verdict.kind == KANDEV_POLICY_KIND_SELECT)
        printf("select %.*s (%s)\n", (int)verdict.option_id_len, text, kandev_policy_reason_word(verdict.reason));
    else /* every other status and kind: the request goes the way it went before */
        puts("ask");
    kandev_policy_free(policy);
    return 0;
}
