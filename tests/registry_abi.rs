//! The registry and the live guard through the C ABI: what each status writes, NULL, and buffers that are too small.

use std::ffi::c_char;
use std::ptr::{null, null_mut};

use kandev_policy::abi::*;

const SUMMARY: &[u8] = br#"{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}"#;
const UNTOUCHED: usize = 0xabad;

fn at(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

/// What a call wrote.
struct Out {
    buffer: Vec<u8>,
    size: usize,
}

impl Out {
    fn new(capacity: usize) -> Self {
        Self { buffer: vec![b'#'; capacity], size: UNTOUCHED }
    }

    fn pointer(&mut self) -> *mut c_char {
        if self.buffer.is_empty() {
            null_mut()
        } else {
            self.buffer.as_mut_ptr().cast()
        }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.buffer[..self.size.min(self.buffer.len())]).unwrap()
    }

    fn is_untouched(&self) -> bool {
        self.buffer.iter().all(|&byte| byte == b'#')
    }
}

struct Registry(*mut RegistryHandle);

impl Registry {
    fn new(config: &[u8]) -> (Self, String) {
        let (status, handle, out) = new(config, 64);
        assert_eq!(status, Status::Ok, "{}", out.text());
        (Self(handle), out.text().to_owned())
    }

    fn mint(&self, vendor: &str, allowlist: &str, capacity: usize) -> (Status, Out) {
        let mut out = Out::new(capacity);
        let (vendor, list) = (vendor.as_bytes(), allowlist.as_bytes());
        let status = unsafe {
            let (buffer, size) = (out.pointer(), &raw mut out.size);
            kandev_policy_registry_mint(
                self.0,
                at(vendor),
                vendor.len(),
                at(list),
                list.len(),
                null(),
                buffer,
                capacity,
                size,
            )
        };
        (status, out)
    }

    fn token(&self, allowlist: &str) -> String {
        let (status, out) = self.mint("codex", allowlist, 256);
        assert_eq!(status, Status::Ok);
        let json: serde_json::Value = serde_json::from_str(out.text()).unwrap();
        json["token"].as_str().unwrap().to_owned()
    }

    fn decide(&self, token: &str, body: &[u8], capacity: usize) -> (Status, u64, Out) {
        let (mut out, mut reviewer) = (Out::new(capacity), 77);
        let status = unsafe {
            let (buffer, size) = (out.pointer(), &raw mut out.size);
            let token = token.as_bytes();
            kandev_policy_registry_decide(
                self.0,
                at(token),
                token.len(),
                at(b"codex"),
                5,
                at(body),
                body.len(),
                &mut reviewer,
                buffer,
                capacity,
                size,
            )
        };
        (status, reviewer, out)
    }

    fn find(&self, token: &str, vendor: &str) -> (Status, u64) {
        let mut reviewer = 77;
        let status = unsafe {
            let (token, vendor) = (token.as_bytes(), vendor.as_bytes());
            kandev_policy_registry_find(self.0, at(token), token.len(), at(vendor), vendor.len(), &mut reviewer)
        };
        (status, reviewer)
    }

    fn revoke(&self, token: &str) -> Status {
        unsafe { kandev_policy_registry_revoke(self.0, at(token.as_bytes()), token.len()) }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        unsafe { kandev_policy_registry_free(self.0) }
    }
}

fn new(config: &[u8], capacity: usize) -> (Status, *mut RegistryHandle, Out) {
    let (mut handle, mut out) = (null_mut(), Out::new(capacity));
    let status = unsafe {
        let (buffer, size) = (out.pointer(), &raw mut out.size);
        kandev_policy_registry_new(at(config), config.len(), null(), &mut handle, buffer, capacity, size)
    };
    (status, handle, out)
}

