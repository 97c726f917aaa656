//! The config of the injected-server policy (contract 4.1).

use std::borrow::Cow;

use super::dialect::Dialect;
use super::{provenance, Injected, SERVER};
use crate::config::{ConfigError, Members, Raw};
use crate::json::JsonStr;

/// The config as far as it is compiled into the policy.
pub(super) struct Config<'a> {
    pub(super) port: Option<i64>,
    pub(super) mcp_host: Cow<'a, str>,
    pub(super) injected_kandev_mcp: bool,
    /// The server entries named `kandev`; nothing of another entry is read.
    pub(super) kandev_entries: Vec<Entry<'a>>,
}

/// A server entry named `kandev`.
pub(super) struct Entry<'a> {
    pub(super) transport: Option<Cow<'a, str>>,
    pub(super) url: Option<Cow<'a, str>>,
    /// Whether any other member than name, type and url says something.
    pub(super) has_other_members: bool,
}

impl Injected {
    pub(crate) fn compile(members: &Members<'_>) -> Result<Self, ConfigError> {
        members.only(
            "",
            &[
                "policy",
                "agent_type",
                "port",
                "mcp_host",
                "injected_kandev_mcp",
                "mcp_servers",
                "auto_approve_permissions",
            ],
        )?;
        let agent_type = members.read("agent_type", "string", Raw::text)?.unwrap_or_default();
        let config = Config {
            port: members.read("port", "integer", Raw::integer)?,
            mcp_host: members.read("mcp_host", "string", Raw::text)?.unwrap_or_default(),
            injected_kandev_mcp: members.read("injected_kandev_mcp", "boolean", Raw::boolean)?.unwrap_or(false),
            kandev_entries: members.get("mcp_servers").map_or(Ok(Vec::new()), kandev_entries)?,
        };
        Ok(Self {
            dialect: Dialect::of(&agent_type),
            blanket_approval: members.read("auto_approve_permissions", "boolean", Raw::boolean)?.unwrap_or(false),
            provenance: provenance::establish(&config),
        })
    }
}

fn kandev_entries(servers: Raw<'_>) -> Result<Vec<Entry<'_>>, ConfigError> {
    let mut entries = Vec::new();
    servers.each_object("mcp_servers", |index, members| {
        let (mut names, mut kandev) = (0, false);
        for name in members.all("name") {
            names += 1;
            kandev |= name.is_string(SERVER);
        }
        if names > 1 || kandev {
            members.no_duplicates(|| format!("mcp_servers[{index}]."))?;
        }
        if kandev {
            entries.push(entry(members));
        }
        Ok(())
    })?;
    Ok(entries)
}

fn entry<'a>(members: &Members<'a>) -> Entry<'a> {
    let is_read = |key: JsonStr<'_>| ["name", "type", "url"].into_iter().any(|read| key.equals(read));
    Entry {
        transport: members.get("type").and_then(Raw::text),
        url: members.get("url").and_then(Raw::text),
        has_other_members: members.iter().any(|(key, value)| !is_read(key) && !value.is_empty()),
    }
}
