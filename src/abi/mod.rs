//! The C ABI (contract 3): the only `unsafe` code of the crate. The comments on what is exported are the header's text.
//!
//! Every export does three things: it borrows the caller's memory for the call, it decides inside `guarded`, and it
//! hands out the result. Nothing behind this module knows of C.

mod memory;
mod registry;
mod verdict;
#[cfg(target_arch = "wasm32")]
mod wasm;

use std::ffi::{c_char, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::fault;
use crate::policy::{self, Policy};
use crate::trace::untraced_explanation;
use crate::Decision;
use memory::{borrow, borrow_string, copy_out, to_c_string};

pub use registry::{
    kandev_policy_registry_decide, kandev_policy_registry_find, kandev_policy_registry_free,
    kandev_policy_registry_mint, kandev_policy_registry_new, kandev_policy_registry_revoke,
    kandev_policy_unclassified_tools, RegistryHandle,
};
pub use verdict::{OptionKindOrNone, Verdict};

/// What a call that returns a status came to. Every status but `KANDEV_POLICY_STATUS_OK` means to the caller: no
/// decision, so *ask* (let the request go the way it went before), or *deny* for an unattended reviewer. Numbers are
/// never reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Status {
    /// The out-parameters are written.
    Ok = 0,
    /// The buffer is too small: nothing is written but the needed size. The same decision with a buffer of that size gives
    /// the same answer.
    BufferTooSmall = 1,
    /// A pointer that must not be NULL is NULL. No result is written: a handle to be written is NULL, a size is 0 or left
    /// as it was.
    InvalidArgument = 2,
    /// The config, or the catalog, can't be used; the error text says why.
    BadConfig = 3,
    /// A panic was caught in a call that has no decision to say so; the next call is unaffected. Where there is a decision
    /// to give, a caught panic is `KANDEV_POLICY_STATUS_OK` and the decision `internal_error`.
    InternalError = 4,
    /// What was asked for is refused; the error text names the argument, or the entry in it, and says why.
    Refused = 5,
    /// There is no randomness for a token; nothing is registered.
    NoEntropy = 6,
    /// The token is unknown or revoked, or good for another vendor only: which one can't be told. HTTP status 404.
    UnknownToken = 7,
}

/// A compiled config. It is opaque and immutable: any number of threads may use one at once (a `const` pointer), and one
/// of them frees it when all are done.
pub struct Handle(Policy);

/// The version of this ABI: 1. A host checks it once, against `KANDEV_POLICY_ABI_VERSION`. It changes when something in
/// this header changes its meaning or goes; additions don't change it. Any thread may call.
#[no_mangle]
pub extern "C" fn kandev_policy_abi_version() -> u32 {
    ABI_VERSION
}

/// What `kandev_policy_abi_version` gives for the library that this header belongs to.
pub const ABI_VERSION: u32 = 1;

/// Does nothing. A program that refers to it, by `kandev_policy_abi_` and the version of the header that it is compiled
/// with, can't be linked with a library of another version.
#[no_mangle]
pub extern "C" fn kandev_policy_abi_1() {}

/// The library's version, such as `"0.1.0"`. The string is static: never free it. Any thread may call.
#[no_mangle]
pub extern "C" fn kandev_policy_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version holds no NUL"),
    };
    VERSION.as_ptr()
}

/// The word that a reason's number has in the JSON, such as `"other_server"`; NULL for a number that is no reason. The
/// string is static: never free it. Any thread may call.
#[no_mangle]
pub extern "C" fn kandev_policy_reason_word(reason: u16) -> *const c_char {
    verdict::reason_word(reason)
}

/// Decides one permission request under a config that is used once.
///
/// `frame` is an ACP `session/request_permission` frame (v1 or v2 params, or the whole JSON-RPC message around either)
/// or, under `"policy":"unattended_review"`, a hook payload; `config` is the host's config. Both are NUL-terminated UTF-8
/// JSON of at most 16 MiB, borrowed for the call and never changed. NULL counts as malformed input.
///
/// Returns the decision, NUL-terminated JSON, which the caller frees with `kandev_policy_string_free`. Whatever is wrong
/// with the input is a decision too (`ask`, or `deny` for a reviewer), and so is a caught panic. Returns NULL only when
/// the result can't be allocated, which means `ask` (`deny`) to the caller; elsewhere exhausted memory aborts the
/// process, as Rust's does.
///
/// Any thread may call, at any time; no lock is held and no state is kept.
///
/// # Safety
///
/// Each pointer is NULL or points to a NUL-terminated string that nobody writes to during the call.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_decide(frame: *const c_char, config: *const c_char) -> *mut c_char {
    one_shot(frame, config, policy::decide_json, |decision| decision.to_json())
}

/// As `kandev_policy_decide`; the JSON has two more members: `detail`, a short sentence for people, and `trace`, the
/// steps in order, each with its outcome (`passed` or `stopped`) and safe facts, such as which statement the tool's
/// identity was taken from.
///
/// # Safety
///
/// As for `kandev_policy_decide`.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_explain(frame: *const c_char, config: *const c_char) -> *mut c_char {
    one_shot(frame, config, policy::explain_json, untraced_explanation)
}

