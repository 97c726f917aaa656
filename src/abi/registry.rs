//! A bridge's tokens, and the live guard.

use std::ffi::c_char;

use super::memory::{borrow, copy_out};
use super::{first_bytes, guarded, Panicked, Status};
use crate::decision::{Decision, Kind};
use crate::{fault, unclassified_tools, Entropy, GuardError, MintError, Reason, Registry, RegistryError};

/// The live tokens of one bridge. It is opaque; any number of threads may use one at once, and one of them frees it when
/// all are done. It locks itself for the moment in which its list of tokens is read or changed, never while a request is
/// decided, and each one for itself.
pub struct RegistryHandle(Registry);

/// Makes a registry for the bridge that unattended reviewers ask, and its shared token.
///
/// `config` is `config_len` bytes of UTF-8 JSON, one object: `enabled_vendors` (array of `"codex"` and `"claude"`: the
/// vendors that reviewers may be minted for; default `["codex"]`), `result_channel_scope` (`"any"`, the default, or
/// `"reviewer"`), `catalog` (default the built-in one). `{}` is a config; nothing at all is none.
///
/// Tokens are 256 bits from the operating system's generator. `entropy` is NULL, or 32 bytes from the host's
/// cryptographically secure generator, fresh for each call, which are mixed in. A WebAssembly module has no operating
/// system and makes its tokens from them alone, so it answers `KANDEV_POLICY_STATUS_NO_ENTROPY` to NULL.
///
/// On `KANDEV_POLICY_STATUS_OK` `*registry` is a handle, which the caller frees with `kandev_policy_registry_free`, the
/// shared token (`KANDEV_POLICY_TOKEN_BYTES` characters of `[A-Za-z0-9_-]`, no NUL behind them) is in `buffer` and its length in `*size`. It is
/// the only time that it is shown; the registry keeps digests. On every other status `*registry` is NULL: on
/// `KANDEV_POLICY_STATUS_BAD_CONFIG` the first `capacity` bytes of a text for people are in `buffer` and its whole length
/// in `*size`, on `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the needed length is in `*size`.
///
/// Any thread may call.
///
/// # Safety
///
/// `config` points to `config_len` readable bytes, `entropy` to 32, `registry` to a writable pointer, `buffer` to
/// `capacity` writable bytes, `size` to a writable size, except where NULL is allowed: `entropy`, and what has the length
/// 0.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_registry_new(
    config: *const c_char,
    config_len: usize,
    entropy: *const u8,
    registry: *mut *mut RegistryHandle,
    buffer: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> Status {
    if registry.is_null() {
        return Status::InvalidArgument;
    }
    *registry = std::ptr::null_mut();
    let Some(mut out) = Out::new(buffer, capacity, size) else { return Status::InvalidArgument };
    let (config, entropy) = (borrow(config, config_len), borrow_entropy(entropy));
    let made = guarded(|| {
        fault::point("registry_new");
        Registry::new(config, entropy).map(|(made, token)| (Box::new(RegistryHandle(made)), token))
    });
    match made {
        Ok(Ok((handle, token))) => {
            let status = out.answer(token.expose());
            if status == Status::Ok {
                *registry = Box::into_raw(handle);
            }
            status
        }
        Ok(Err(RegistryError::Config(error))) => out.error(Status::BadConfig, &error.to_string()),
        Ok(Err(RegistryError::NoEntropy)) => Status::NoEntropy,
        Err(Panicked) => Status::InternalError,
    }
}

/// Frees a registry, and with it ends every token. NULL is allowed and does nothing. No call on the handle may be running
/// or come later; each handle is freed once, by any thread.
///
/// # Safety
///
/// `registry` is NULL or a handle that has not been freed and that no other thread is using.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_registry_free(registry: *mut RegistryHandle) {
    if !registry.is_null() {
        let _ = guarded(|| drop(Box::from_raw(registry)));
    }
}

