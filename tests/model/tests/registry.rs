//! Minting, looking up, deciding and revoking at once, in every order that threads can come to the registry's lock and
//! flags. The checker itself fails a run in which all threads wait for one another.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use kandev_policy_model::{fault, Kind, Minted, Registry};
use loom::sync::atomic::{AtomicBool, Ordering::SeqCst};
use loom::sync::Arc;
use loom::thread;

const BODY: &[u8] = br#"{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}"#;

/// The last stage before the decision is made.
const LAST_STAGE: &str = "evidence";

fn registry() -> Arc<Registry> {
    Arc::new(Registry::new(b"{}", None).unwrap().0)
}

fn mint(registry: &Registry) -> Arc<Minted> {
    Arc::new(registry.mint("codex", &["kcap-review"], None).unwrap())
}

fn token(minted: &Minted) -> &[u8] {
    minted.token.expose().as_bytes()
}

/// Whether the token's call is allowed; `None`: the token is unknown.
fn allows(registry: &Registry, minted: &Minted) -> Option<bool> {
    let answer = registry.decide(token(minted), b"codex", BODY)?;
    assert_eq!(answer.reviewer, minted.reviewer);
    Some(answer.decision.kind() == Kind::Allow)
}

/// Runs `scenario` in each order, and says how many there were.
fn in_every_order(name: &str, scenario: impl Fn() + Sync + Send + 'static) {
    static ORDERS: AtomicUsize = AtomicUsize::new(0);
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // What is made once in a process is made outside of the model.
    ORDERS.store(0, Relaxed);
    loom::model(move || {
        ORDERS.fetch_add(1, Relaxed);
        scenario();
    });
    let orders = ORDERS.load(Relaxed);
    println!("{name}: {orders} orders");
    assert!(orders > 1, "{name}: nothing runs at once");
}

#[test]
fn nothing_is_allowed_once_a_revocation_has_returned() {
    in_every_order("revoke while deciding", || {
        let registry = registry();
        let minted = mint(&registry);
        let returned = Arc::new(AtomicBool::new(false));
        let revoker = thread::spawn({
            let (registry, minted, returned) = (registry.clone(), minted.clone(), returned.clone());
            move || {
                registry.revoke(token(&minted));
                returned.store(true, SeqCst);
            }
        });
        let decider = thread::spawn({
            let (registry, minted) = (registry.clone(), minted.clone());
            move || {
                // Looked at when the decision is as good as made: a request under way counts too.
                let was_returned = std::rc::Rc::new(std::cell::Cell::new(false));
                let seen = was_returned.clone();
                fault::watch(move |stage| {
                    if stage == LAST_STAGE {
                        seen.set(returned.load(SeqCst));
                    }
                });
                match allows(&registry, &minted) {
                    Some(allowed) => assert!(allowed && !was_returned.get(), "allowed after the revocation"),
                    // Whoever isn't told has been overtaken by a revocation, and is so for ever.
                    None => assert_eq!(allows(&registry, &minted), None),
                }
            }
        });
        revoker.join().unwrap();
        decider.join().unwrap();
        assert_eq!(allows(&registry, &minted), None);
        assert_eq!(registry.reviewers(), 0);
    });
}

#[test]
fn nothing_is_found_once_a_revocation_has_returned() {
    in_every_order("revoke while looking up", || {
        let registry = registry();
        let minted = mint(&registry);
        let returned = Arc::new(AtomicBool::new(false));
        let revoker = thread::spawn({
            let (registry, minted, returned) = (registry.clone(), minted.clone(), returned.clone());
            move || {
                registry.revoke(token(&minted));
                returned.store(true, SeqCst);
            }
        });
        let was_returned = returned.load(SeqCst);
        let found = registry.find(token(&minted), b"codex");
        assert!(found.is_none() || found == Some(minted.reviewer) && !was_returned, "found after the revocation");
        revoker.join().unwrap();
        assert_eq!(registry.find(token(&minted), b"codex"), None);
    });
}

#[test]
fn neither_a_mint_nor_a_revocation_is_lost() {
    in_every_order("mint, mint and revoke", || {
        let registry = registry();
        let first = mint(&registry);
        let minter = thread::spawn({
            let registry = registry.clone();
            move || mint(&registry)
        });
        let revoker = thread::spawn({
            let (registry, first) = (registry.clone(), first.clone());
            move || registry.revoke(token(&first))
        });
        let third = mint(&registry);
        let second = minter.join().unwrap();
        revoker.join().unwrap();
        assert_eq!(registry.reviewers(), 2);
        assert_eq!(allows(&registry, &first), None);
        assert_eq!(allows(&registry, &second), Some(true));
        assert_eq!(allows(&registry, &third), Some(true));
        let numbers = [first.reviewer, second.reviewer, third.reviewer];
        assert!(numbers == [1, 2, 3] || numbers == [1, 3, 2], "{numbers:?}");
    });
}

#[test]
fn reviewers_are_independent() {
    in_every_order("revoke one, decide for another", || {
        let registry = registry();
        let (gone, stays) = (mint(&registry), mint(&registry));
        let revokers = [0, 1].map(|_| {
            let (registry, gone) = (registry.clone(), gone.clone());
            // Twice at once does no more than once.
            thread::spawn(move || registry.revoke(token(&gone)))
        });
        assert_eq!(allows(&registry, &stays), Some(true));
        for revoker in revokers {
            revoker.join().unwrap();
        }
        assert_eq!(allows(&registry, &stays), Some(true));
        assert_eq!(allows(&registry, &gone), None);
        assert_eq!(registry.reviewers(), 1);
    });
}
