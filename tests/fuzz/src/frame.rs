//! An ACP frame under one of sixteen configs.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::Host;
use crate::note;

/// The input's first byte chooses one of them, by its last four bits.
pub const CONFIGS: [&str; 16] = [
    // @ to C: provenance
    r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#,
    r#"{"agent_type":"claude-acp","port":41000,"mcp_host":"::1","injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"sse","url":"http://[::1]:41000/sse"}]}"#,
    r#"{"agent_type":"codex-acp","port":1,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:1/mcp"}]}"#,
    r#"{"agent_type":"claude-acp","port":65535,"mcp_host":"127.0.0.1","injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://127.0.0.1:65535/mcp","headers":{},"args":[],"command":"","env":null},{"name":"other","command":"x"}]}"#,
    // D, E: blanket approval
    r#"{"agent_type":"claude-acp","auto_approve_permissions":true}"#,
    r#"{"port":41000,"auto_approve_permissions":true,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#,
    // F to H: no marker, or no port
    r#"{"agent_type":"claude-acp","port":41000,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#,
    r#"{"agent_type":"claude-acp","port":65536,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:65536/mcp"}]}"#,
    "{}",
    // I to K: not injected
    r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41001/mcp"}]}"#,
    r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true}"#,
    r#"{"port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp","command":"x"}]}"#,
    // L, M: two of the name
    r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"},{"name":"kandev","command":"x"}]}"#,
    r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"},{"name":"kandev","type":"sse","url":"http://localhost:41000/sse"}]}"#,
    // N: an agent that is not quite Claude's
    r#"{"agent_type":"Claude-ACP","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#,
    // O: no config
    r#"{"port":41000,"port":41000}"#,
];

/// The decision is the specification's and breaks none of the rules that never bend.
pub fn frame(input: &[u8]) -> Option<String> {
    static HOSTS: OnceLock<[Host; 16]> = OnceLock::new();
    let (choice, frame) = input.split_first()?;
    let host = &HOSTS.get_or_init(|| CONFIGS.map(Host::new))[usize::from(choice % 16)];
    let (answer, index) = host.decide(frame);
    note(*choice, &answer.reason);
    match answer.decision.as_str() {
        "select" => {
            let chosen = index.expect("a select chooses an option");
            let blanket = answer.reason == "blanket_approval";
            if let Some(offered) = offered(frame) {
                let id = &offered[chosen].option_id;
                assert_eq!(answer.option_id.as_ref(), Some(id), "the id as offered");
                assert!(
                    blanket || offered.iter().filter(|o| o.option_id == *id).count() == 1,
                    "an id that is not unique"
                );
            }
            if !blanket {
                assert_eq!(answer.reason, "injected_mcp");
                assert!(host.has_marker(), "an approval without the host's marker");
                assert!(matches!(answer.option_kind.as_deref(), Some("allow_once" | "allow_always")));
                assert_eq!(answer.server.as_deref(), Some("kandev"));
            }
        }
        "ask" | "cancel" => assert!(index.is_none()),
        other => panic!("{other} is no answer to a frame"),
    }
    Some(answer.reason)
}

/// What may stand about a request. Other members are skipped.
#[derive(Deserialize)]
struct Message<'f> {
    #[serde(borrow)]
    params: Option<&'f RawValue>,
}

/// A request's `params` are another member to skip, so there may be two of them.
#[derive(Deserialize)]
struct Request<'f> {
    #[serde(borrow)]
    options: &'f RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offered {
    option_id: String,
}

/// The options as an ordinary JSON reader sees them; `None` where half a character in a key is too much for that reader.
fn offered(frame: &[u8]) -> Option<Vec<Offered>> {
    let read = || {
        let message: Message = serde_json::from_slice(frame)?;
        let request: Request = match message.params {
            Some(params) => serde_json::from_str(params.get())?,
            None => serde_json::from_slice(frame)?,
        };
        serde_json::from_str(request.options.get())
    };
    let offered: serde_json::Result<Vec<Offered>> = read();
    if let Err(error) = &offered {
        let text = serde_json::from_slice::<&RawValue>(frame).expect("what is selected from is JSON").get();
        assert!(["\\ud", "\\uD"].iter().any(|half| text.contains(half)), "{error}");
    }
    offered.ok()
}