unsafe fn one_shot(
    frame: *const c_char,
    config: *const c_char,
    decide: fn(&[u8], &[u8]) -> String,
    after_panic: fn(&Decision<'_>) -> String,
) -> *mut c_char {
    let (frame, config) = (borrow_string(frame), borrow_string(config));
    let json = guarded(|| {
        let json = decide(frame, config);
        fault::point("result");
        json
    });
    let json = json.unwrap_or_else(|Panicked| {
        let decision = guarded(|| policy::internal_error(config));
        after_panic(&decision.unwrap_or_else(|Panicked| policy::internal_error(b"")))
    });
    to_c_string(&json)
}

/// Frees a string that `kandev_policy_decide` or `kandev_policy_explain` returned. NULL is allowed and does nothing. Each
/// string is freed once, by any thread.
///
/// # Safety
///
/// `s` is NULL or a string of this library that has not been freed.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_string_free(s: *mut c_char) {
    memory::free(s);
}

/// Compiles a config into a handle, once, for many decisions.
///
/// `config` is `config_len` bytes of UTF-8 JSON, borrowed for the call; NULL is allowed when `config_len` is 0 (and is a
/// bad config). On `KANDEV_POLICY_STATUS_OK` `*policy` is a handle, which the caller frees with `kandev_policy_free`; on
/// every other status it is NULL.
///
/// On `KANDEV_POLICY_STATUS_BAD_CONFIG` the first `error_capacity` bytes of a text for people are written to `error` (no
/// NUL behind them) and its whole length to `*error_size`: the key, the type found and the type expected, or the line
/// and column of a syntax error; never a value. On other statuses `*error_size` is 0. `error` may be NULL when
/// `error_capacity` is 0, and `error_size` may be NULL.
///
/// Any thread may call.
///
/// # Safety
///
/// `config` points to `config_len` readable bytes, `policy` to a writable pointer, `error` to `error_capacity` writable
/// bytes, `error_size` to a writable size, except where NULL is allowed.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_new(
    config: *const c_char,
    config_len: usize,
    policy: *mut *mut Handle,
    error: *mut c_char,
    error_capacity: usize,
    error_size: *mut usize,
) -> Status {
    if !error_size.is_null() {
        *error_size = 0;
    }
    if policy.is_null() {
        return Status::InvalidArgument;
    }
    *policy = std::ptr::null_mut();
    if error.is_null() && error_capacity > 0 {
        return Status::InvalidArgument;
    }
    let config = borrow(config, config_len);
    let compiled =
        guarded(|| Policy::new(config).map(|policy| Box::new(Handle(policy))).map_err(|error| error.to_string()));
    match compiled {
        Ok(Ok(handle)) => {
            *policy = Box::into_raw(handle);
            Status::Ok
        }
        Ok(Err(text)) => {
            copy_out(first_bytes(&text, error_capacity), error);
            if !error_size.is_null() {
                *error_size = text.len();
            }
            Status::BadConfig
        }
        Err(Panicked) => Status::InternalError,
    }
}

/// Frees a handle. NULL is allowed and does nothing. No call on the handle may be running or come later; each handle is
/// freed once, by any thread.
///
/// # Safety
///
/// `policy` is NULL or a handle that has not been freed and that no other thread is using.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_free(policy: *mut Handle) {
    if !policy.is_null() {
        // Dropping frees plain memory and can't panic; the guard is for the rule that nothing unwinds into C.
        let _ = guarded(|| drop(Box::from_raw(policy)));
    }
}

/// Decides one permission request and writes the decision's JSON: the same bytes as `kandev_policy_decide`.
///
/// `frame` is `frame_len` bytes, borrowed for the call; NULL is allowed when `frame_len` is 0. On
/// `KANDEV_POLICY_STATUS_OK` the JSON is in `buffer` (no NUL behind it) and its length in `*size`. When `capacity` is too
/// small, `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL`: nothing is written but the needed length in `*size`; `buffer` may be
/// NULL with a `capacity` of 0, to ask for it. A decision is seldom longer than 256 bytes plus the option's id.
///
/// The handle is immutable: any number of threads may use it at once.
///
/// # Safety
///
/// `policy` is a live handle, `frame` points to `frame_len` readable bytes, `buffer` to `capacity` writable bytes, `size`
/// to a writable size. The buffer doesn't overlap the frame.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_evaluate(
    policy: *const Handle,
    frame: *const c_char,
    frame_len: usize,
    buffer: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> Status {
    if policy.is_null() || size.is_null() || buffer.is_null() && capacity > 0 {
        return Status::InvalidArgument;
    }
    let (policy, frame) = (&(*policy).0, borrow(frame, frame_len));
    let json = guarded(|| {
        let json = policy.decide(frame).to_json();
        fault::point("result");
        json
    });
    let json = json.unwrap_or_else(|Panicked| policy.internal_error().to_json());
    *size = json.len();
    if json.len() > capacity {
        return Status::BufferTooSmall;
    }
    copy_out(json.as_bytes(), buffer);
    Status::Ok
}

