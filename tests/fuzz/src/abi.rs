//! A session of calls through the C ABI, with arbitrary legal pointers, lengths and capacities.
//!
//! What goes in and out lies in blocks of exactly its length, so that the address sanitizer sees each byte too far. Each
//! answer is compared with the one of the Rust API.

use std::ffi::{c_char, CStr};
use std::ptr::{null, null_mut};

use arbitrary::{Arbitrary, Unstructured};
use kandev_policy::abi::*;
use kandev_policy::{
    decide_json, explain_json, unclassified_tools, Decision, GuardError, Kind, Minted, Offer, Policy, Reason, Registry,
    Request, ToolMeta,
};

use crate::answer::Answer;
use crate::{config, frame, hook, note};

/// Bytes that the caller hands over.
#[derive(Arbitrary, Debug)]
enum Input {
    /// NULL with a length, which counts for nothing.
    Null(usize),
    Bytes(Vec<u8>),
    /// One of the texts that are known to lead somewhere, …
    Known(u8),
    /// … or a part of it, or with a byte changed.
    Cut(u8, u16),
    Edited(u8, u16, u8),
}

impl Input {
    fn bytes(&self, known: &[&str]) -> Option<Box<[u8]>> {
        let text = |choice: u8| known[usize::from(choice) % known.len()].as_bytes().to_vec();
        let bytes = match self {
            Input::Null(_) => return None,
            Input::Bytes(bytes) => bytes.clone(),
            Input::Known(choice) => text(*choice),
            Input::Cut(choice, length) => {
                let mut text = text(*choice);
                text.truncate(usize::from(*length) % (text.len() + 1));
                text
            }
            Input::Edited(choice, at, byte) => {
                let mut text = text(*choice);
                let place = usize::from(*at) % text.len().max(1);
                text.splice(place..text.len().min(place + 1), [*byte]);
                text
            }
        };
        Some(bytes.into_boxed_slice())
    }

    fn borrow(&self, known: &[&str]) -> Borrowed {
        let bytes = self.bytes(known);
        let length = match self {
            Input::Null(length) => *length,
            _ => bytes.as_ref().map_or(0, |bytes| bytes.len()),
        };
        Borrowed { bytes, length }
    }
}

struct Borrowed {
    bytes: Option<Box<[u8]>>,
    length: usize,
}

impl Borrowed {
    fn of(bytes: impl Into<Box<[u8]>>) -> Borrowed {
        let bytes = bytes.into();
        Borrowed { length: bytes.len(), bytes: Some(bytes) }
    }

    fn at(&self) -> *const c_char {
        self.bytes.as_ref().map_or(null(), |bytes| bytes.as_ptr().cast())
    }

    /// What the library reads.
    fn read(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }
}

/// How much room the caller gives.
#[derive(Arbitrary, Debug, Clone, Copy)]
enum Room {
    /// NULL and 0.
    None,
    Bytes(u16),
    /// That much more or less than is needed.
    About(i8),
}

const UNTOUCHED: u8 = 0xa5;

struct Out(Option<Box<[u8]>>);

impl Out {
    fn new(room: Room, needed: usize) -> Out {
        let length = match room {
            Room::None => return Out(None),
            Room::Bytes(length) => usize::from(length),
            Room::About(difference) => needed.saturating_add_signed(isize::from(difference)),
        };
        Out(Some(vec![UNTOUCHED; length].into_boxed_slice()))
    }

    fn at(&mut self) -> *mut c_char {
        self.0.as_mut().map_or(null_mut(), |room| room.as_mut_ptr().cast())
    }

    fn capacity(&self) -> usize {
        self.0.as_ref().map_or(0, |room| room.len())
    }

    fn text(&self, length: usize) -> &str {
        std::str::from_utf8(&self.0.as_deref().unwrap_or_default()[..length]).unwrap()
    }

    /// The first bytes are this; those behind are as they were.
    fn check(&self, written: &[u8]) {
        let room = self.0.as_deref().unwrap_or_default();
        assert_eq!(&room[..written.len()], written);
        assert!(room[written.len()..].iter().all(|byte| *byte == UNTOUCHED), "written behind the end");
    }

    /// An answer is there in whole or not at all; its size is told in any case.
    fn check_answer(&self, status: Status, size: usize, whole: &[u8]) {
        assert_eq!(size, whole.len());
        if whole.len() > self.capacity() {
            assert_eq!(status, Status::BufferTooSmall);
            self.check(b"");
        } else {
            assert_eq!(status, Status::Ok);
            self.check(whole);
        }
    }