#[test]
fn from_mint_to_revocation() {
    let (registry, shared) = Registry::new(b"{}");
    assert_eq!(shared.len(), kandev_policy::limits::TOKEN_BYTES);
    let (status, out) = registry.mint("codex", r#"["kcap-review"]"#, 256);
    assert_eq!(status, Status::Ok);
    let token = &out.text()[10..53];
    assert_eq!(out.text(), format!(r#"{{"token":"{token}","reviewer":1,"servers":["kcap-review"]}}"#));

    assert_eq!(registry.find(token, "codex"), (Status::Ok, 1));
    assert_eq!(registry.find(&shared, "claude"), (Status::Ok, 0));
    assert_eq!(registry.find(token, "claude"), (Status::UnknownToken, 77));
    let (status, reviewer, out) = registry.decide(token, SUMMARY, 1024);
    assert_eq!((status, reviewer), (Status::Ok, 1));
    assert_eq!(
        out.text(),
        r#"{"decision":"allow","reason":"allowlisted_server","status":200,"server":"kcap_review","tool":"get_pr_summary","response":{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}}"#
    );
    let (_, _, out) = registry.decide(&shared, SUMMARY, 1024);
    assert!(out.text().starts_with(r#"{"decision":"ask","reason":"interactive_prompt","status":200"#));

    assert_eq!(registry.revoke(&format!("http://127.0.0.1:9/{token}/")), Status::Ok);
    assert_eq!(registry.revoke(token), Status::Ok);
    assert_eq!(registry.find(token, "codex"), (Status::UnknownToken, 77));
    let (status, reviewer, out) = registry.decide(token, SUMMARY, 1024);
    assert_eq!((status, reviewer, out.size), (Status::UnknownToken, 77, 0));
    assert!(out.is_untouched());
}

#[test]
fn a_refused_mint_says_why_as_far_as_there_is_room() {
    let (registry, _) = Registry::new(b"{}");
    let text = r#"allowlist[1]: "kcap-flows" starts flows, so no reviewer may be bound to it"#;
    for capacity in [0, 1, 12, text.len() - 1, text.len(), 500] {
        let (status, out) = registry.mint("codex", r#"["kcap-review","kcap-flows"]"#, capacity);
        assert_eq!((status, out.size), (Status::Refused, text.len()));
        assert_eq!(out.text(), &text[..capacity.min(text.len())]);
    }
    let (status, out) = registry.mint("claude", "[]", 99);
    assert_eq!((status, out.text()), (Status::Refused, "the vendor \"claude\" is not enabled"));
    let (status, out) = registry.mint("\u{1}", "[]", 99);
    assert_eq!((status, out.text()), (Status::Refused, "the vendor \"\\u{1}\" is unknown"));
    let (status, out) = new(b"{\"catalog\":7}", 99).into_status();
    assert_eq!((status, out.text()), (Status::BadConfig, "catalog: found integer, expected object"));
}

trait IntoStatus {
    fn into_status(self) -> (Status, Out);
}

impl IntoStatus for (Status, *mut RegistryHandle, Out) {
    fn into_status(self) -> (Status, Out) {
        assert!(self.1.is_null(), "no handle without OK");
        (self.0, self.2)
    }
}

#[test]
fn a_buffer_that_is_too_small_changes_nothing() {
    for capacity in [0, 42] {
        let (status, out) = new(b"{}", capacity).into_status();
        assert_eq!((status, out.size), (Status::BufferTooSmall, 43));
        assert!(out.is_untouched());
    }
    let (registry, _) = Registry::new(b"{}");
    let (_, whole) = registry.mint("codex", "[]", 256);
    for capacity in [0, 43, whole.size - 1] {
        let (status, out) = registry.mint("codex", "[]", capacity);
        assert_eq!((status, out.size), (Status::BufferTooSmall, whole.size));
        assert!(out.is_untouched());
    }
    let token = registry.token(r#"["kcap-review"]"#);
    let (_, _, whole) = registry.decide(&token, SUMMARY, 1024);
    for capacity in [0, whole.size - 1] {
        let (status, reviewer, out) = registry.decide(&token, SUMMARY, capacity);
        assert_eq!((status, reviewer, out.size), (Status::BufferTooSmall, 77, whole.size));
        assert!(out.is_untouched());
    }
    let (status, _, again) = registry.decide(&token, SUMMARY, whole.size);
    assert_eq!((status, again.text()), (Status::Ok, whole.text()));
}

#[test]
fn null_is_refused_or_nothing() {
    let (registry, shared) = Registry::new(b"{}");
    let (mut size, mut handle, mut number) = (UNTOUCHED, null_mut(), 77);
    let token = at(shared.as_bytes());
    unsafe {
        kandev_policy_registry_free(null_mut());
        let bad = Status::InvalidArgument;
        let room = &mut [0u8; 64][..];
        let buffer: *mut c_char = room.as_mut_ptr().cast();
        assert_eq!(kandev_policy_registry_new(at(b"{}"), 2, null(), null_mut(), buffer, 64, &mut size), bad);
        assert_eq!(kandev_policy_registry_new(at(b"{}"), 2, null(), &mut handle, buffer, 64, null_mut()), bad);
        assert_eq!(kandev_policy_registry_new(at(b"{}"), 2, null(), &mut handle, null_mut(), 64, &mut size), bad);
        assert_eq!(
            kandev_policy_registry_new(null(), 0, null(), &mut handle, buffer, 64, &mut size),
            Status::BadConfig
        );
        assert!(handle.is_null());
        assert_eq!(kandev_policy_registry_mint(null(), at(b"codex"), 5, null(), 0, null(), buffer, 64, &mut size), bad);
        assert_eq!(
            kandev_policy_registry_mint(registry.0, null(), 0, null(), 0, null(), buffer, 64, &mut size),
            Status::Refused
        );
        assert_eq!(kandev_policy_registry_revoke(null(), token, 43), bad);
        assert_eq!(kandev_policy_registry_revoke(registry.0, null(), 0), Status::Ok);
        assert_eq!(kandev_policy_registry_find(null(), token, 43, at(b"codex"), 5, &mut number), bad);
        assert_eq!(kandev_policy_registry_find(registry.0, token, 43, at(b"codex"), 5, null_mut()), bad);
        assert_eq!(kandev_policy_registry_find(registry.0, null(), 0, null(), 0, &mut number), Status::UnknownToken);
        let decide = |registry, number, buffer, size| {
            kandev_policy_registry_decide(registry, token, 43, at(b"codex"), 5, null(), 0, number, buffer, 64, size)
        };
        assert_eq!(decide(null(), &mut number, buffer, &mut size), bad);
        assert_eq!(decide(registry.0, null_mut(), buffer, &mut size), bad);
        assert_eq!(decide(registry.0, &mut number, null_mut(), &mut size), bad);
        assert_eq!(decide(registry.0, &mut number, buffer, null_mut()), bad);
        assert_eq!(number, 77);
        assert_eq!(decide(registry.0, &mut number, buffer, &mut size), Status::Ok, "no body is a malformed one");
        assert_eq!((number, size), (0, 61));
        assert_eq!(&room[..size], br#"{"decision":"deny","reason":"malformed_request","status":400}"#.as_slice());
    }
}

#[test]
fn entropy_of_the_hosts_is_mixed_in() {
    let (registry, _) = Registry::new(b"{}");
    let entropy = [9u8; 32];
    let mut tokens = std::collections::HashSet::new();
    for _ in 0..3 {
        let mut out = Out::new(256);
        let status = unsafe {
            let (buffer, size) = (out.pointer(), &raw mut out.size);
            kandev_policy_registry_mint(registry.0, at(b"codex"), 5, null(), 0, entropy.as_ptr(), buffer, 256, size)
        };
        assert_eq!(status, Status::Ok);
        assert!(tokens.insert(out.text()[10..53].to_owned()));
    }
}

fn unclassified(catalog: &str, server: &str, list: &str, capacity: usize) -> (Status, Out) {
    let mut out = Out::new(capacity);
    let status = unsafe {
        let (buffer, size) = (out.pointer(), &raw mut out.size);
        let (catalog, server, list) = (catalog.as_bytes(), server.as_bytes(), list.as_bytes());
        kandev_policy_unclassified_tools(
            at(catalog),
            catalog.len(),
            at(server),
            server.len(),
            at(list),
            list.len(),
            buffer,
            capacity,
            size,
        )
    };
    (status, out)
}

#[test]
fn the_guard_answers_with_a_json_array() {
    let list = r#"{"tools":[{"name":"get_pr_summary"},{"name":"merge\"pr"}]}"#;
    let (status, out) = unclassified("", "kcap-review", list, 99);
    assert_eq!((status, out.text()), (Status::Ok, r#"["merge\"pr"]"#));
    let (status, out) = unclassified("", "kcap-review", r#"{"tools":[]}"#, 2);
    assert_eq!((status, out.text()), (Status::Ok, "[]"));
    let (status, out) = unclassified("", "kcap-review", r#"{"tools":[]}"#, 1);
    assert_eq!((status, out.size, out.is_untouched()), (Status::BufferTooSmall, 2, true));
    let (status, out) = unclassified("", "x", list, 99);
    assert_eq!((status, out.text()), (Status::Refused, "\"x\" is no server of the catalog"));
    let (status, out) = unclassified("{}", "x", list, 99);
    assert_eq!((status, out.text()), (Status::BadConfig, "servers: missing, expected array of objects"));
}
