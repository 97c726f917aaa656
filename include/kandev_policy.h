/*
 * kandev-policy: decides permission requests of AI coding agents for the host that runs them.
 *
 * JSON in, JSON out: kandev_policy_decide takes a frame and a config and returns a decision. A host that decides often
 * compiles its config once (kandev_policy_new) and answers into its own buffers (kandev_policy_evaluate).
 *
 *     char *json = kandev_policy_decide(frame, config);
 *     // {"decision":"select","reason":"injected_mcp","option_id":"yes",...}
 *     kandev_policy_string_free(json);
 *
 * Conventions, which every function keeps:
 *
 * Ownership  Arguments are borrowed for the call and never changed. What a function returns to be freed names the
 *            function that frees it. The library frees nothing that it did not allocate.
 * Lengths    Sizes are bytes. (pointer, length) pairs need no NUL; a NULL pointer is allowed where the length is 0.
 * NULL       Allowed where a comment says so. Elsewhere it is malformed input, or KANDEV_POLICY_STATUS_INVALID_ARGUMENT.
 * Threads    Every function may be called from any thread. A handle is immutable and may be shared. The library keeps no
 *            state between calls, starts no thread, holds no lock across a call.
 * Errors     What is wrong with a frame or a config is a decision with a reason, never an approval. Every status but
 *            KANDEV_POLICY_STATUS_OK means to the caller: ask (or deny, for an unattended reviewer).
 * Panics     None crosses this interface: a caught one is the decision internal_error and prints nothing. No signal
 *            handler is installed; nothing exits or prints. Exhausted memory aborts the process, except that a result
 *            string which can't be allocated is returned as NULL.
 * Secrets    A decision says decision, reason, option id and kind, server and tool; nothing else of a frame or a config
 *            appears in any output.
 */

#ifndef KANDEV_POLICY_H
#define KANDEV_POLICY_H

/* Generated from src/abi by cbindgen in build.rs. Do not edit. */

#include <stddef.h>
#include <stdint.h>

// What `kandev_policy_abi_version` gives for the library that this header belongs to.
#define KANDEV_POLICY_ABI_VERSION 1

// The longest hook payload (contract 5.1, step 1).
#define MAX_HOOK_BODY_BYTES (1024 * 1024)

// What a call that returns a status came to. Every status but `KANDEV_POLICY_STATUS_OK` means to the caller: no
// decision, so *ask* (let the request go the way it went before), or *deny* for an unattended reviewer. Numbers are
// never reused.
enum kandev_policy_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The out-parameters are written.
  KANDEV_POLICY_STATUS_OK = 0,
  // The buffer is too small: nothing is written but the needed size. The same call with a buffer of that size gives
  // the same answer.
  KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL = 1,
  // A pointer that must not be NULL is NULL. Nothing is written.
  KANDEV_POLICY_STATUS_INVALID_ARGUMENT = 2,
  // `kandev_policy_new` only: the config can't be used; the error text says why.
  KANDEV_POLICY_STATUS_BAD_CONFIG = 3,
  // A panic was caught. Nothing is written, or only the needed size; the next call is unaffected.
  KANDEV_POLICY_STATUS_INTERNAL_ERROR = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kandev_policy_status kandev_policy_status;
#else
typedef int32_t kandev_policy_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What the host should do with a request.
enum kandev_policy_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Let the request go the way it went before.
  KANDEV_POLICY_KIND_ASK = 0,
  // Answer with the decision's option.
  KANDEV_POLICY_KIND_SELECT = 1,
  // Answer that the request is cancelled.
  KANDEV_POLICY_KIND_CANCEL = 2,
  // Allow the call (hooks).
  KANDEV_POLICY_KIND_ALLOW = 3,
  // Deny the call (hooks).
  KANDEV_POLICY_KIND_DENY = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kandev_policy_kind kandev_policy_kind;
#else
typedef uint8_t kandev_policy_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The kind of the chosen option.
enum kandev_policy_option_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // No option is chosen, or its kind is not one of ACP's four.
  KANDEV_POLICY_OPTION_KIND_NONE = 0,
  // `allow_once`
  KANDEV_POLICY_OPTION_KIND_ALLOW_ONCE = 1,
  // `allow_always`
  KANDEV_POLICY_OPTION_KIND_ALLOW_ALWAYS = 2,
  // `reject_once`
  KANDEV_POLICY_OPTION_KIND_REJECT_ONCE = 3,
  // `reject_always`
  KANDEV_POLICY_OPTION_KIND_REJECT_ALWAYS = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kandev_policy_option_kind kandev_policy_option_kind;