    /// An error's text is there as far as it fits.
    fn check_error(&self, size: usize, whole: &str) {
        assert_eq!(size, whole.len());
        self.check(&whole.as_bytes()[..whole.len().min(self.capacity())]);
    }
}

#[derive(Arbitrary, Debug)]
enum Vendor {
    Codex,
    Claude,
    Other(Input),
}

impl Vendor {
    fn borrow(&self) -> Borrowed {
        match self {
            Vendor::Codex => Borrowed::of(*b"codex"),
            Vendor::Claude => Borrowed::of(*b"claude"),
            Vendor::Other(other) => other.borrow(&["codex", "claude", "Codex", "claude-acp"]),
        }
    }
}

#[derive(Arbitrary, Debug)]
enum TokenText {
    /// One that was made in this session, the shared one or a reviewer's.
    Made(u8),
    /// A URL of one.
    Url(u8),
    /// One with a byte changed.
    Edited(u8, u8, u8),
    Other(Input),
}

/// The flat encoding of a decoded request, before something is changed in it.
#[derive(Arbitrary, Debug)]
struct Encoded {
    name: Option<Word>,
    title: Word,
    kind: Word,
    tool_name: Option<Word>,
    server: Option<(Word, Word)>,
    malformed: bool,
    options: Vec<(Word, Word)>,
    damage: Option<(u16, u8)>,
    cut: Option<u16>,
}

#[derive(Arbitrary, Debug)]
enum Word {
    Known(u8),
    Text(String),
}

impl Word {
    fn text(&self) -> &str {
        const KNOWN: [&str; 16] = [
            "mcp__kandev__list_tasks",
            "kandev",
            "dynamic",
            "allow_once",
            "allow_always",
            "reject_once",
            "other",
            "mcp__other__x",
            "mcp__kandev___x",
            "mcp__kandev",
            "project",
            " ALLOW_ONCE ",
            "yes",
            "\u{2003}",
            "",
            "Bash",
        ];
        match self {
            Word::Known(choice) => KNOWN[usize::from(choice % 16)],
            Word::Text(text) => text,
        }
    }
}

fn optional(word: &Option<Word>) -> &str {
    word.as_ref().map_or("", Word::text)
}

impl Encoded {
    fn texts(&self) -> [&str; 6] {
        let (server, source) = self.server.as_ref().map_or(("", ""), |(name, source)| (name.text(), source.text()));
        [optional(&self.name), self.title.text(), self.kind.text(), optional(&self.tool_name), server, source]
    }

    fn options(&self) -> Vec<Offer<'_>> {
        self.options.iter().map(|(id, kind)| Offer { option_id: id.text(), kind: kind.text() }).collect()
    }

    /// As the header describes it.
    fn encode(&self) -> Vec<u8> {
        let flags = u32::from(self.name.is_some())
            | u32::from(self.malformed) << 1
            | u32::from(self.tool_name.is_some()) << 3
            | u32::from(self.server.is_some()) << 4;
        let mut words = vec![flags];
        words.extend(self.texts().map(|text| text.len() as u32));
        words.push(self.options.len() as u32);
        words.extend(self.options.iter().flat_map(|(id, kind)| [id.text().len() as u32, kind.text().len() as u32]));
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend(self.texts().concat().bytes());
        bytes.extend(self.options.iter().flat_map(|(id, kind)| id.text().bytes().chain(kind.text().bytes())));
        if let Some((at, byte)) = self.damage {
            let length = bytes.len();
            bytes[usize::from(at) % length] = byte;
        }
        if let Some(length) = self.cut {
            bytes.truncate(usize::from(length) % (bytes.len() + 1));
        }
        bytes
    }

    /// The frame that a host would have decoded it from.
    fn frame(&self) -> String {
        let [name, title, kind, tool_name, server, source] = self.texts();
        let mut code = serde_json::Map::new();
        if self.tool_name.is_some() {
            code.insert("toolName".into(), tool_name.into());
        }
        if self.server.is_some() {
            code.insert("mcpServer".into(), serde_json::json!({"name": server, "source": source}));
        }
        let options = self.options();
        let options = options.iter().map(|o| serde_json::json!({"optionId": o.option_id, "kind": o.kind}));
        let name = self.name.as_ref().map(|_| name);
        let call = serde_json::json!({"name": name, "title": title, "kind": kind, "_meta": {"claudeCode": code}});
        serde_json::json!({"toolCall": call, "options": options.collect::<Vec<_>>()}).to_string()
    }

    fn is_whole(&self) -> bool {
        self.damage.is_none() && self.cut.is_none()
    }
}

