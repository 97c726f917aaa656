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
 * Config     One JSON object of the host's. Never pass on what a user can write: its injected_kandev_mcp is the proof that
 *            everything rests on.
 *
 *                policy                    "injected_mcp" (default), or "unattended_review" for hook payloads
 *                agent_type                the host's id of the agent; "claude-acp" selects Claude's dialect
 *                port                      the port of the injected URL
 *                mcp_host                  the host of the injected URL; absent: localhost
 *                injected_kandev_mcp       true: this host has put its own server into mcp_servers
 *                mcp_servers               array of {name, type, url, command, args, env, headers}
 *                auto_approve_permissions  true: approve everything
 *
 * Answer     One JSON object: decision (select, ask, cancel; for hooks allow, deny, ask) and reason; for a select option_id
 *            and option_kind; server and tool once the tool's name has parsed; for hooks status and response. The whole
 *            contract, and the reviewers' keys, are in docs/contract.md.
 *
 * Conventions, which every function keeps:
 *
 * Ownership  Arguments are borrowed for the call and never changed. What a function returns to be freed names the
 *            function that frees it. The library frees nothing that it did not allocate.
 * Lengths    Sizes are bytes. (pointer, length) pairs need no NUL. A NULL input is read as empty, whatever its length; a
 *            NULL buffer needs the capacity 0, else KANDEV_POLICY_STATUS_INVALID_ARGUMENT.
 * NULL       Allowed where a comment says so. Elsewhere it is malformed input, or KANDEV_POLICY_STATUS_INVALID_ARGUMENT.
 * Threads    Every function may be called from any thread. A kandev_policy is immutable, a registry locks itself for
 *            moments; both may be shared. Decisions leave no state behind and hold no lock; no thread is started.
 * Errors     What is wrong with a frame or a config is a decision with a reason, never an approval. Every status but
 *            KANDEV_POLICY_STATUS_OK means to the caller: ask (or deny, for an unattended reviewer).
 * Panics     None crosses this interface: a caught one is the decision internal_error and prints nothing. No signal
 *            handler is installed; nothing exits or prints. Exhausted memory aborts the process, except that a result
 *            string which can't be allocated is returned as NULL.
 * Secrets    A decision says decision, reason, option id and kind, server and tool; nothing else of a frame or a config
 *            appears in any output.
 * Linking    The shared library's SONAME is libkandev_policy.so.1 (libkandev_policy.1.dylib on macOS): what is linked as
 *            libkandev_policy.so is looked for under that name when the program starts.
 */

#ifndef KANDEV_POLICY_H
#define KANDEV_POLICY_H

/* Generated from src/abi by cbindgen in build.rs. Do not edit. */

#include <stddef.h>
#include <stdint.h>

// What `kandev_policy_abi_version` gives for the library that this header belongs to.
#define KANDEV_POLICY_ABI_VERSION 1

// The longest hook payload (contract 5.1, step 1).
#define KANDEV_POLICY_MAX_HOOK_BODY_BYTES (1024 * 1024)

