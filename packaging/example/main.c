/* Decides one permission request. README.md beside this file says how to build it. */
#include <kandev_policy.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *config = "{\"agent_type\":\"claude-acp\",\"port\":41000,\"injected_kandev_mcp\":true,"
                         "\"mcp_servers\":[{\"name\":\"kandev\",\"type\":\"http\",\"url\":\"http://localhost:41000/mcp\"}]}";
    const char *frame = "{\"toolCall\":{\"name\":\"mcp__kandev__list_tasks\"},"
                        "\"options\":[{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]}";

    /* Once, at the program's start: is it the library that this was compiled for? */
    if (kandev_policy_abi_version() != KANDEV_POLICY_ABI_VERSION) {
        fprintf(stderr, "kandev_policy %s has another ABI\n", kandev_policy_version());
        return 1;
    }
    kandev_policy *policy;
    char text[1024];
    size_t size;
    if (kandev_policy_new(config, strlen(config), &policy, text, sizeof text, &size) != KANDEV_POLICY_STATUS_OK) {
        fprintf(stderr, "bad config: %.*s\n", (int)(size < sizeof text ? size : sizeof text), text);
        return 1;
    }
    kandev_policy_verdict verdict;
    if (kandev_policy_evaluate_frame(policy, frame, strlen(frame), &verdict, text, sizeof text, &size) ==
            KANDEV_POLICY_STATUS_OK &&
        verdict.kind == KANDEV_POLICY_KIND_SELECT)
        printf("select %.*s (%s)\n", (int)verdict.option_id_len, text, kandev_policy_reason_word(verdict.reason));
    else /* every other status and kind: the request goes the way it went before */
        puts("ask");
    kandev_policy_free(policy);
    return 0;
}