/// As `kandev_policy_evaluate`, for a host that wants to read no JSON: the decision as numbers in `*verdict`, and its
/// strings one behind the other in `buffer`: the option's id, the server, the tool, the hook's response body; their
/// lengths are in the verdict. `*size` is the length of all four. On `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the verdict
/// is not written.
///
/// # Safety
///
/// As for `kandev_policy_evaluate`; `verdict` points to a writable `kandev_policy_verdict`.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_evaluate_frame(
    policy: *const Handle,
    frame: *const c_char,
    frame_len: usize,
    verdict: *mut Verdict,
    buffer: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> Status {
    if policy.is_null() || verdict.is_null() || size.is_null() || buffer.is_null() && capacity > 0 {
        return Status::InvalidArgument;
    }
    let (policy, frame) = (&(*policy).0, borrow(frame, frame_len));
    let decided = guarded(|| {
        let decision = policy.decide(frame);
        fault::point("result");
        decision
    });
    let decision = decided.unwrap_or_else(|Panicked| policy.internal_error());
    let response = decision.response().unwrap_or_default();
    let strings = [
        decision.option_id().unwrap_or_default(),
        decision.server().unwrap_or_default(),
        decision.tool().unwrap_or_default(),
        &response,
    ];
    *size = strings.iter().map(|s| s.len()).sum();
    if *size > capacity {
        return Status::BufferTooSmall;
    }
    let mut at = buffer;
    for string in strings {
        copy_out(string.as_bytes(), at);
        at = at.wrapping_add(string.len());
    }
    *verdict = Verdict::of(&decision, response.len());
    Status::Ok
}

/// Decides a permission request that the host has decoded itself, without any JSON in between.
///
/// `request` holds what a decision needs, and nothing else (no tool arguments): a head of eight 32-bit little-endian
/// integers, a table, and the texts.
///
/// | offset | integer |
/// |---|---|
/// | 0 | flags: 1 the tool call has a `name`; 2 the metadata has a member of a wrong type; 4 it has a key of the decision path twice or in a rival spelling; 8 it has a `toolName`; 16 it has an `mcpServer` |
/// | 4, 8, 12 | length in bytes of the tool call's `name`, `title`, `kind` |
/// | 16, 20, 24 | length of the metadata's `toolName`, of `mcpServer.name`, of `mcpServer.source` |
/// | 28 | number of options |
/// | 32 | for each option: length of its `optionId`, length of its `kind` |
/// | behind | the texts in the order of their lengths, UTF-8, with nothing between them and nothing behind |
///
/// What is absent has the length 0; a text whose flag is not set is checked like the others and counts for nothing. An
/// encoding that doesn't add up or is longer than 16 MiB, or a text that is not UTF-8, is `malformed_frame`. The decision
/// is written to `*verdict`: `option_index` says which option is chosen, and `server_len` and `tool_len` where to cut the
/// tool's name (`mcp__`, the server, `__`, the tool).
///
/// # Safety
///
/// `policy` is a live handle, `request` points to `request_len` readable bytes (NULL is allowed when it is 0), `verdict`
/// to a writable `kandev_policy_verdict`.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_evaluate_request(
    policy: *const Handle,
    request: *const c_char,
    request_len: usize,
    verdict: *mut Verdict,
) -> Status {
    if policy.is_null() || verdict.is_null() {
        return Status::InvalidArgument;
    }
    let (policy, request) = (&(*policy).0, borrow(request, request_len));
    let decided = guarded(|| {
        let decision = policy.decide_encoded(request);
        fault::point("result");
        decision
    });
    let decision = decided.unwrap_or_else(|Panicked| policy.internal_error());
    *verdict = Verdict::of(&decision, 0);
    Status::Ok
}

/// Test builds only: makes every decision panic that comes to the named stage; NULL or an empty name makes none.
///
/// # Safety
///
/// `stage` is NULL or points to a NUL-terminated string.
#[cfg(feature = "fault-injection")]
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_fault_arm(stage: *const c_char) {
    fault::arm(&String::from_utf8_lossy(borrow_string(stage)));
}

/// As much of an error's text as fits.
fn first_bytes(text: &str, capacity: usize) -> &[u8] {
    &text.as_bytes()[..text.len().min(capacity)]
}

struct Panicked;

/// Runs `work` and stops a panic from crossing the ABI.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    #[cfg(feature = "capi")]
    silence_panics();
    // What `work` can leave half done dies with it: it borrows immutable input and builds its own result.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

/// A caught panic prints nothing. The hook is the one of this library's own copy of std, so a host's is not touched.
#[cfg(feature = "capi")]
fn silence_panics() {
    use once_cell::sync::OnceCell;
    static SILENT: OnceCell<()> = OnceCell::new();
    SILENT.get_or_init(|| std::panic::set_hook(Box::new(|_| {})));
}

// A handle may be used by any number of threads at once.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Handle>();
    shared::<RegistryHandle>();
};
