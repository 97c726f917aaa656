//! regorus, in both of its ways to run a policy. Frame and rules are all Rego's; provenance is judged once, in the data.
//! Not done, and done by the library: rival and duplicate keys, the characters of a name, ACP v2, reasons.

use crate::Peer;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::vm::RegoVM;
use regorus::{Engine, Value};

const RULE: &str = "data.kandev.decision";
const HOST: &str = r#"{"host":{"agent_type":"claude-acp","injected":true,"conflict":false}}"#;

fn engine() -> Engine {
    let mut engine = Engine::new();
    engine.add_policy("policy.rego".to_owned(), include_str!("policy.rego").to_owned()).expect("a policy");
    engine.add_data_json(HOST).expect("data");
    engine
}

fn input(frame: &[u8]) -> Option<Value> {
    Value::from_json_str(std::str::from_utf8(frame).ok()?).ok()
}

fn option_id(decision: &Value) -> Option<String> {
    Some(decision["option_id"].as_string().ok()?.to_string())
}

pub struct Interpreter(Engine);

impl Interpreter {
    pub fn new() -> Self {
        Self(engine())
    }
}

impl Peer for Interpreter {
    fn decide(&mut self, frame: &[u8]) -> Option<String> {
        self.0.set_input(input(frame)?);
        option_id(&self.0.eval_rule(RULE.to_owned()).ok()?)
    }
}

pub struct Machine(RegoVM);

impl Machine {
    pub fn new() -> Self {
        let compiled = engine().compile_with_entrypoint(&RULE.into()).expect("compiled");
        let program = Compiler::compile_from_policy(&compiled, &[RULE]).expect("a program");
        let mut machine = RegoVM::new();
        machine.load_program(program);
        machine.set_data(Value::from_json_str(HOST).expect("data")).expect("data");
        Self(machine)
    }
}

impl Peer for Machine {
    fn decide(&mut self, frame: &[u8]) -> Option<String> {
        self.0.set_input(input(frame)?);
        option_id(&self.0.execute().ok()?)
    }
}