/// Registers a reviewer and makes its token.
///
/// `vendor` is `"codex"` or `"claude"` and must be enabled: the token is good for its path only. `allowlist` is a JSON
/// array of strings, each the id of an auto-approvable server of the catalog (white space around it and ASCII case don't
/// matter; the result channel's own is allowed and binds nothing); null, `[]` and nothing at all bind none. `entropy` is
/// as for `kandev_policy_registry_new`.
///
/// On `KANDEV_POLICY_STATUS_OK` the reviewer is in `buffer` as JSON (no NUL behind it) and its length in `*size`:
/// `{"token":"…","reviewer":1,"servers":["kcap-review"]}`, where `reviewer` is a number that is never used again and that
/// a log may say in place of the token. It is the only time that the token is shown. On
/// `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the needed length is in `*size` and nobody is registered; 256 bytes and the
/// allowlist's length are always enough.
///
/// On `KANDEV_POLICY_STATUS_REFUSED` the first `capacity` bytes of a text for people, which names the vendor or the entry
/// that is refused, are in `buffer` and its whole length in `*size`. On every status but OK nobody is registered and the
/// launch must fail: the shared token is no substitute.
///
/// Any number of threads may use the handle at once.
///
/// # Safety
///
/// `registry` is a live handle, `vendor` and `allowlist` point to as many readable bytes as their lengths say (NULL is
/// allowed when that is 0), `entropy` is NULL or points to 32, `buffer` to `capacity` writable bytes, `size` to a
/// writable size.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_registry_mint(
    registry: *const RegistryHandle,
    vendor: *const c_char,
    vendor_len: usize,
    allowlist: *const c_char,
    allowlist_len: usize,
    entropy: *const u8,
    buffer: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> Status {
    let Some(mut out) = Out::new(buffer, capacity, size) else { return Status::InvalidArgument };
    if registry.is_null() {
        return Status::InvalidArgument;
    }
    let (registry, entropy) = (&(*registry).0, borrow_entropy(entropy));
    let (vendor, allowlist) = (borrow(vendor, vendor_len), borrow(allowlist, allowlist_len));
    let minted = guarded(|| {
        let minted = registry.mint_json(&String::from_utf8_lossy(vendor), allowlist, entropy)?;
        let (token, servers) = (minted.token.expose(), serde_json::to_string(&minted.servers).unwrap_or_default());
        let json = format!(r#"{{"token":"{token}","reviewer":{},"servers":{servers}}}"#, minted.reviewer);
        Ok((minted, json))
    });
    match minted {
        Ok(Ok((minted, json))) => {
            let status = out.answer(&json);
            if status != Status::Ok {
                let _ = guarded(|| registry.revoke(minted.token.expose().as_bytes()));
            }
            status
        }
        Ok(Err(MintError::NoEntropy)) => Status::NoEntropy,
        Ok(Err(error)) => out.error(Status::Refused, &error.to_string()),
        Err(Panicked) => Status::InternalError,
    }
}

/// Ends a reviewer's token. `token` is the token, or a URL whose path begins with it. Once this has returned no decision
/// on that token is made any more, not even for a request that was under way. Revoking it again, or what is no live
/// reviewer's token, does nothing and is `KANDEV_POLICY_STATUS_OK` too; the shared token lives as long as the registry.
///
/// Any number of threads may use the handle at once.
///
/// # Safety
///
/// `registry` is a live handle, `token` points to `token_len` readable bytes (NULL is allowed when it is 0).
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_registry_revoke(
    registry: *const RegistryHandle,
    token: *const c_char,
    token_len: usize,
) -> Status {
    if registry.is_null() {
        return Status::InvalidArgument;
    }
    let (registry, token) = (&(*registry).0, borrow(token, token_len));
    let revoked = guarded(|| {
        fault::point("revoke");
        registry.revoke(token);
    });
    revoked.map_or(Status::InternalError, |()| Status::Ok)
}

/// Says whose token it is, for a bridge that wants to know before it reads a request's body: on
/// `KANDEV_POLICY_STATUS_OK` `*reviewer` is the reviewer's number, or 0 for the shared token, which is good for every
/// vendor. `KANDEV_POLICY_STATUS_UNKNOWN_TOKEN`: the token is unknown, revoked or another vendor's, or there is no such
/// vendor. Every live token is compared with this one's digest in constant time.
///
/// Any number of threads may use the handle at once.
///
/// # Safety
///
/// `registry` is a live handle, `token` and `vendor` point to as many readable bytes as their lengths say (NULL is
/// allowed when that is 0), `reviewer` to a writable integer.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_registry_find(
    registry: *const RegistryHandle,
    token: *const c_char,
    token_len: usize,
    vendor: *const c_char,
    vendor_len: usize,
    reviewer: *mut u64,
) -> Status {
    if registry.is_null() || reviewer.is_null() {
        return Status::InvalidArgument;
    }
    let (registry, token, vendor) = (&(*registry).0, borrow(token, token_len), borrow(vendor, vendor_len));
    match guarded(|| registry.find(token, vendor)) {
        Ok(Some(number)) => {
            *reviewer = number;
            Status::Ok
        }
        Ok(None) => Status::UnknownToken,
        Err(Panicked) => Status::InternalError,
    }
}