#[derive(Arbitrary, Debug)]
enum Step {
    Decide { frame: Input, config: Input, explain: bool },
    New { config: Input, room: Room, without_size: bool },
    Evaluate { frame: Input, room: Room },
    EvaluateFrame { frame: Input, room: Room },
    EvaluateBytes { request: Input },
    EvaluateRequest { request: Encoded },
    RegistryNew { config: Input, entropy: Option<[u8; 32]>, room: Room },
    Mint { vendor: Vendor, allowlist: Input, entropy: Option<[u8; 32]>, room: Room },
    Revoke { token: TokenText },
    Find { token: TokenText, vendor: Vendor },
    DecideHook { token: TokenText, vendor: Vendor, body: Input, room: Room },
    Unclassified { catalog: Input, server: Input, list: Input, room: Room },
    Null { choice: u8 },
    Words { number: u16 },
    Free { registry: bool },
}

const REGISTRY_CONFIGS: [&str; 8] = [
    "{}",
    r#"{"enabled_vendors":["codex","claude"]}"#,
    r#"{"enabled_vendors":["claude"],"result_channel_scope":"reviewer"}"#,
    r#"{"enabled_vendors":["codex","claude"],"catalog":{"servers":[{"id":"own","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["x"]}],"result_channel":{"server":"result","tools":["deliver"]}}}"#,
    r#"{"enabled_vendors":[],"result_channel_scope":"any"}"#,
    r#"{"catalog":null,"enabled_vendors":null}"#,
    r#"{"enabled_vendors":["gemini"]}"#,
    "null",
];

const ALLOWLISTS: [&str; 6] = [
    "[]",
    r#"["kcap-review"]"#,
    r#"["own"," OWN "]"#,
    r#"["kcap-sessions","kcap-flow-result","KCAP-Review"]"#,
    r#"["kcap-flows"]"#,
    r#"["*",1]"#,
];

const CATALOGS: [&str; 3] = [
    r#"{"servers":[{"id":"own","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["x"]}],"result_channel":{"server":"result","tools":["deliver"]}}"#,
    r#"{"servers":[],"result_channel":{"server":"kcap-review","tools":["get_pr_summary"]}}"#,
    "{}",
];

const SERVERS: [&str; 5] = ["kcap-review", "KCAP-Sessions", "own", "result", "kcap-memory"];

const LISTS: [&str; 4] = [
    r#"{"tools":[{"name":"get_pr_summary"},{"name":"x\"y"},{"name":"x"}]}"#,
    r#"{"tools":[]}"#,
    r#"{"tools":[],"nextCursor":"2"}"#,
    r#"{"tools":[1]}"#,
];

/// Configs and requests of both policies.
fn configs() -> Vec<&'static str> {
    [frame::CONFIGS, hook::CONFIGS].concat()
}

/// A compiled config beside what the Rust API made of the same bytes.
struct Compiled {
    handle: *mut Handle,
    twin: Policy,
}

/// A token, and the one that the twin made in its place.
struct Token {
    real: String,
    twin: String,
}

struct Tokens {
    handle: *mut RegistryHandle,
    twin: Registry,
    /// The shared token first.
    made: Vec<Token>,
}

#[derive(Default)]
struct Host {
    policy: Option<Compiled>,
    registry: Option<Tokens>,
    reason: Option<String>,
}

/// Runs a session; gives the last reason that a decision had.
pub fn abi(input: &[u8]) -> Option<String> {
    let mut source = Unstructured::new(input);
    let mut host = Host::default();
    for _ in 0..16 {
        if source.is_empty() {
            break;
        }
        let Ok(step) = Step::arbitrary(&mut source) else { break };
        // SAFETY: each call keeps to what the header asks for.
        unsafe { host.take(step) };
    }
    unsafe {
        host.free_policy();
        host.free_registry();
    }
    host.reason
}