// The length of a token (contract 5.4): 256 bits in base64, URL-safe and unpadded.
#define KANDEV_POLICY_TOKEN_BYTES 43

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
  // The buffer is too small: nothing is written but the needed size. The same decision with a buffer of that size gives
  // the same answer.
  KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL = 1,
  // A pointer that must not be NULL is NULL. No result is written: a handle to be written is NULL, a size is 0 or left
  // as it was.
  KANDEV_POLICY_STATUS_INVALID_ARGUMENT = 2,
  // The config, or the catalog, can't be used; the error text says why.
  KANDEV_POLICY_STATUS_BAD_CONFIG = 3,
  // A panic was caught in a call that has no decision to say so; the next call is unaffected. Where there is a decision
  // to give, a caught panic is `KANDEV_POLICY_STATUS_OK` and the decision `internal_error`.
  KANDEV_POLICY_STATUS_INTERNAL_ERROR = 4,
  // What was asked for is refused; the error text names the argument, or the entry in it, and says why.
  KANDEV_POLICY_STATUS_REFUSED = 5,
  // There is no randomness for a token; nothing is registered.
  KANDEV_POLICY_STATUS_NO_ENTROPY = 6,
  // The token is unknown or revoked, or good for another vendor only: which one can't be told. HTTP status 404.
  KANDEV_POLICY_STATUS_UNKNOWN_TOKEN = 7,
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
  // `internal_error`: An internal error was caught; the request goes the way it went before.
  KANDEV_POLICY_REASON_INTERNAL_ERROR = 0,
  // `engine_unavailable`: No policy engine is available in this build or after closing. Only a host without the library gives it.
  KANDEV_POLICY_REASON_ENGINE_UNAVAILABLE = 1,
  // `malformed_config`: The host's config can't be used.
  KANDEV_POLICY_REASON_MALFORMED_CONFIG = 2,
  // `malformed_frame`: The frame is not one strict, unambiguous permission request.
  KANDEV_POLICY_REASON_MALFORMED_FRAME = 3,
  // `not_a_permission_request`: The message has another method than session/request_permission.
  KANDEV_POLICY_REASON_NOT_A_PERMISSION_REQUEST = 4,
  // `no_options`: The agent offers no option to choose from.
  KANDEV_POLICY_REASON_NO_OPTIONS = 5,
  // `blanket_approval`: The host approves every request of this session.
  KANDEV_POLICY_REASON_BLANKET_APPROVAL = 6,
  // `identity_missing`: The frame doesn't say which tool it is about in a form that can be trusted.
  KANDEV_POLICY_REASON_IDENTITY_MISSING = 7,
  // `identity_malformed`: What says which tool or server it is has a wrong type.
  KANDEV_POLICY_REASON_IDENTITY_MALFORMED = 8,
  // `identity_conflict`: Two statements about the tool or its server disagree.
  KANDEV_POLICY_REASON_IDENTITY_CONFLICT = 9,
  // `not_mcp_tool`: The tool is not one of an MCP server.
  KANDEV_POLICY_REASON_NOT_MCP_TOOL = 10,
  // `ambiguous_tool_name`: The tool name can be split into server and tool in more than one way.
  KANDEV_POLICY_REASON_AMBIGUOUS_TOOL_NAME = 11,
  // `invalid_tool_name`: The tool name is not a well-formed qualified MCP name.
  KANDEV_POLICY_REASON_INVALID_TOOL_NAME = 12,
  // `other_server`: The tool belongs to another MCP server than the injected one.
  KANDEV_POLICY_REASON_OTHER_SERVER = 13,
  // `provenance_missing`: The host has not stated that it injected its MCP server at a usable port.
  KANDEV_POLICY_REASON_PROVENANCE_MISSING = 14,
  // `server_not_injected`: No configured server is exactly the one that the host injects.
  KANDEV_POLICY_REASON_SERVER_NOT_INJECTED = 15,
  // `server_name_conflict`: Another configured server has the injected server's name.
  KANDEV_POLICY_REASON_SERVER_NAME_CONFLICT = 16,
  // `untrusted_server_source`: The agent says that the serving server was not injected by the host.
  KANDEV_POLICY_REASON_UNTRUSTED_SERVER_SOURCE = 17,
  // `no_allow_option`: The agent offers nothing that allows the call.
  KANDEV_POLICY_REASON_NO_ALLOW_OPTION = 18,
  // `option_id_unusable`: The allow option's id is blank or not unique.
  KANDEV_POLICY_REASON_OPTION_ID_UNUSABLE = 19,
  // `injected_mcp`: The call goes to the MCP server that the host injected.
  KANDEV_POLICY_REASON_INJECTED_MCP = 20,
  // `malformed_request`: The hook payload is not one strict, complete permission request.
  KANDEV_POLICY_REASON_MALFORMED_REQUEST = 21,
  // `result_channel`: The call delivers the reviewer's result.
  KANDEV_POLICY_REASON_RESULT_CHANNEL = 22,
  // `allowlisted_server`: The call goes to a server that the reviewer's launch allows.
  KANDEV_POLICY_REASON_ALLOWLISTED_SERVER = 23,
  // `server_not_allowlisted`: The call goes to a server that the reviewer's launch doesn't allow.
  KANDEV_POLICY_REASON_SERVER_NOT_ALLOWLISTED = 24,
  // `classified_bare_tool`: The bare tool name is classified as safe on a server that the launch allows.
  KANDEV_POLICY_REASON_CLASSIFIED_BARE_TOOL = 25,
  // `bare_tool_denied`: The bare tool name is not classified for this reviewer.
  KANDEV_POLICY_REASON_BARE_TOOL_DENIED = 26,
  // `interactive_prompt`: The request came on the shared token; a person decides.
  KANDEV_POLICY_REASON_INTERACTIVE_PROMPT = 27,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kandev_policy_reason kandev_policy_reason;