#else
typedef uint8_t kandev_policy_option_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why a decision came out as it did. Numbers are never reused.
enum kandev_policy_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint16_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // `internal_error`: An internal error was caught; the request goes the way it went before. (A caught panic (contract 2, rule 5))
  KANDEV_POLICY_REASON_INTERNAL_ERROR = 0,
  // `engine_unavailable`: No policy engine is available in this build or after closing. (The host runs without an engine. The library itself never gives this one)
  KANDEV_POLICY_REASON_ENGINE_UNAVAILABLE = 1,
  // `malformed_config`: The host's config can't be used. (Step 1)
  KANDEV_POLICY_REASON_MALFORMED_CONFIG = 2,
  // `malformed_frame`: The frame is not one strict, unambiguous permission request. (Steps 2 and 4)
  KANDEV_POLICY_REASON_MALFORMED_FRAME = 3,
  // `not_a_permission_request`: The message has another method than session/request_permission. (Step 3)
  KANDEV_POLICY_REASON_NOT_A_PERMISSION_REQUEST = 4,
  // `no_options`: The agent offers no option to choose from. (Step 5)
  KANDEV_POLICY_REASON_NO_OPTIONS = 5,
  // `blanket_approval`: The host approves every request of this session. (Step 6)
  KANDEV_POLICY_REASON_BLANKET_APPROVAL = 6,
  // `identity_missing`: The frame doesn't say which tool it is about in a form that can be trusted. (Step 7)
  KANDEV_POLICY_REASON_IDENTITY_MISSING = 7,
  // `identity_malformed`: What says which tool or server it is has a wrong type. (Step 7)
  KANDEV_POLICY_REASON_IDENTITY_MALFORMED = 8,
  // `identity_conflict`: Two statements about the tool or its server disagree. (Steps 7 and 10)
  KANDEV_POLICY_REASON_IDENTITY_CONFLICT = 9,
  // `not_mcp_tool`: The tool is not one of an MCP server. (Step 8)
  KANDEV_POLICY_REASON_NOT_MCP_TOOL = 10,
  // `ambiguous_tool_name`: The tool name can be split into server and tool in more than one way. (Step 8)
  KANDEV_POLICY_REASON_AMBIGUOUS_TOOL_NAME = 11,
  // `invalid_tool_name`: The tool name is not a well-formed qualified MCP name. (Step 8)
  KANDEV_POLICY_REASON_INVALID_TOOL_NAME = 12,
  // `other_server`: The tool belongs to another MCP server than the injected one. (Step 8)
  KANDEV_POLICY_REASON_OTHER_SERVER = 13,
  // `provenance_missing`: The host has not stated that it injected its MCP server at a usable port. (Step 9)
  KANDEV_POLICY_REASON_PROVENANCE_MISSING = 14,
  // `server_not_injected`: No configured server is exactly the one that the host injects. (Step 9)
  KANDEV_POLICY_REASON_SERVER_NOT_INJECTED = 15,
  // `server_name_conflict`: Another configured server has the injected server's name. (Step 9)
  KANDEV_POLICY_REASON_SERVER_NAME_CONFLICT = 16,
  // `untrusted_server_source`: The agent says that the serving server was not injected by the host. (Step 10)
  KANDEV_POLICY_REASON_UNTRUSTED_SERVER_SOURCE = 17,
  // `no_allow_option`: The agent offers nothing that allows the call. (Step 11)
  KANDEV_POLICY_REASON_NO_ALLOW_OPTION = 18,
  // `option_id_unusable`: The allow option's id is blank or not unique. (Step 11)
  KANDEV_POLICY_REASON_OPTION_ID_UNUSABLE = 19,
  // `injected_mcp`: The call goes to the MCP server that the host injected. (Step 12)
  KANDEV_POLICY_REASON_INJECTED_MCP = 20,
  // `malformed_request`: The hook payload is not one strict, complete permission request. (Reviewer, step 1)
  KANDEV_POLICY_REASON_MALFORMED_REQUEST = 21,
  // `result_channel`: The call delivers the reviewer's result. (Reviewer, step 2)
  KANDEV_POLICY_REASON_RESULT_CHANNEL = 22,
  // `allowlisted_server`: The call goes to a server that the reviewer's launch allows. (Reviewer, step 3)
  KANDEV_POLICY_REASON_ALLOWLISTED_SERVER = 23,
  // `server_not_allowlisted`: The call goes to a server that the reviewer's launch doesn't allow. (Reviewer, step 3)
  KANDEV_POLICY_REASON_SERVER_NOT_ALLOWLISTED = 24,
  // `classified_bare_tool`: The bare tool name is classified as safe on a server that the launch allows. (Reviewer, step 3)
  KANDEV_POLICY_REASON_CLASSIFIED_BARE_TOOL = 25,
  // `bare_tool_denied`: The bare tool name is not classified for this reviewer. (Reviewer, step 3)
  KANDEV_POLICY_REASON_BARE_TOOL_DENIED = 26,
  // `interactive_prompt`: The request came on the shared token; a person decides. (Reviewer, step 4)
  KANDEV_POLICY_REASON_INTERACTIVE_PROMPT = 27,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kandev_policy_reason kandev_policy_reason;