impl Host {
    unsafe fn take(&mut self, step: Step) {
        match step {
            Step::Decide { frame, config, explain } => self.decide(&frame, &config, explain),
            Step::New { config, room, without_size } => self.compile(&config, room, without_size),
            Step::Evaluate { frame, room } => self.evaluate(&frame, room),
            Step::EvaluateFrame { frame, room } => self.evaluate_frame(&frame, room),
            Step::EvaluateBytes { request } => self.evaluate_bytes(&request),
            Step::EvaluateRequest { request } => self.evaluate_request(&request),
            Step::RegistryNew { config, entropy, room } => self.open(&config, entropy.as_ref(), room),
            Step::Mint { vendor, allowlist, entropy, room } => self.mint(&vendor, &allowlist, entropy.as_ref(), room),
            Step::Revoke { token } => self.revoke(&token),
            Step::Find { token, vendor } => self.find(&token, &vendor),
            Step::DecideHook { token, vendor, body, room } => self.decide_hook(&token, &vendor, &body, room),
            Step::Unclassified { catalog, server, list, room } => unclassified(&catalog, &server, &list, room),
            Step::Null { choice } => self.null(choice),
            Step::Words { number } => words(number),
            Step::Free { registry: false } => self.free_policy(),
            Step::Free { registry: true } => self.free_registry(),
        }
    }

    fn note(&mut self, json: &str) {
        let reason = Answer::of(json).reason;
        note(0, &reason);
        self.reason = Some(reason);
    }

    unsafe fn decide(&mut self, frame: &Input, config: &Input, explain: bool) {
        let terminated = |input: &Input, known: &[&str]| -> Option<Box<[u8]>> {
            let mut bytes = input.bytes(known)?.into_vec();
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            bytes.truncate(end);
            bytes.push(0);
            Some(bytes.into_boxed_slice())
        };
        let at = |text: &Option<Box<[u8]>>| text.as_ref().map_or(null(), |text| text.as_ptr().cast());
        let text = |text: &Option<Box<[u8]>>| text.as_ref().map_or(Vec::new(), |t| t[..t.len() - 1].to_vec());
        let (frame, config) = (terminated(frame, &config::REQUESTS), terminated(config, &configs()));
        let answer = if explain {
            kandev_policy_explain(at(&frame), at(&config))
        } else {
            kandev_policy_decide(at(&frame), at(&config))
        };
        assert!(!answer.is_null());
        let json = CStr::from_ptr(answer).to_str().unwrap().to_owned();
        kandev_policy_string_free(answer);
        let expected = decide_json(&text(&frame), &text(&config));
        self.note(&expected);
        assert_eq!(json, if explain { explain_json(&text(&frame), &text(&config)) } else { expected });
    }

    unsafe fn compile(&mut self, config: &Input, room: Room, without_size: bool) {
        self.free_policy();
        let config = config.borrow(&configs());
        let twin = Policy::new(config.read());
        let error = twin.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let (mut handle, mut out, mut size) = (1 as *mut Handle, Out::new(room, error.len()), usize::MAX);
        let size_at = if without_size { null_mut() } else { &raw mut size };
        let status = kandev_policy_new(config.at(), config.length, &mut handle, out.at(), out.capacity(), size_at);
        if without_size {
            size = error.len();
        }
        out.check_error(size, &error);
        match twin {
            Ok(twin) => {
                assert_eq!(status, Status::Ok);
                assert!(!handle.is_null());
                self.policy = Some(Compiled { handle, twin });
            }
            Err(_) => assert!(status == Status::BadConfig && handle.is_null()),
        }
    }

    unsafe fn evaluate(&mut self, frame: &Input, room: Room) {
        let Some(policy) = &self.policy else { return };
        let frame = frame.borrow(&config::REQUESTS);
        let json = policy.twin.decide(frame.read()).to_json();
        let (mut out, mut size) = (Out::new(room, json.len()), usize::MAX);
        let status =
            kandev_policy_evaluate(policy.handle, frame.at(), frame.length, out.at(), out.capacity(), &mut size);
        out.check_answer(status, size, json.as_bytes());
        self.note(&json);
    }

