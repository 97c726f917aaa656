//! How much memory a decision takes. In a process of its own, since it brings its own allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use kandev_policy::{Kind, Policy};

struct Counting;

// Of the own thread alone, so that neither other tests nor the harness are counted.
thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn grow(bytes: usize) {
    CALLS.set(CALLS.get() + 1);
    LIVE.set(LIVE.get() + bytes as isize);
    PEAK.set(PEAK.get().max(LIVE.get()));
}

fn shrink(bytes: usize) {
    LIVE.set(LIVE.get() - bytes as isize);
}

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        System.dealloc(pointer, layout);
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        shrink(layout.size());
        grow(size);
        System.realloc(pointer, layout, size)
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and peak of additional bytes while `work` runs.
fn measured<T>(work: impl FnOnce() -> T) -> (usize, usize, T) {
    let (calls, live) = (CALLS.get(), LIVE.get());
    PEAK.set(live);
    let result = work();
    (CALLS.get() - calls, (PEAK.get() - live) as usize, result)
}

const CLAUDE: &str = r#"{"agent_type":"claude-acp","port":43210,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:43210/mcp"},{"name":"kandev","type":"sse","url":"http://localhost:43210/sse"},{"name":"third-party","type":"http","url":"https://mcp.example.test/mcp"}]}"#;

/// A real frame's shape with so many bytes of prose in the raw input.
fn frame(prose: usize) -> String {
    let text = "Rewrite the plan so that step three comes before step two. ".repeat(prose / 58 + 1);
    let prose = &text[..prose];
    format!(
        r#"{{"toolCall":{{"toolCallId":"toolu_1","name":"mcp__kandev__update_task_plan_kandev","status":"pending","rawInput":{{"task_id":"t-1","content":"{prose}"}},"title":"mcp__kandev__update_task_plan_kandev","kind":"other","content":[],"_meta":{{"claudeCode":{{"toolName":"mcp__kandev__update_task_plan_kandev","mcpServer":{{"name":"kandev","source":"dynamic"}}}}}}}},"options":[{{"optionId":"allow-once","name":"Yes","kind":"allow_once"}},{{"optionId":"allow-with-updates","name":"Yes, and don't ask again","kind":"allow_always"}},{{"optionId":"reject","name":"No","kind":"reject_once"}}],"sessionId":"s"}}"#
    )
}