#else
typedef uint16_t kandev_policy_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A compiled config. It is opaque and immutable: any number of threads may use one at once (a `const` pointer), and one
// of them frees it when all are done.
typedef struct kandev_policy kandev_policy;

// The live tokens of one bridge. It is opaque; any number of threads may use one at once, and one of them frees it when
// all are done. It locks itself for the moment in which its list of tokens is read or changed, never while a request is
// decided, and each one for itself.
typedef struct kandev_policy_registry kandev_policy_registry;

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

// Does nothing. A program that refers to it, by `kandev_policy_abi_` and the version of the header that it is compiled
// with, can't be linked with a library of another version.
void kandev_policy_abi_1(void);

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
                                       struct kandev_policy **policy,
                                       char *error,
                                       size_t error_capacity,
                                       size_t *error_size);

// Frees a handle. NULL is allowed and does nothing. No call on the handle may be running or come later; each handle is
// freed once, by any thread.
//
// # Safety
//
// `policy` is NULL or a handle that has not been freed and that no other thread is using.
void kandev_policy_free(struct kandev_policy *policy);

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
kandev_policy_status kandev_policy_evaluate(const struct kandev_policy *policy,
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
kandev_policy_status kandev_policy_evaluate_frame(const struct kandev_policy *policy,
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
// What is absent has the length 0; a text whose flag is not set is checked like the others and counts for nothing. An
// encoding that doesn't add up or is longer than 16 MiB, or a text that is not UTF-8, is `malformed_frame`. The decision
// is written to `*verdict`: `option_index` says which option is chosen, and `server_len` and `tool_len` where to cut the
// tool's name (`mcp__`, the server, `__`, the tool).
//
// # Safety
//
// `policy` is a live handle, `request` points to `request_len` readable bytes (NULL is allowed when it is 0), `verdict`
// to a writable `kandev_policy_verdict`.
kandev_policy_status kandev_policy_evaluate_request(const struct kandev_policy *policy,
                                                    const char *request,
                                                    size_t request_len,
                                                    struct kandev_policy_verdict *verdict);

// Makes a registry for the bridge that unattended reviewers ask, and its shared token.
//
// `config` is `config_len` bytes of UTF-8 JSON, one object: `enabled_vendors` (array of `"codex"` and `"claude"`: the
// vendors that reviewers may be minted for; default `["codex"]`), `result_channel_scope` (`"any"`, the default, or
// `"reviewer"`), `catalog` (default the built-in one). `{}` is a config; nothing at all is none.
//
// Tokens are 256 bits from the operating system's generator. `entropy` is NULL, or 32 bytes from the host's
// cryptographically secure generator, fresh for each call, which are mixed in. A WebAssembly module has no operating
// system and makes its tokens from them alone, so it answers `KANDEV_POLICY_STATUS_NO_ENTROPY` to NULL.
//
// On `KANDEV_POLICY_STATUS_OK` `*registry` is a handle, which the caller frees with `kandev_policy_registry_free`, the
// shared token (`KANDEV_POLICY_TOKEN_BYTES` characters of `[A-Za-z0-9_-]`, no NUL behind them) is in `buffer` and its length in `*size`. It is
// the only time that it is shown; the registry keeps digests. On every other status `*registry` is NULL: on
// `KANDEV_POLICY_STATUS_BAD_CONFIG` the first `capacity` bytes of a text for people are in `buffer` and its whole length
// in `*size`, on `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the needed length is in `*size`.
//
// Any thread may call.
//
// # Safety
//
// `config` points to `config_len` readable bytes, `entropy` to 32, `registry` to a writable pointer, `buffer` to
// `capacity` writable bytes, `size` to a writable size, except where NULL is allowed: `entropy`, and what has the length
// 0.
kandev_policy_status kandev_policy_registry_new(const char *config,
                                                size_t config_len,
                                                const uint8_t *entropy,
                                                struct kandev_policy_registry **registry,
                                                char *buffer,
                                                size_t capacity,
                                                size_t *size);

// Frees a registry, and with it ends every token. NULL is allowed and does nothing. No call on the handle may be running
// or come later; each handle is freed once, by any thread.
//
// # Safety
//
// `registry` is NULL or a handle that has not been freed and that no other thread is using.
void kandev_policy_registry_free(struct kandev_policy_registry *registry);

// Registers a reviewer and makes its token.
//
// `vendor` is `"codex"` or `"claude"` and must be enabled: the token is good for its path only. `allowlist` is a JSON
// array of strings, each the id of an auto-approvable server of the catalog (white space around it and ASCII case don't
// matter; the result channel's own is allowed and binds nothing); null, `[]` and nothing at all bind none. `entropy` is
// as for `kandev_policy_registry_new`.
//
// On `KANDEV_POLICY_STATUS_OK` the reviewer is in `buffer` as JSON (no NUL behind it) and its length in `*size`:
// `{"token":"…","reviewer":1,"servers":["kcap-review"]}`, where `reviewer` is a number that is never used again and that
// a log may say in place of the token. It is the only time that the token is shown. On
// `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the needed length is in `*size` and nobody is registered; 256 bytes and the
// allowlist's length are always enough.
//
// On `KANDEV_POLICY_STATUS_REFUSED` the first `capacity` bytes of a text for people, which names the vendor or the entry
// that is refused, are in `buffer` and its whole length in `*size`. On every status but OK nobody is registered and the
// launch must fail: the shared token is no substitute.
//
// Any number of threads may use the handle at once.
//
// # Safety
//
// `registry` is a live handle, `vendor` and `allowlist` point to as many readable bytes as their lengths say (NULL is
// allowed when that is 0), `entropy` is NULL or points to 32, `buffer` to `capacity` writable bytes, `size` to a
// writable size.
kandev_policy_status kandev_policy_registry_mint(const struct kandev_policy_registry *registry,
                                                 const char *vendor,
                                                 size_t vendor_len,
                                                 const char *allowlist,
                                                 size_t allowlist_len,
                                                 const uint8_t *entropy,
                                                 char *buffer,
                                                 size_t capacity,
                                                 size_t *size);

// Ends a reviewer's token. `token` is the token, or a URL whose path begins with it. Once this has returned no decision
// on that token is made any more, not even for a request that was under way. Revoking it again, or what is no live
// reviewer's token, does nothing and is `KANDEV_POLICY_STATUS_OK` too; the shared token lives as long as the registry.
//
// Any number of threads may use the handle at once.
//
// # Safety
//
// `registry` is a live handle, `token` points to `token_len` readable bytes (NULL is allowed when it is 0).
kandev_policy_status kandev_policy_registry_revoke(const struct kandev_policy_registry *registry,
                                                   const char *token,
                                                   size_t token_len);

// Says whose token it is, for a bridge that wants to know before it reads a request's body: on
// `KANDEV_POLICY_STATUS_OK` `*reviewer` is the reviewer's number, or 0 for the shared token, which is good for every
// vendor. `KANDEV_POLICY_STATUS_UNKNOWN_TOKEN`: the token is unknown, revoked or another vendor's, or there is no such
// vendor. Every live token is compared with this one's digest in constant time.
//
// Any number of threads may use the handle at once.
//
// # Safety
//
// `registry` is a live handle, `token` and `vendor` point to as many readable bytes as their lengths say (NULL is
// allowed when that is 0), `reviewer` to a writable integer.
kandev_policy_status kandev_policy_registry_find(const struct kandev_policy_registry *registry,
                                                 const char *token,
                                                 size_t token_len,
                                                 const char *vendor,
                                                 size_t vendor_len,
                                                 uint64_t *reviewer);

// Decides a hook payload that came on a token for a vendor.
//
// `token` and `vendor` are the two segments of the request's path, `body` is its body. On `KANDEV_POLICY_STATUS_OK` the
// decision's JSON is in `buffer` (no NUL behind it), its length in `*size` and the reviewer's number (0 for the shared
// token) in `*reviewer`; the decision says which HTTP status goes with it and, but for an `ask`, which body. A caught
// panic is a decision too: `deny` `internal_error` with status 500 and the reviewer number 0.
// `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` writes the needed length to `*size` and nothing else; 1024 bytes are always
// enough. `KANDEV_POLICY_STATUS_UNKNOWN_TOKEN` is as for `kandev_policy_registry_find`.
//
// Any number of threads may use the handle at once.
//
// # Safety
//
// `registry` is a live handle, `token`, `vendor` and `body` point to as many readable bytes as their lengths say (NULL
// is allowed when that is 0), `reviewer` to a writable integer, `buffer` to `capacity` writable bytes, `size` to a
// writable size.
kandev_policy_status kandev_policy_registry_decide(const struct kandev_policy_registry *registry,
                                                   const char *token,
                                                   size_t token_len,
                                                   const char *vendor,
                                                   size_t vendor_len,
                                                   const char *body,
                                                   size_t body_len,
                                                   uint64_t *reviewer,
                                                   char *buffer,
                                                   size_t capacity,
                                                   size_t *size);

// Compares what an MCP server really offers with the catalog, and names each tool that is not classified as
// unattended-safe there.
//
// `catalog` is a catalog's JSON, or nothing at all for the built-in one; `server` is one of its ids, or its result
// channel's; `tools_list` is the result of MCP's `tools/list` (an object with `tools`), all pages put together. On
// `KANDEV_POLICY_STATUS_OK` the names are in `buffer` as a JSON array of strings (no NUL behind it), in the order of the
// list, each once, and its length in `*size`; `[]` is a pass. On `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the needed
// length is in `*size`.
//
// On `KANDEV_POLICY_STATUS_BAD_CONFIG` (the catalog can't be used: which of its rules it breaks) and
// `KANDEV_POLICY_STATUS_REFUSED` (no such server, no `tools/list` result, or a part of one) the first `capacity` bytes
// of a text for people are in `buffer` and its whole length in `*size`. No status but OK is a pass.
//
// Any thread may call.
//
// # Safety
//
// `catalog`, `server` and `tools_list` point to as many readable bytes as their lengths say (NULL is allowed when that
// is 0), `buffer` to `capacity` writable bytes, `size` to a writable size.
kandev_policy_status kandev_policy_unclassified_tools(const char *catalog,
                                                      size_t catalog_len,
                                                      const char *server,
                                                      size_t server_len,
                                                      const char *tools_list,
                                                      size_t tools_list_len,
                                                      char *buffer,
                                                      size_t capacity,
                                                      size_t *size);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* KANDEV_POLICY_H */