    unsafe fn evaluate_frame(&mut self, frame: &Input, room: Room) {
        let Some(policy) = &self.policy else { return };
        let frame = frame.borrow(&config::REQUESTS);
        let decision = policy.twin.decide(frame.read());
        let response = decision.response().unwrap_or_default();
        let strings = [decision.option_id(), decision.server(), decision.tool(), Some(response.as_str())];
        let whole = strings.map(Option::unwrap_or_default).concat();
        let (mut verdict, mut out, mut size) = (untouched(), Out::new(room, whole.len()), usize::MAX);
        let status = kandev_policy_evaluate_frame(
            policy.handle,
            frame.at(),
            frame.length,
            &mut verdict,
            out.at(),
            out.capacity(),
            &mut size,
        );
        out.check_answer(status, size, whole.as_bytes());
        let expected = verdict_of(&decision, response.len());
        assert_eq!(verdict, if status == Status::Ok { expected } else { untouched() });
    }

    /// Any bytes as an encoding: an answer, and no approval of what is no request.
    unsafe fn evaluate_bytes(&mut self, request: &Input) {
        let Some(policy) = &self.policy else { return };
        let request = request.borrow(&config::REQUESTS);
        let mut verdict = untouched();
        let status = kandev_policy_evaluate_request(policy.handle, request.at(), request.length, &mut verdict);
        assert_eq!(status, Status::Ok);
        if request.read().len() < 32 {
            assert!(matches!(verdict.reason, Reason::MalformedFrame | Reason::MalformedRequest));
        }
    }

    unsafe fn evaluate_request(&mut self, encoded: &Encoded) {
        let Some(policy) = &self.policy else { return };
        let bytes = encoded.encode().into_boxed_slice();
        let mut verdict = untouched();
        let status = kandev_policy_evaluate_request(policy.handle, bytes.as_ptr().cast(), bytes.len(), &mut verdict);
        assert_eq!(status, Status::Ok);
        if !encoded.is_whole() {
            return;
        }
        let [name, title, kind, tool_name, server, source] = encoded.texts();
        let request = Request {
            tool_name: encoded.name.as_ref().map(|_| name),
            tool_meta: ToolMeta {
                malformed: encoded.malformed,
                tool_name: encoded.tool_name.as_ref().map(|_| tool_name),
                server: encoded.server.as_ref().map(|_| (server, source)),
            },
            title,
            kind,
            options: &encoded.options(),
        };
        let decision = policy.twin.decide_request(&request);
        assert_eq!(verdict, verdict_of(&decision, 0));
        let json = decision.to_json();
        if !encoded.malformed && decision.status().is_none() {
            assert_eq!(policy.twin.decide(encoded.frame().as_bytes()).to_json(), json, "as a frame");
        }
        self.note(&json);
    }

    unsafe fn open(&mut self, config: &Input, entropy: Option<&[u8; 32]>, room: Room) {
        self.free_registry();
        let config = config.borrow(&REGISTRY_CONFIGS);
        let twin = Registry::new(config.read(), entropy);
        let error = twin.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let needed = if twin.is_ok() { 43 } else { error.len() };
        let (mut handle, mut out, mut size) = (1 as *mut RegistryHandle, Out::new(room, needed), usize::MAX);
        let status = kandev_policy_registry_new(
            config.at(),
            config.length,
            entropy.map_or(null(), |entropy| entropy.as_ptr()),
            &mut handle,
            out.at(),
            out.capacity(),
            &mut size,
        );
        match twin {
            Err(_) => {
                assert!(status == Status::BadConfig && handle.is_null());
                out.check_error(size, &error);
            }
            Ok((twin, twin_token)) if status == Status::Ok => {
                let token = out.text(43).to_owned();
                out.check_answer(status, size, token.as_bytes());
                let shared = Token { real: token, twin: twin_token.expose().to_owned() };
                self.registry = Some(Tokens { handle, twin, made: vec![shared] });
            }
            Ok(_) => {
                assert!(handle.is_null());
                out.check_answer(status, size, &[0; 43]);
            }
        }
    }