#else
typedef uint16_t kandev_policy_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A compiled config: immutable, and safe to share between threads.
//
// ```
// let config = br#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,
//     "mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#;
// let policy = kandev_policy::Policy::new(config)?;
// let frame = br#"{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}"#;
// let decision = policy.decide(frame);
// assert_eq!(decision.kind(), kandev_policy::Kind::Select);
// assert_eq!(decision.option_id(), Some("yes"));
// # Ok::<(), kandev_policy::ConfigError>(())
// ```
typedef struct Policy Policy;

// A compiled config. It is opaque and immutable: any number of threads may use one at once (a `const` pointer), and one
// of them frees it when all are done.
typedef struct Policy kandev_policy;

// A decision as numbers. A zeroed one is an `ask` with `internal_error`.
typedef struct kandev_policy_verdict {
  // What to do.
  kandev_policy_kind kind;
  // The chosen option's kind; `KANDEV_POLICY_OPTION_KIND_NONE` if there is none or it is not one of ACP's four.
  kandev_policy_option_kind option_kind;
  // Why.
  kandev_policy_reason reason;
  // Hooks: the HTTP status that goes with the answer; 0 for ACP.
  uint16_t status;
  // 0.
  uint16_t reserved;
  // The chosen option's place among the offered ones, from 0; `UINT32_MAX` if none is chosen.
  uint32_t option_index;
  // Length in bytes of the chosen option's id.
  uint32_t option_id_len;
  // Length in bytes of the server's segment of the tool's name; 0 until the name has parsed.
  uint32_t server_len;
  // Length in bytes of the tool's segment; 0 until the name has parsed.
  uint32_t tool_len;
  // Hooks: length in bytes of the answer's body; 0 if there is none.
  uint32_t response_len;
} kandev_policy_verdict;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this ABI: 1. A host checks it once, against `KANDEV_POLICY_ABI_VERSION`. It changes when something in
// this header changes its meaning or goes; additions don't change it. Any thread may call.
uint32_t kandev_policy_abi_version(void);

// The library's version, such as `"0.1.0"`. The string is static: never free it. Any thread may call.
const char *kandev_policy_version(void);

// The word that a reason's number has in the JSON, such as `"other_server"`; NULL for a number that is no reason. The
// string is static: never free it. Any thread may call.
const char *kandev_policy_reason_word(uint16_t reason);

// Decides one permission request under a config that is used once.
//
// `frame` is an ACP `session/request_permission` frame (v1 or v2 params, or the whole JSON-RPC message around either)
// or, under `"policy":"unattended_review"`, a hook payload; `config` is the host's config. Both are NUL-terminated UTF-8
// JSON of at most 16 MiB, borrowed for the call and never changed. NULL counts as malformed input.
//
// Returns the decision, NUL-terminated JSON, which the caller frees with `kandev_policy_string_free`. Whatever is wrong
// with the input is a decision too (`ask`, or `deny` for a reviewer), and so is a caught panic. Returns NULL only when
// the result can't be allocated, which means `ask` (`deny`) to the caller; elsewhere exhausted memory aborts the
// process, as Rust's does.
//
// Any thread may call, at any time; no lock is held and no state is kept.
//
// # Safety
//
// Each pointer is NULL or points to a NUL-terminated string that nobody writes to during the call.
char *kandev_policy_decide(const char *frame,
                           const char *config);

// As `kandev_policy_decide`; the JSON has two more members: `detail`, a short sentence for people, and `trace`, the
// steps in order, each with its outcome (`passed` or `stopped`) and safe facts, such as which statement the tool's
// identity was taken from.
//
// # Safety
//
// As for `kandev_policy_decide`.
char *kandev_policy_explain(const char *frame,
                            const char *config);

// Frees a string that `kandev_policy_decide` or `kandev_policy_explain` returned. NULL is allowed and does nothing. Each
// string is freed once, by any thread.
//
// # Safety
//
// `s` is NULL or a string of this library that has not been freed.
void kandev_policy_string_free(char *s);

