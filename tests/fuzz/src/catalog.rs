//! A catalog, the name of a server, and what a server answers to `tools/list`, with a NUL between them.

use std::collections::HashSet;
use std::fmt;

use kandev_policy::{decide_json, unclassified_tools, GuardError, Registry, RegistryError};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::spec;

/// A catalog is accepted if the specification accepts it, wherever it is handed over, and a server can be bound if the
/// specification binds it; the guard names what is not classified.
pub fn catalog(input: &[u8]) -> Option<String> {
    let mut parts = input.splitn(3, |byte| *byte == 0);
    let catalog = parts.next()?;
    let server = String::from_utf8_lossy(parts.next().unwrap_or(b"kcap-review"));
    let list = parts.next().unwrap_or(br#"{"tools":[{"name":"get_pr_summary"},{"name":"x"}]}"#);

    let body = br#"{"session_id":"s","tool_name":"get_pr_summary"}"#;
    let config = |servers: &str| {
        let start = r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","#;
        [start.as_bytes(), servers.as_bytes(), br#""catalog":"#, catalog, b"}"].concat()
    };
    let decide = |servers: &str| {
        let config = config(servers);
        let json = decide_json(body, &config);
        assert_eq!(json, spec::decide(body, &config));
        Answer::of(&json).reason
    };
    let reason = decide("");
    let accepted = reason != "malformed_config";
    let bound = || decide(&format!(r#""servers":[{}],"#, serde_json::to_string(&server).unwrap()));

    // Alone it must be one object: in a config it may be null, or text that goes on behind it.
    let alone = serde_json::from_slice::<&RawValue>(catalog).is_ok_and(|raw| raw.get().starts_with('{'));
    if !alone {
        assert!(matches!(unclassified_tools(Some(catalog), &server, list), Err(GuardError::Catalog(_))));
        return Some(reason);
    }
    match Registry::new(&[br#"{"catalog":"#, catalog, b"}"].concat(), None) {
        Ok((registry, _)) => {
            assert!(accepted);
            let minted = registry.mint("codex", &[&server], None);
            assert_eq!(minted.is_ok(), bound() != "malformed_config", "{minted:?}");
        }
        Err(error) => assert!(!accepted && matches!(error, RegistryError::Config(_)), "{error}"),
    }
    let guard = unclassified_tools(Some(catalog), &server, list);
    if !accepted {
        assert!(matches!(guard, Err(GuardError::Catalog(_))));
        return Some(reason);
    }
    match (guard, classified(catalog, &server), read_list(list)) {
        (Err(GuardError::UnknownServer(name)), None, _) => assert_eq!(name, server),
        (Err(GuardError::PartOfAList), Some(_), List::Part) => {}
        // What is neither may be refused as either.
        (Err(GuardError::NoToolList | GuardError::PartOfAList), Some(_), List::None | List::Unclear) => {}
        (Ok(names), Some(classified), List::Whole(offered)) => {
            let mut seen = HashSet::new();
            let expected = offered.into_iter().filter(|tool| !classified.contains(tool) && seen.insert(tool.clone()));
            assert_eq!(names, expected.collect::<Vec<_>>());
        }
        (Ok(_), Some(_), List::Unclear) => {}
        (guard, classified, _) => panic!("{guard:?}, classified are {classified:?}"),
    }
    Some(reason)
}

#[derive(Deserialize)]
struct Catalog {
    servers: Vec<Server>,
    result_channel: ResultChannel,
}

#[derive(Deserialize)]
struct Server {
    id: String,
    unattended_safe_tools: Vec<String>,
}

#[derive(Deserialize)]
struct ResultChannel {
    server: String,
    tools: Vec<String>,
}

/// What an accepted catalog classifies on a server.
fn classified(catalog: &[u8], server: &str) -> Option<Vec<String>> {
    let Catalog { servers, result_channel } = serde_json::from_slice(catalog).expect("an accepted catalog");
    let servers = servers.into_iter().map(|s| (s.id, s.unattended_safe_tools));
    let mut all = servers.chain([(result_channel.server, result_channel.tools)]);
    all.find(|(id, _)| id.eq_ignore_ascii_case(server)).map(|(_, tools)| tools)
}

enum List {
    Whole(Vec<String>),
    Part,
    None,
    /// An ordinary reader can't tell: half an emoji stands somewhere in it.
    Unclear,
}

/// The names in a `tools/list` result, as an ordinary reader that minds rival keys sees them.
fn read_list(list: &[u8]) -> List {
    let Ok(raw) = serde_json::from_slice::<&RawValue>(list) else { return List::None };
    let members = match Members::of(raw) {
        Ok(members) => members,
        Err(unread) => return unread,
    };
    let Some(Ok(tools)) = members.get("tools").map(serde_json::from_str::<Vec<&RawValue>>) else { return List::None };
    let mut names = Vec::new();
    for tool in tools {
        let members = match Members::of(tool) {
            Ok(members) => members,
            Err(unread) => return unread,
        };
        match members.get("name").map(serde_json::from_str) {
            Some(Ok(name)) => names.push(name),
            _ => return List::None,
        }
    }
    match members.get("nextCursor").map(serde_json::from_str::<Option<String>>) {
        None => List::Whole(names),
        Some(Ok(cursor)) if cursor.as_deref().unwrap_or_default().is_empty() => List::Whole(names),
        Some(Ok(_)) => List::Part,
        Some(Err(_)) => List::None,
    }
}

/// An object's members in their order, duplicates too.
struct Members<'j>(Vec<(String, &'j RawValue)>);

impl<'j> Members<'j> {
    fn of(raw: &'j RawValue) -> Result<Self, List> {
        if !raw.get().starts_with('{') {
            return Err(List::None);
        }
        let members: Members = serde_json::from_str(raw.get()).map_err(|_| List::Unclear)?;
        for key in ["tools", "nextCursor", "name"] {
            let mut taken = members.0.iter().filter(|member| go_takes(&member.0, key));
            if taken.next().is_some_and(|member| member.0 != key) || taken.next().is_some() {
                return Err(List::None);
            }
        }
        Ok(members)
    }

    fn get(&self, key: &str) -> Option<&'j str> {
        self.0.iter().find(|member| member.0 == key).map(|member| member.1.get())
    }
}

/// Whether Go's decoder takes one key for another.
fn go_takes(key: &str, path_key: &str) -> bool {
    key.replace('\u{17f}', "s").replace('\u{212a}', "k").eq_ignore_ascii_case(path_key)
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}