    unsafe fn mint(&mut self, vendor: &Vendor, allowlist: &Input, entropy: Option<&[u8; 32]>, room: Room) {
        let Some(registry) = &mut self.registry else { return };
        let (vendor, allowlist) = (vendor.borrow(), allowlist.borrow(&ALLOWLISTS));
        let twin = registry.twin.mint_json(&String::from_utf8_lossy(vendor.read()), allowlist.read(), entropy);
        let json = |token: &str, twin: &Minted| {
            let servers = serde_json::to_string(&twin.servers).unwrap();
            format!(r#"{{"token":"{token}","reviewer":{},"servers":{servers}}}"#, twin.reviewer)
        };
        let error = twin.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let needed = twin.as_ref().map_or(error.len(), |twin| json(twin.token.expose(), twin).len());
        let (mut out, mut size) = (Out::new(room, needed), usize::MAX);
        let status = kandev_policy_registry_mint(
            registry.handle,
            vendor.at(),
            vendor.length,
            allowlist.at(),
            allowlist.length,
            entropy.map_or(null(), |entropy| entropy.as_ptr()),
            out.at(),
            out.capacity(),
            &mut size,
        );
        match twin {
            Err(_) => {
                assert_eq!(status, Status::Refused);
                out.check_error(size, &error);
            }
            Ok(twin) if status == Status::Ok => {
                let token = out.text(53)[10..].to_owned();
                out.check_answer(status, size, json(&token, &twin).as_bytes());
                registry.made.push(Token { real: token, twin: twin.token.expose().to_owned() });
            }
            Ok(twin) => {
                out.check_answer(status, size, json(twin.token.expose(), &twin).as_bytes());
                registry.twin.revoke(twin.token.expose().as_bytes());
            }
        }
    }

    unsafe fn revoke(&mut self, token: &TokenText) {
        let Some(registry) = &self.registry else { return };
        let (token, twin) = registry.token(token);
        assert_eq!(kandev_policy_registry_revoke(registry.handle, token.at(), token.length), Status::Ok);
        registry.twin.revoke(twin.read());
    }

    unsafe fn find(&mut self, token: &TokenText, vendor: &Vendor) {
        let Some(registry) = &self.registry else { return };
        let ((token, twin), vendor) = (registry.token(token), vendor.borrow());
        let mut number = u64::MAX;
        let status = kandev_policy_registry_find(
            registry.handle,
            token.at(),
            token.length,
            vendor.at(),
            vendor.length,
            &mut number,
        );
        match registry.twin.find(twin.read(), vendor.read()) {
            Some(expected) => assert_eq!((status, number), (Status::Ok, expected)),
            None => assert_eq!((status, number), (Status::UnknownToken, u64::MAX)),
        }
    }

    unsafe fn decide_hook(&mut self, token: &TokenText, vendor: &Vendor, body: &Input, room: Room) {
        let Some(registry) = &self.registry else { return };
        let ((token, twin), vendor, body) = (registry.token(token), vendor.borrow(), body.borrow(&config::REQUESTS));
        let answer = registry.twin.decide(twin.read(), vendor.read(), body.read());
        let json = answer.as_ref().map(|answer| answer.decision.to_json()).unwrap_or_default();
        let (mut number, mut out, mut size) = (u64::MAX, Out::new(room, json.len()), usize::MAX);
        let status = kandev_policy_registry_decide(
            registry.handle,
            token.at(),
            token.length,
            vendor.at(),
            vendor.length,
            body.at(),
            body.length,
            &mut number,
            out.at(),
            out.capacity(),
            &mut size,
        );
        match answer {
            None => {
                assert_eq!((status, number), (Status::UnknownToken, u64::MAX));
                out.check(b"");
            }
            Some(answer) => {
                out.check_answer(status, size, json.as_bytes());
                assert_eq!(number, if status == Status::Ok { answer.reviewer } else { u64::MAX });
                self.note(&json);
            }
        }
    }

    /// What the header refuses as an argument, and what it lets pass as nothing.
    unsafe fn null(&mut self, choice: u8) {
        let (mut size, mut number, mut verdict) = (7, 7, untouched());
        let status = match choice % 8 {
            0 => kandev_policy_new(null(), 0, null_mut(), null_mut(), 0, null_mut()),
            1 => kandev_policy_evaluate(null(), null(), 0, null_mut(), 0, &mut size),
            2 => kandev_policy_evaluate_frame(null(), null(), 0, &mut verdict, null_mut(), 0, &mut size),
            3 => kandev_policy_evaluate_request(null(), null(), 0, &mut verdict),
            4 => kandev_policy_registry_mint(null(), null(), 0, null(), 0, null(), null_mut(), 0, &mut size),
            5 => kandev_policy_registry_find(null(), null(), 0, null(), 0, &mut number),
            6 => kandev_policy_registry_revoke(null(), null(), 0),
            _ => match &self.policy {
                // A buffer that is NULL but has a capacity.
                Some(policy) => kandev_policy_evaluate(policy.handle, null(), 0, null_mut(), 1, &mut size),
                None => Status::InvalidArgument,
            },
        };
        assert_eq!((status, number, verdict), (Status::InvalidArgument, 7, untouched()));
        assert!(size == 7 || size == 0);
        kandev_policy_string_free(null_mut());
        kandev_policy_free(null_mut());
        kandev_policy_registry_free(null_mut());
    }

    unsafe fn free_policy(&mut self) {
        if let Some(policy) = self.policy.take() {
            kandev_policy_free(policy.handle);
        }
    }

    unsafe fn free_registry(&mut self) {
        if let Some(registry) = self.registry.take() {
            kandev_policy_registry_free(registry.handle);
        }
    }
}

impl Tokens {
    /// What a caller hands over, here and to the twin.
    fn token(&self, text: &TokenText) -> (Borrowed, Borrowed) {
        let made = |choice: u8| &self.made[usize::from(choice) % self.made.len()];
        let both = |change: &dyn Fn(&str) -> Vec<u8>, token: &Token| {
            (Borrowed::of(change(&token.real)), Borrowed::of(change(&token.twin)))
        };
        match text {
            TokenText::Made(choice) => both(&|token| token.into(), made(*choice)),
            TokenText::Url(choice) => {
                let url = |token: &str| format!("http://127.0.0.1:4711/{token}/codex/permission-request").into_bytes();
                both(&url, made(*choice))
            }
            TokenText::Edited(choice, at, bits) => {
                let edited = |token: &str| {
                    let mut bytes = token.as_bytes().to_vec();
                    bytes[usize::from(*at) % 43] ^= bits | 1;
                    bytes
                };
                both(&edited, made(*choice))
            }
            TokenText::Other(other) => (other.borrow(&["", "/", "codex"]), other.borrow(&["", "/", "codex"])),
        }
    }
}

unsafe fn unclassified(catalog: &Input, server: &Input, list: &Input, room: Room) {
    let (catalog, server, list) = (catalog.borrow(&CATALOGS), server.borrow(&SERVERS), list.borrow(&LISTS));
    let twin_catalog = Some(catalog.read()).filter(|catalog| !catalog.is_empty());
    let twin = unclassified_tools(twin_catalog, &String::from_utf8_lossy(server.read()), list.read());
    let text = match &twin {
        Ok(names) => serde_json::to_string(names).unwrap(),
        Err(error) => error.to_string(),
    };
    let (mut out, mut size) = (Out::new(room, text.len()), usize::MAX);
    let status = kandev_policy_unclassified_tools(
        catalog.at(),
        catalog.length,
        server.at(),
        server.length,
        list.at(),
        list.length,
        out.at(),
        out.capacity(),
        &mut size,
    );
    match twin {
        Ok(_) => out.check_answer(status, size, text.as_bytes()),
        Err(error) => {
            let bad_catalog = matches!(error, GuardError::Catalog(_));
            assert_eq!(status, if bad_catalog { Status::BadConfig } else { Status::Refused });
            out.check_error(size, &text);
        }
    }
}

unsafe fn words(number: u16) {
    let word = kandev_policy_reason_word(number);
    match Reason::all().nth(usize::from(number)) {
        Some(reason) => assert_eq!(CStr::from_ptr(word).to_str(), Ok(reason.word())),
        None => assert!(word.is_null()),
    }
    assert_eq!(kandev_policy_abi_version(), 1);
    assert!(!CStr::from_ptr(kandev_policy_version()).is_empty());
    kandev_policy_abi_1();
}

/// A verdict that no decision has.
fn untouched() -> Verdict {
    Verdict {
        kind: Kind::Allow,
        option_kind: OptionKindOrNone::RejectAlways,
        reason: Reason::EngineUnavailable,
        status: 1,
        reserved: 1,
        option_index: 1,
        option_id_len: 1,
        server_len: 1,
        tool_len: 1,
        response_len: 1,
    }
}

fn verdict_of(decision: &Decision<'_>, response: usize) -> Verdict {
    let length = |text: Option<&str>| text.unwrap_or_default().len() as u32;
    Verdict {
        kind: decision.kind(),
        option_kind: decision.option_kind().into(),
        reason: decision.reason(),
        status: decision.status().unwrap_or(0),
        reserved: 0,
        option_index: decision.option_index().map_or(u32::MAX, |index| index as u32),
        option_id_len: length(decision.option_id()),
        server_len: length(decision.server()),
        tool_len: length(decision.tool()),
        response_len: response as u32,
    }
}
