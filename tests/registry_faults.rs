//! Panics at each stage of the registry: no answer that allows, and the next call is unaffected.
#![cfg(feature = "fault-injection")]

use std::ffi::{c_char, CString};
use std::ptr::{null, null_mut};

use kandev_policy::abi::*;

const SUMMARY: &[u8] = br#"{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}"#;

fn at(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

#[test]
fn a_panic_at_any_stage_denies() {
    let (mut registry, mut size, mut reviewer) = (null_mut(), 0usize, 77u64);
    let mut room = [0u8; 1024];
    let buffer: *mut c_char = room.as_mut_ptr().cast();
    let arm = |stage: &str| unsafe { kandev_policy_fault_arm(CString::new(stage).unwrap().as_ptr()) };
    let text = |size: usize| unsafe { std::slice::from_raw_parts(buffer.cast::<u8>().cast_const(), size) }.to_vec();
    unsafe {
        std::panic::set_hook(Box::new(|_| {}));
        let status = kandev_policy_registry_new(at(b"{}"), 2, null(), &mut registry, buffer, 1024, &mut size);
        assert_eq!(status, Status::Ok);
        let mut mint = || {
            let list = br#"["kcap-review"]"#;
            let status = kandev_policy_registry_mint(
                registry,
                at(b"codex"),
                5,
                at(list),
                list.len(),
                null(),
                buffer,
                1024,
                &mut size,
            );
            (status, text(size))
        };
        arm("mint");
        assert_eq!(mint().0, Status::InternalError);
        arm("");
        let (status, json) = mint();
        assert_eq!(status, Status::Ok);
        let token = json[10..53].to_vec();

        let mut decide = || {
            let status = kandev_policy_registry_decide(
                registry,
                at(&token),
                43,
                at(b"codex"),
                5,
                at(SUMMARY),
                SUMMARY.len(),
                &mut reviewer,
                buffer,
                1024,
                &mut size,
            );
            (status, text(size), reviewer)
        };
        for stage in ["token_lookup", "body", "result_channel", "qualified_name", "allowlist", "evidence", "result"] {
            arm(stage);
            let denied = br#"{"decision":"deny","reason":"internal_error","status":500}"#.to_vec();
            assert_eq!(decide(), (Status::Ok, denied, 0), "{stage}");
            arm("");
            let (status, json, number) = decide();
            assert!(json.starts_with(br#"{"decision":"allow""#), "{stage}");
            assert_eq!((status, number), (Status::Ok, 1), "{stage}");
        }
        arm("token_lookup");
        let mut number = 77;
        let found = kandev_policy_registry_find(registry, at(&token), 43, at(b"codex"), 5, &mut number);
        assert_eq!((found, number), (Status::InternalError, 77));
        arm("");
        kandev_policy_registry_free(registry);
    }
}
