//! Generates the C header and gives the shared library its name.

use std::path::Path;
use std::{env, fs};

/// The ABI's major version is part of the library's name, so that the loader never takes another one for it.
const SONAME: &str = "libkandev_policy.so.1";
const INSTALL_NAME: &str = "@rpath/libkandev_policy.1.dylib";

fn main() {
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=cbindgen.toml");
    println!("cargo:rerun-if-changed=include");
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,{INSTALL_NAME}"),
        Ok("linux") => println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{SONAME}"),
        _ => {}
    }
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    generate_header(Path::new(&root));
}

/// Refreshes the committed header, in a checkout only: a packaged or vendored crate may be read-only, and has it.
fn generate_header(root: &Path) {
    if !root.join(".git").exists() {
        return;
    }
    let bindings = cbindgen::generate(root).expect("src/abi must be readable by cbindgen");
    let mut header = Vec::new();
    bindings.write(&mut header);
    let path = root.join("include/kandev_policy.h");
    if fs::read(&path).ok().as_deref() != Some(&header) {
        fs::write(&path, header).expect("include/ must be writable in a checkout");
    }
}
