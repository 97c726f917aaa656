//! Cedar. Its language has no way to take a string apart or to choose an option, so identity, qualified name and option
//! are plain Rust here (frame.rs); the policy decides on server, provenance and evidence. Provenance is judged once, when
//! the entity is made. A refusal has no reason.

use crate::frame::{split, Frame};
use crate::Peer;
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, PolicySet, Request,
    RestrictedExpression,
};
use std::collections::{HashMap, HashSet};

pub struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    entities: Entities,
    principal: EntityUid,
    action: EntityUid,
    server: EntityTypeName,
}

impl Cedar {
    pub fn new() -> Self {
        let server: EntityTypeName = "Server".parse().expect("a type");
        let injected = Entity::new(
            EntityUid::from_type_name_and_id(server.clone(), EntityId::new("kandev")),
            HashMap::from([
                ("injected".to_owned(), RestrictedExpression::new_bool(true)),
                ("conflict".to_owned(), RestrictedExpression::new_bool(false)),
            ]),
            HashSet::new(),
        );
        Self {
            authorizer: Authorizer::new(),
            policies: include_str!("policy.cedar").parse().expect("a policy"),
            entities: Entities::from_entities([injected.expect("an entity")], None).expect("entities"),
            principal: r#"Agent::"claude-acp""#.parse().expect("an agent"),
            action: r#"Action::"call""#.parse().expect("an action"),
            server,
        }
    }
}

impl Peer for Cedar {
    fn decide(&mut self, frame: &[u8]) -> Option<String> {
        let frame: Frame = serde_json::from_slice(frame).ok()?;
        let (server, _tool) = split(frame.identity()?)?;
        let text = |text: &str| RestrictedExpression::new_string(text.to_owned());
        let evidence = frame.evidence().into_iter().flat_map(|evidence| {
            [
                ("source".to_owned(), text(&evidence.source)),
                ("server".to_owned(), text(&evidence.name)),
                ("named".to_owned(), text(server)),
            ]
        });
        let request = Request::new(
            self.principal.clone(),
            self.action.clone(),
            EntityUid::from_type_name_and_id(self.server.clone(), EntityId::new(server)),
            Context::from_pairs(evidence).ok()?,
            None,
        )
        .ok()?;
        let response = self.authorizer.is_authorized(&request, &self.policies, &self.entities);
        match response.decision() {
            Decision::Allow => frame.choice().map(str::to_owned),
            Decision::Deny => None,
        }
    }
}
