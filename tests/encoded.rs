//! A request in the C ABI's flat encoding is decided as the same request of a Rust host; what is no such encoding asks.

use std::ptr::{null_mut, NonNull};

use kandev_policy::abi::*;
use kandev_policy::limits::MAX_DOCUMENT_BYTES;
use kandev_policy::{Decision, Kind, Offer, Policy, Reason, Request, ToolMeta};

// The flags, as the header describes them at `kandev_policy_evaluate_request`.
const HAS_NAME: u32 = 1;
const META_MALFORMED: u32 = 2;
const META_AMBIGUOUS: u32 = 4;
const HAS_META_TOOL_NAME: u32 = 8;
const HAS_META_SERVER: u32 = 16;

/// One config, compiled for a Rust host and for a C host.
struct Host(Policy, NonNull<Handle>);

impl Host {
    fn new(config: &str) -> Self {
        let mut handle = null_mut();
        let status =
            unsafe { kandev_policy_new(config.as_ptr().cast(), config.len(), &mut handle, null_mut(), 0, null_mut()) };
        assert_eq!(status, Status::Ok);
        Self(Policy::new(config.as_bytes()).unwrap(), NonNull::new(handle).unwrap())
    }

    fn decide(&self, encoded: &[u8]) -> Verdict {
        let mut verdict = std::mem::MaybeUninit::uninit();
        unsafe {
            let (request, len) = (encoded.as_ptr().cast(), encoded.len());
            assert_eq!(kandev_policy_evaluate_request(self.1.as_ptr(), request, len, verdict.as_mut_ptr()), Status::Ok);
            verdict.assume_init()
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        unsafe { kandev_policy_free(self.1.as_ptr()) }
    }
}

fn hosts() -> [Host; 3] {
    let injected = |agent: &str| {
        format!(
            r#"{{"agent_type":"{agent}","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}}]}}"#
        )
    };
    [
        Host::new(&injected("claude-acp")),
        Host::new(&injected("other")),
        Host::new(r#"{"auto_approve_permissions":true}"#),
    ]
}

fn encode(request: &Request<'_>, ambiguous: bool) -> Vec<u8> {
    let meta = &request.tool_meta;
    let flag = |is: bool, flag| if is { flag } else { 0 };
    let flags = flag(request.tool_name.is_some(), HAS_NAME)
        | flag(meta.malformed, META_MALFORMED)
        | flag(ambiguous, META_AMBIGUOUS)
        | flag(meta.tool_name.is_some(), HAS_META_TOOL_NAME)
        | flag(meta.server.is_some(), HAS_META_SERVER);
    let server = meta.server.unwrap_or_default();
    let texts = [
        request.tool_name.unwrap_or_default(),
        request.title,
        request.kind,
        meta.tool_name.unwrap_or_default(),
        server.0,
        server.1,
    ];
    let options = || request.options.iter().flat_map(|offer| [offer.option_id, offer.kind]);
    let mut words = vec![flags];
    words.extend(texts.map(|text| text.len() as u32));
    words.push(request.options.len() as u32);
    words.extend(options().map(|text| text.len() as u32));
    let mut encoded: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    texts.into_iter().chain(options()).for_each(|text| encoded.extend(text.bytes()));
    encoded
}

fn same(verdict: &Verdict, decision: &Decision<'_>) -> bool {
    let len = |text: Option<&str>| text.map_or(0, |text| text.len() as u32);
    verdict.kind == decision.kind()
        && verdict.reason == decision.reason()
        && verdict.option_kind == decision.option_kind().into()
        && verdict.option_index == decision.option_index().map_or(u32::MAX, |index| index as u32)
        && verdict.option_id_len == len(decision.option_id())
        && verdict.server_len == len(decision.server())
        && verdict.tool_len == len(decision.tool())
}

const NAMES: [Option<&str>; 5] =
    [None, Some(""), Some("mcp__kandev__list"), Some("mcp__other__list"), Some("mcp__kandev__ü")];
const SERVERS: [Option<(&str, &str)>; 4] =
    [None, Some(("kandev", "dynamic")), Some(("kandev", "project")), Some(("kandey", "dynamic"))];
const OFFERS: [&[Offer<'static>]; 6] = [
    &[],
    &[Offer { option_id: "yes", kind: "allow_once" }],
    &[Offer { option_id: "nein", kind: "reject_once" }, Offer { option_id: "ja", kind: "allow_always" }],
    &[Offer { option_id: "a", kind: "allow_once" }, Offer { option_id: "a", kind: "allow_always" }],
    &[Offer { option_id: "", kind: "" }, Offer { option_id: "y", kind: "Allow_Once " }],
    &[
        Offer { option_id: "é", kind: "" },
        Offer { option_id: "b", kind: "" },
        Offer { option_id: "é", kind: "allow_once" },
    ],
];

fn each_request(mut visit: impl FnMut(&Request<'_>)) {
    for tool_name in NAMES {
        for (title, kind) in [("", ""), ("mcp__kandev__list", "execute")] {
            for meta_name in NAMES {
                for server in SERVERS {
                    for malformed in [false, true] {
                        let tool_meta = ToolMeta { malformed, tool_name: meta_name, server };
                        OFFERS
                            .iter()
                            .for_each(|options| visit(&Request { tool_name, tool_meta, title, kind, options }));
                    }
                }
            }
        }
    }
}

#[test]
fn the_encoding_is_decided_as_the_request() {
    let hosts = hosts();
    let mut reasons = std::collections::BTreeSet::new();
    each_request(|request| {
        for host in &hosts {
            let (verdict, decision) = (host.decide(&encode(request, false)), host.0.decide_request(request));
            assert!(same(&verdict, &decision), "{verdict:?}, but {decision:?}");
            reasons.insert(decision.reason().word());
        }
    });
    assert!(reasons.len() >= 10, "{reasons:?}");
}

/// Ambiguous metadata is a malformed frame for an agent whose metadata is read, and nothing for another.
#[test]
fn ambiguous_metadata_is_malformed_for_claude() {
    let [claude, other, _] = hosts();
    each_request(|request| {
        let encoded = encode(request, true);
        assert!(is_malformed(&claude.decide(&encoded)));
        assert!(same(&other.decide(&encoded), &other.0.decide_request(request)));
    });
}

fn is_malformed(verdict: &Verdict) -> bool {
    (verdict.kind, verdict.reason, verdict.option_index) == (Kind::Ask, Reason::MalformedFrame, u32::MAX)
}

#[test]
fn what_is_no_such_encoding_asks() {
    let hosts = hosts();
    let malformed = |encoded: &[u8]| hosts.iter().all(|host| is_malformed(&host.decide(encoded)));
    let request = Request {
        tool_name: Some("mcp__kandev__é"),
        options: OFFERS[2],
        title: "t",
        kind: "k",
        tool_meta: ToolMeta { tool_name: Some("x"), server: Some(("kandev", "dynamic")), ..ToolMeta::default() },
    };
    let good = encode(&request, false);
    assert!(!malformed(&good));
    for end in 0..good.len() {
        assert!(malformed(&good[..end]), "cut to {end} bytes");
    }
    assert!(malformed(&[&good[..], b" "].concat()), "a byte too many");
    // Each length and the count, one more and one less, and as large as can be.
    for word in 1..8 + 2 * request.options.len() {
        let at = 4 * word;
        let value = u32::from_le_bytes(good[at..at + 4].try_into().unwrap());
        for other in [value + 1, value.wrapping_sub(1), u32::MAX, 1 << 31] {
            let mut bad = good.clone();
            bad[at..at + 4].copy_from_slice(&other.to_le_bytes());
            assert!(malformed(&bad), "word {word}: {other} in place of {value}");
        }
    }
    for flag in 5..32 {
        let mut bad = good.clone();
        bad[flag / 8] |= 1 << (flag % 8);
        assert!(malformed(&bad), "flag {flag}");
    }
    // One byte less of a text of é and one more of the next: together the same.
    let mut bad = good.clone();
    bad[4] -= 1;
    bad[8] += 1;
    assert!(malformed(&bad), "a cut inside a character");
    let mut bad = good;
    *bad.last_mut().unwrap() = 0xFF;
    assert!(malformed(&bad), "no UTF-8");
}

#[test]
fn as_long_as_a_document_may_be() {
    let [claude, ..] = hosts();
    let text = "x".repeat(MAX_DOCUMENT_BYTES);
    let mut request = Request { tool_name: NAMES[2], options: OFFERS[1], ..Request::default() };
    let rest = encode(&request, false).len();
    request.title = &text[rest..];
    let longest = encode(&request, false);
    assert_eq!(longest.len(), MAX_DOCUMENT_BYTES);
    assert_eq!(claude.decide(&longest).reason, claude.0.decide_request(&request).reason());
    assert_ne!(claude.decide(&longest).reason, Reason::MalformedFrame);
    request.title = &text[rest - 1..];
    assert!(is_malformed(&claude.decide(&encode(&request, false))));
}