#[test]
fn a_decision_allocates_its_json_and_nothing_else() {
    let policy = Policy::new(CLAUDE.as_bytes()).unwrap();
    for prose in [0, 4 << 10, 64 << 10] {
        let frame = frame(prose);
        let (calls, _, decision) = measured(|| policy.decide(frame.as_bytes()));
        assert_eq!(decision.kind(), Kind::Select);
        assert_eq!(calls, 0, "deciding a frame of {} bytes", frame.len());
        let (calls, peak, json) = measured(|| policy.decide(frame.as_bytes()).to_json());
        assert!(json.contains(r#""option_id":"allow-once""#));
        assert!(calls <= 1, "{calls} allocations for a frame of {} bytes", frame.len());
        assert!(peak <= 512, "{peak} bytes for a frame of {} bytes", frame.len());
    }
}

/// A frame as long as is allowed, its end being `behind`.
fn longest(before: &str, each: &str, behind: &str) -> String {
    let room = kandev_policy::limits::MAX_DOCUMENT_BYTES - before.len() - behind.len();
    let mut frame = before.to_owned();
    frame.push_str(&each.repeat(room / each.len()));
    frame.push_str(behind);
    frame
}

#[test]
fn memory_does_not_grow_with_what_a_frame_holds() {
    let policy = Policy::new(CLAUDE.as_bytes()).unwrap();
    let call = r#"{"toolCall":{"name":"mcp__kandev__list","rawInput":"#;
    let options = r#"},"options":[{"optionId":"yes","kind":"allow_once"}]}"#;
    let half = kandev_policy::limits::MAX_DOCUMENT_BYTES / 2 - 100;
    let nested = |open: &str, close: &str| {
        let depth = half / open.len().max(close.len());
        format!("{call}{}7{}{options}", open.repeat(depth), close.repeat(depth))
    };
    let shapes = [
        (
            "options with equal ids",
            longest(
                r#"{"toolCall":{"name":"mcp__kandev__list"},"options":[{"optionId":"yes","kind":"allow_once"}"#,
                r#",{"optionId":"a","kind":"b"}"#,
                "]}",
            ),
            0,
        ),
        (
            "options with escaped ids",
            longest(
                r#"{"toolCall":{"name":"mcp__kandev__list"},"options":[{"optionId":"yes","kind":"allow_once"}"#,
                r#",{"optionId":"\u0061","kind":"b"}"#,
                "]}",
            ),
            0,
        ),
        ("a long string", longest(&format!("{call}\""), "plan ", &format!("\"{options}")), 0),
        ("a string of escapes", longest(&format!("{call}\""), "\\ud83c\\n", &format!("\"{options}")), 0),
        ("a long number", longest(&format!("{call}1"), "0", options), 0),
        ("tiny members", longest(&format!("{call}{{\"a\":0"), r#","b":1"#, &format!("}}{options}")), 0),
        ("white space", longest(&format!("{call}0"), " \n\t\r", options), 0),
        // One bit for each open bracket, in a vector that doubles: some millions of them are a megabyte or two.
        ("nested arrays", nested("[", "]"), 4 << 20),
        ("nested objects", nested("{\"\":", "}"), 1 << 20),
    ];
    for (shape, frame, allowed) in shapes {
        assert!(frame.len() > 15 << 20 || shape == "nested objects", "{shape}: {}", frame.len());
        let (_, peak, decision) = measured(|| policy.decide(frame.as_bytes()).to_json());
        assert!(decision.contains("injected_mcp"), "{shape}: {decision}");
        assert!(peak <= allowed + 4096, "{shape}: {peak} bytes at the peak");
        println!("{shape}: {} bytes, {peak} bytes at the peak", frame.len());
    }
}

/// A config as long as is allowed takes a few times its length while it is compiled, whatever it is full of. Every engine
/// answers alike only while that fits into WebAssembly's memory (`maxMemoryPages` in go/policy/internal/wasm).
#[test]
fn memory_grows_with_a_config_and_no_faster() {
    let injected = r#"{"injected_kandev_mcp":true,"port":43210,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:43210/mcp""#;
    let reviewer = r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","#;
    let catalog = format!(r#"{reviewer}"catalog":{{"servers":["#);
    let server = r#"{"id":"a","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["x""#;
    let channel = r#""result_channel":{"server":"r","tools":["y"]}}}"#;
    let numbered = |before: &str, each: &dyn Fn(usize) -> String, behind: &str| {
        let mut config = before.to_owned();
        for number in 0.. {
            let next = each(number);
            if config.len() + next.len() + behind.len() > kandev_policy::limits::MAX_DOCUMENT_BYTES {
                break;
            }
            config.push_str(&next);
        }
        config + behind
    };
    // Each with what it comes to, and how many times its length it may take.
    let shapes = [
        ("empty server entries", longest(&format!("{injected}}}"), ",{}", "]}"), Ok(()), 1),
        ("small server entries", longest(&format!("{injected}}}"), r#",{"name":"x"}"#, "]}"), Ok(()), 1),
        (
            "wide server entries",
            longest(&format!("{injected}}}"), r#",{"":0,"":0,"":0,"":0,"":0,"":0,"":0,"":0,"":0}"#, "]}"),
            Ok(()),
            1,
        ),
        ("the injected entry's own keys", numbered(injected, &|n| format!(r#","{n:x}":0"#), "}]}"), Ok(()), 8),
        ("equal keys", longest("{\"a\":0", ",\"\":0", "}"), Err("a: unknown key"), 11),
        ("entries named kandev", longest(&format!("{injected}}}"), r#",{"name":"kandev"}"#, "]}"), Ok(()), 4),
        (
            "servers in a catalog",
            longest(&format!("{catalog}{{}}"), ",{}", &format!("],{channel}")),
            Err("catalog.servers[0].id: missing"),
            1,
        ),
        (
            "tools in a catalog",
            numbered(&format!("{catalog}{server}"), &|n| format!(r#","{n:x}""#), &format!("]}}],{channel}")),
            Ok(()),
            12,
        ),
        (
            "allowed servers",
            longest(&format!(r#"{reviewer}"servers":["kcap-review""#), r#","kcap-review""#, "]}"),
            Ok(()),
            4,
        ),
        ("a long name", longest(r#"{"agent_type":""#, "\\u0061", "\"}"), Ok(()), 1),
        ("brackets", longest(r#"{"mcp_servers":"#, "[", ""), Err(""), 2),
    ];
    for (shape, config, want, times) in shapes {
        let (_, peak, policy) = measured(|| Policy::new(config.as_bytes()).map(drop));
        println!(
            "{shape}: {:.1} MB, {:.1} times as much at the peak: {policy:?}",
            config.len() as f64 / 1e6,
            peak as f64 / config.len() as f64
        );
        assert!(config.len() > 15 << 20, "{shape}: {}", config.len());
        match (want, &policy) {
            (Ok(()), Ok(())) => {}
            (Err(text), Err(error)) => assert!(error.to_string().starts_with(text), "{shape}: {error}"),
            _ => panic!("{shape}: {policy:?}"),
        }
        assert!(peak <= times * config.len(), "{shape}: {peak} bytes at the peak");
    }
}

#[test]
fn a_decision_leaves_nothing_behind() {
    let frame = frame(100);
    let round = || {
        let policy = Policy::new(CLAUDE.as_bytes()).unwrap();
        drop(policy.explain(frame.as_bytes()));
        drop(kandev_policy::decide_json(b"{", CLAUDE.as_bytes()));
        drop(Policy::new(br#"{"port":"x"}"#));
    };
    round();
    let before = LIVE.get();
    (0..50).for_each(|_| round());
    assert_eq!(LIVE.get(), before);
}