// Compiles a config into a handle, once, for many decisions.
//
// `config` is `config_len` bytes of UTF-8 JSON, borrowed for the call; NULL is allowed when `config_len` is 0 (and is a
// bad config). On `KANDEV_POLICY_STATUS_OK` `*policy` is a handle, which the caller frees with `kandev_policy_free`; on
// every other status it is NULL.
//
// On `KANDEV_POLICY_STATUS_BAD_CONFIG` the first `error_capacity` bytes of a text for people are written to `error` (no
// NUL behind them) and its whole length to `*error_size`: the key, the type found and the type expected, or the line
// and column of a syntax error; never a value. On other statuses `*error_size` is 0. `error` may be NULL when
// `error_capacity` is 0, and `error_size` may be NULL.
//
// Any thread may call.
//
// # Safety
//
// `config` points to `config_len` readable bytes, `policy` to a writable pointer, `error` to `error_capacity` writable
// bytes, `error_size` to a writable size, except where NULL is allowed.
kandev_policy_status kandev_policy_new(const char *config,
                                       size_t config_len,
                                       kandev_policy **policy,
                                       char *error,
                                       size_t error_capacity,
                                       size_t *error_size);

// Frees a handle. NULL is allowed and does nothing. No call on the handle may be running or come later; each handle is
// freed once, by any thread.
//
// # Safety
//
// `policy` is NULL or a handle that has not been freed and that no other thread is using.
void kandev_policy_free(kandev_policy *policy);

// Decides one permission request and writes the decision's JSON: the same bytes as `kandev_policy_decide`.
//
// `frame` is `frame_len` bytes, borrowed for the call; NULL is allowed when `frame_len` is 0. On
// `KANDEV_POLICY_STATUS_OK` the JSON is in `buffer` (no NUL behind it) and its length in `*size`. When `capacity` is too
// small, `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL`: nothing is written but the needed length in `*size`; `buffer` may be
// NULL with a `capacity` of 0, to ask for it. A decision is seldom longer than 256 bytes plus the option's id.
//
// The handle is immutable: any number of threads may use it at once.
//
// # Safety
//
// `policy` is a live handle, `frame` points to `frame_len` readable bytes, `buffer` to `capacity` writable bytes, `size`
// to a writable size. The buffer doesn't overlap the frame.
kandev_policy_status kandev_policy_evaluate(const kandev_policy *policy,
                                            const char *frame,
                                            size_t frame_len,
                                            char *buffer,
                                            size_t capacity,
                                            size_t *size);

// As `kandev_policy_evaluate`, for a host that wants to read no JSON: the decision as numbers in `*verdict`, and its
// strings one behind the other in `buffer`: the option's id, the server, the tool, the hook's response body; their
// lengths are in the verdict. `*size` is the length of all four. On `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the verdict
// is not written.
//
// # Safety
//
// As for `kandev_policy_evaluate`; `verdict` points to a writable `kandev_policy_verdict`.
kandev_policy_status kandev_policy_evaluate_frame(const kandev_policy *policy,
                                                  const char *frame,
                                                  size_t frame_len,
                                                  struct kandev_policy_verdict *verdict,
                                                  char *buffer,
                                                  size_t capacity,
                                                  size_t *size);

// Decides a permission request that the host has decoded itself, without any JSON in between.
//
// `request` holds what a decision needs, and nothing else (no tool arguments): a head of eight 32-bit little-endian
// integers, a table, and the texts.
//
// | offset | integer |
// |---|---|
// | 0 | flags: 1 the tool call has a `name`; 2 the metadata has a member of a wrong type; 4 it has a key of the decision path twice or in a rival spelling; 8 it has a `toolName`; 16 it has an `mcpServer` |
// | 4, 8, 12 | length in bytes of the tool call's `name`, `title`, `kind` |
// | 16, 20, 24 | length of the metadata's `toolName`, of `mcpServer.name`, of `mcpServer.source` |
// | 28 | number of options |
// | 32 | for each option: length of its `optionId`, length of its `kind` |
// | behind | the texts in the order of their lengths, UTF-8, with nothing between them and nothing behind |
//
// What is absent has the length 0. An encoding that doesn't add up, that is longer than 16 MiB, or a text that is not
// UTF-8, is `malformed_frame`. The decision is written to `*verdict`: `option_index` says which option is chosen, and
// `server_len` and `tool_len` where to cut the tool's name (`mcp__`, the server, `__`, the tool).
//
// # Safety
//
// `policy` is a live handle, `request` points to `request_len` readable bytes (NULL is allowed when it is 0), `verdict`
// to a writable `kandev_policy_verdict`.
kandev_policy_status kandev_policy_evaluate_request(const kandev_policy *policy,
                                                    const char *request,
                                                    size_t request_len,
                                                    struct kandev_policy_verdict *verdict);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* KANDEV_POLICY_H */