/// Decides a hook payload that came on a token for a vendor.
///
/// `token` and `vendor` are the two segments of the request's path, `body` is its body. On `KANDEV_POLICY_STATUS_OK` the
/// decision's JSON is in `buffer` (no NUL behind it), its length in `*size` and the reviewer's number (0 for the shared
/// token) in `*reviewer`; the decision says which HTTP status goes with it and, but for an `ask`, which body. A caught
/// panic is a decision too: `deny` `internal_error` with status 500 and the reviewer number 0.
/// `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` writes the needed length to `*size` and nothing else; 1024 bytes are always
/// enough. `KANDEV_POLICY_STATUS_UNKNOWN_TOKEN` is as for `kandev_policy_registry_find`.
///
/// Any number of threads may use the handle at once.
///
/// # Safety
///
/// `registry` is a live handle, `token`, `vendor` and `body` point to as many readable bytes as their lengths say (NULL
/// is allowed when that is 0), `reviewer` to a writable integer, `buffer` to `capacity` writable bytes, `size` to a
/// writable size.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_registry_decide(
    registry: *const RegistryHandle,
    token: *const c_char,
    token_len: usize,
    vendor: *const c_char,
    vendor_len: usize,
    body: *const c_char,
    body_len: usize,
    reviewer: *mut u64,
    buffer: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> Status {
    let Some(mut out) = Out::new(buffer, capacity, size) else { return Status::InvalidArgument };
    if registry.is_null() || reviewer.is_null() {
        return Status::InvalidArgument;
    }
    let (registry, body) = (&(*registry).0, borrow(body, body_len));
    let (token, vendor) = (borrow(token, token_len), borrow(vendor, vendor_len));
    let decided = guarded(|| {
        let answer = registry.decide(token, vendor, body)?;
        fault::point("result");
        Some((answer.reviewer, answer.decision.to_json()))
    });
    let internal_error = || (0, Decision::hook(Kind::Deny, Reason::InternalError).to_json());
    match decided.unwrap_or_else(|Panicked| Some(internal_error())) {
        None => Status::UnknownToken,
        Some((number, json)) => {
            let status = out.answer(&json);
            if status == Status::Ok {
                *reviewer = number;
            }
            status
        }
    }
}

/// Compares what an MCP server really offers with the catalog, and names each tool that is not classified as
/// unattended-safe there.
///
/// `catalog` is a catalog's JSON, or nothing at all for the built-in one; `server` is one of its ids, or its result
/// channel's; `tools_list` is the result of MCP's `tools/list` (an object with `tools`), all pages put together. On
/// `KANDEV_POLICY_STATUS_OK` the names are in `buffer` as a JSON array of strings (no NUL behind it), in the order of the
/// list, each once, and its length in `*size`; `[]` is a pass. On `KANDEV_POLICY_STATUS_BUFFER_TOO_SMALL` the needed
/// length is in `*size`.
///
/// On `KANDEV_POLICY_STATUS_BAD_CONFIG` (the catalog can't be used: which of its rules it breaks) and
/// `KANDEV_POLICY_STATUS_REFUSED` (no such server, no `tools/list` result, or a part of one) the first `capacity` bytes
/// of a text for people are in `buffer` and its whole length in `*size`. No status but OK is a pass.
///
/// Any thread may call.
///
/// # Safety
///
/// `catalog`, `server` and `tools_list` point to as many readable bytes as their lengths say (NULL is allowed when that
/// is 0), `buffer` to `capacity` writable bytes, `size` to a writable size.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_unclassified_tools(
    catalog: *const c_char,
    catalog_len: usize,
    server: *const c_char,
    server_len: usize,
    tools_list: *const c_char,
    tools_list_len: usize,
    buffer: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> Status {
    let Some(mut out) = Out::new(buffer, capacity, size) else { return Status::InvalidArgument };
    let catalog = Some(borrow(catalog, catalog_len)).filter(|catalog| !catalog.is_empty());
    let (server, tools_list) = (borrow(server, server_len), borrow(tools_list, tools_list_len));
    let named = guarded(|| {
        fault::point("unclassified_tools");
        let names = unclassified_tools(catalog, &String::from_utf8_lossy(server), tools_list)?;
        Ok(serde_json::to_string(&names).unwrap_or_default())
    });
    match named {
        Ok(Ok(json)) => out.answer(&json),
        Ok(Err(error @ GuardError::Catalog(_))) => out.error(Status::BadConfig, &error.to_string()),
        Ok(Err(error)) => out.error(Status::Refused, &error.to_string()),
        Err(Panicked) => Status::InternalError,
    }
}

/// Where a call's text goes.
struct Out {
    buffer: *mut c_char,
    capacity: usize,
    size: *mut usize,
}

impl Out {
    unsafe fn new(buffer: *mut c_char, capacity: usize, size: *mut usize) -> Option<Self> {
        if size.is_null() || buffer.is_null() && capacity > 0 {
            return None;
        }
        *size = 0;
        Some(Self { buffer, capacity, size })
    }

    /// All of it or nothing.
    unsafe fn answer(&mut self, text: &str) -> Status {
        *self.size = text.len();
        if text.len() > self.capacity {
            return Status::BufferTooSmall;
        }
        copy_out(text.as_bytes(), self.buffer);
        Status::Ok
    }

    /// As much of it as fits.
    unsafe fn error(&mut self, status: Status, text: &str) -> Status {
        *self.size = text.len();
        copy_out(first_bytes(text, self.capacity), self.buffer);
        status
    }
}

unsafe fn borrow_entropy<'a>(entropy: *const u8) -> Option<&'a Entropy> {
    entropy.cast::<Entropy>().as_ref()
}
