//! The catalog: which servers a reviewer may be bound to, and which of their tools are safe with nobody watching
//! (contract 5.3). Data, checked when it is loaded; a host may replace it.

use std::sync::Arc;

use once_cell::sync::Lazy;

use super::allowlist::{folded, folds_to};
use crate::config::{duplicate, ConfigError, Members, Places, Raw};
use crate::qualified_name::is_identifier;

pub(super) struct Catalog {
    pub(super) servers: Vec<Server>,
    pub(super) result_channel: ResultChannel,
    /// Where each server stands, by its id in lower case.
    places: Places,
}

pub(super) struct Server {
    pub(super) id: String,
    pub(super) auto_approvable: bool,
    pub(super) starts_flows: bool,
    pub(super) unattended_safe_tools: Vec<String>,
}

pub(super) struct ResultChannel {
    pub(super) server: String,
    pub(super) tools: Vec<String>,
}

/// The built-in catalog goes through the same reader and checks as a host's.
const BUILT_IN: &[u8] = br#"{
  "servers": [
    {"id": "kcap-review", "auto_approvable": true, "starts_flows": false, "unattended_safe_tools":
      ["get_pr_summary", "list_pr_files", "get_file_context", "search_context", "list_sessions", "get_transcript"]},
    {"id": "kcap-sessions", "auto_approvable": true, "starts_flows": false, "unattended_safe_tools":
      ["search_sessions", "get_session_summary", "get_session_transcript", "get_turn", "list_turns"]},
    {"id": "kcap-memory", "auto_approvable": false, "starts_flows": false, "unattended_safe_tools": []},
    {"id": "kcap-flows", "auto_approvable": false, "starts_flows": true, "unattended_safe_tools": []}
  ],
  "result_channel": {"server": "kcap-flow-result", "tools": ["submit_review_result"]}
}"#;

impl Catalog {
    pub(super) fn built_in() -> Arc<Catalog> {
        static CATALOG: Lazy<Arc<Catalog>> = Lazy::new(|| {
            let catalog = Catalog::of_document(BUILT_IN);
            Arc::new(catalog.unwrap_or_else(|error| panic!("the built-in catalog is broken: {error}")))
        });
        CATALOG.clone()
    }

    /// A catalog that is a document of its own.
    pub(super) fn of_document(document: &[u8]) -> Result<Self, ConfigError> {
        Self::read(&Members::of_document(document)?, "")
    }

    /// Reads and checks a catalog; `path` is where it stands in the config.
    pub(super) fn read(members: &Members<'_>, path: &str) -> Result<Self, ConfigError> {
        members.only(path, &["servers", "result_channel"])?;
        let list = members.require(path, "servers", "array of objects", Some)?;
        let mut servers = Vec::new();
        list.each_object(&format!("{path}servers"), |index, members| {
            servers.push(Server::read(members, &format!("{path}servers[{index}]."))?);
            Ok(())
        })?;
        let channel = members.require(path, "result_channel", "object", Raw::members)?;
        let result_channel = ResultChannel::read(&channel, &format!("{path}result_channel."))?;
        let mut places = Places::new();
        for (place, server) in servers.iter().enumerate() {
            places.insert(server.id.to_ascii_lowercase().into_bytes(), place);
        }
        let catalog = Self { servers, result_channel, places };
        catalog.check(path)?;
        Ok(catalog)
    }

    /// The server of a name, in any ASCII case.
    pub(super) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.get(*self.places.get(name.to_ascii_lowercase().as_bytes())?)
    }

    /// Whether the exact name is classified as unattended-safe on one of the bound servers.
    pub(super) fn is_unattended_safe(&self, tool: &str, bound: &[String]) -> bool {
        let mut servers = bound.iter().filter_map(|id| self.server(id));
        servers.any(|server| server.unattended_safe_tools.iter().any(|safe| safe == tool))
    }

    /// The invariants.
    fn check(&self, path: &str) -> Result<(), ConfigError> {
        let broken = |rule| Err(ConfigError::rule(path.trim_end_matches('.'), rule));
        let channel = &self.result_channel;
        let ids = || self.servers.iter().map(|server| &server.id).chain([&channel.server]);
        let tools = || self.servers.iter().flat_map(|server| &server.unattended_safe_tools).chain(&channel.tools);

        if !ids().chain(tools()).all(|name| is_identifier(name)) {
            return broken("ids and tools must be non-empty and hold only letters, digits, _ and -");
        }
        if self.servers.iter().any(|server| folds_to(&server.id, &channel.server)) {
            return broken("the result channel's server must not be among the servers");
        }
        let folded: Vec<_> = ids().map(|id| folded(id)).collect();
        if duplicate(folded.iter().map(Vec::as_slice)).is_some() {
            return broken("two server ids are the same but for case, - and _");
        }
        if duplicate(tools().map(String::as_bytes)).is_some() {
            return broken("a tool is listed twice");
        }
        for server in &self.servers {
            let is_classified = !server.unattended_safe_tools.is_empty();
            if server.auto_approvable && server.starts_flows {
                return broken("an auto-approvable server must not start flows");
            }
            if server.auto_approvable && !is_classified {
                return broken("an auto-approvable server needs unattended-safe tools");
            }
            if !server.auto_approvable && is_classified {
                return broken("only an auto-approvable server can have unattended-safe tools");
            }
        }
        Ok(())
    }
}

impl Server {
    fn read(members: &Members<'_>, path: &str) -> Result<Self, ConfigError> {
        members.only(path, &["id", "auto_approvable", "starts_flows", "unattended_safe_tools"])?;
        Ok(Self {
            id: members.require(path, "id", "string", Raw::string)?,
            auto_approvable: members.require(path, "auto_approvable", "boolean", Raw::boolean)?,
            starts_flows: members.require(path, "starts_flows", "boolean", Raw::boolean)?,
            unattended_safe_tools: members.require(path, "unattended_safe_tools", "array of strings", Raw::strings)?,
        })
    }
}

impl ResultChannel {
    fn read(members: &Members<'_>, path: &str) -> Result<Self, ConfigError> {
        members.only(path, &["server", "tools"])?;
        Ok(Self {
            server: members.require(path, "server", "string", Raw::string)?,
            tools: members.require(path, "tools", "array of strings", Raw::strings)?,
        })
    }
}
