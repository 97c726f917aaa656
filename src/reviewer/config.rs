//! The config of the reviewer policy (contract 5.1).

use super::allowlist::{self, Unresolved};
use super::catalog::Catalog;
use super::{Reviewer, Scope, Token, Vendor};
use crate::config::{ConfigError, Members, Raw};

impl Reviewer {
    pub(crate) fn compile(members: &Members<'_>) -> Result<Self, ConfigError> {
        members.only("", &["policy", "vendor", "token", "servers", "result_channel_scope", "catalog"])?;
        let vendor = match &*members.require("", "vendor", "string", Raw::string)? {
            "codex" => Vendor::Codex,
            "claude" => Vendor::Claude,
            _ => return Err(ConfigError::rule("vendor", "expected \"codex\" or \"claude\"")),
        };
        let token = match &*members.require("", "token", "string", Raw::string)? {
            "reviewer" => Token::Reviewer,
            "shared" => Token::Shared,
            _ => return Err(ConfigError::rule("token", "expected \"reviewer\" or \"shared\"")),
        };
        let result_channel_scope = match members.read("result_channel_scope", "string", Raw::string)?.as_deref() {
            None | Some("any") => Scope::Any,
            Some("reviewer") => Scope::Reviewer,
            Some(_) => return Err(ConfigError::rule("result_channel_scope", "expected \"any\" or \"reviewer\"")),
        };
        let catalog = match members.read("catalog", "object", Raw::members)? {
            None => Catalog::built_in().clone(),
            Some(members) => Catalog::read(&members, "catalog.")?,
        };
        let entries = members.read("servers", "array of strings", Raw::strings)?.unwrap_or_default();
        let servers = allowlist::resolve(&entries, &catalog).map_err(|Unresolved(place)| {
            ConfigError::rule(format!("servers[{place}]"), "is no server that a reviewer may be bound to")
        })?;
        Ok(Self { vendor, token, servers, result_channel_scope, catalog })
    }
}
