//! Headless Chromium, with a proxy that notes whatever asks for the network.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What a browser that shows a page to nobody needs, and what keeps it from its own errands.
const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    // Time passes as fast as the page allows.
    "--virtual-time-budget=3000",
];

/// Where a browser goes of its own accord, in spite of all flags; no page here names it. (The proxy
/// lets none of it through.)
const OWN_ERRANDS: [&str; 3] = ["google.com", "googleapis.com", "gvt1.com"];

/// What came of loading a page.
pub struct Loaded {
    /// The document as the page's scripts have left it.
    pub document: String,
    /// What was written to the console.
    pub console: Vec<String>,
    /// The first lines of all requests for the network but the browser's own.
    pub requests: Vec<String>,
}

/// Loads `url`.
pub fn load(url: &str) -> Loaded {
    let profile = tempfile::tempdir().unwrap();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&requests);
    thread::spawn(move || {
        for connection in proxy.incoming().map_while(Result::ok) {
            let line = first_line(connection);
            noted.lock().unwrap().push(line);
        }
    });
    let output = Command::new(binary())
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--proxy-server=http://{address}"))
        // Loopback goes through the proxy, too.
        .arg("--proxy-bypass-list=<-loopback>")
        .args(["--dump-dom", url])
        .output()
        .expect("Chromium starts");
    let mut requests = requests.lock().unwrap().clone();
    requests.retain(|line| !line.is_empty() && !OWN_ERRANDS.iter().any(|own| line.contains(own)));
    loaded(&output, requests)
}

fn loaded(output: &Output, requests: Vec<String>) -> Loaded {
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{messages}");
    let document = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(document.contains("<body"), "{document}\n{messages}");
    let console = messages.lines().filter(|line| line.contains(":CONSOLE"));
    Loaded { document, console: console.map(str::to_owned).collect(), requests }
}

/// Reads what is asked for and hangs up.
fn first_line(connection: TcpStream) -> String {
    let mut line = String::new();
    // A browser may connect ahead of asking.
    let _ = connection.set_read_timeout(Some(Duration::from_secs(1)));
    let _ = BufReader::new(connection).read_line(&mut line);
    line.trim().to_owned()
}

fn binary() -> String {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let found = names.into_iter().find(there);
    found.expect("Chromium is missing: apt-get install -y chromium").to_owned()
}
