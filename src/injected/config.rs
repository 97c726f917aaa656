//! The config of the injected-server policy (contract 4.1).

use super::dialect::Dialect;
use super::{provenance, Injected, SERVER};
use crate::config::{ConfigError, Members, Raw};

/// The config as far as it is compiled into the policy.
pub(super) struct Config {
    pub(super) port: Option<i64>,
    pub(super) mcp_host: String,
    pub(super) injected_kandev_mcp: bool,
    /// The server entries named `kandev`; nothing of another entry is read.
    pub(super) kandev_entries: Vec<Entry>,
}

/// A server entry named `kandev`.
pub(super) struct Entry {
    pub(super) transport: Option<String>,
    pub(super) url: Option<String>,
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
        let agent_type = members.read("agent_type", "string", Raw::string)?.unwrap_or_default();
        let config = Config {
            port: members.read("port", "integer", Raw::integer)?,
            mcp_host: members.read("mcp_host", "string", Raw::string)?.unwrap_or_default(),
            injected_kandev_mcp: members.read("injected_kandev_mcp", "boolean", Raw::boolean)?.unwrap_or(false),
            kandev_entries: match members.read("mcp_servers", "array of objects", Raw::elements)? {
                Some(servers) => kandev_entries(&servers)?,
                None => Vec::new(),
            },
        };
        Ok(Self {
            dialect: Dialect::of(&agent_type),
            blanket_approval: members.read("auto_approve_permissions", "boolean", Raw::boolean)?.unwrap_or(false),
            provenance: provenance::establish(&config),
        })
    }
}

fn kandev_entries(servers: &[Raw<'_>]) -> Result<Vec<Entry>, ConfigError> {
    let mut entries = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let Some(members) = server.members() else {
            return Err(ConfigError::wrong_type(format!("mcp_servers[{index}]"), *server, "object"));
        };
        let is_kandev = |name: Raw<'_>| name.string().is_some_and(|name| name == SERVER);
        let (mut names, mut kandev) = (0, false);
        for name in members.all("name") {
            names += 1;
            kandev |= is_kandev(name);
        }
        if names > 1 || kandev {
            members.no_duplicates(&format!("mcp_servers[{index}]."))?;
        }
        if kandev {
            entries.push(entry(&members));
        }
    }
    Ok(entries)
}

fn entry(members: &Members<'_>) -> Entry {
    const READ: [&[u8]; 3] = [b"name", b"type", b"url"];
    Entry {
        transport: members.get("type").and_then(Raw::string),
        url: members.get("url").and_then(Raw::string),
        has_other_members: members.iter().any(|(key, value)| !READ.contains(&key) && !value.is_empty()),
    }
}
