//! What a reader does with the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::chromium::{Loaded, load};

/// Tries to leave whatever text it is put into, and to run.
const EVIL: &str =
    "</script></td><script>document.title='run'</script><img src=x onerror=alert(1)>";

/// A sweep over two parameters from two configurations, one of which has an evil name.
fn report(folder: &TempDir) -> PathBuf {
    let scenario = serde_json::json!({
        "name": "browser",
        "description": format!("How long? {EVIL}"),
        "sources": [EVIL],
        "components": { "orchagent": {
            "model": "orchagent", "topology": { "paths": 4, "routes": 2000 }, "flap": { "count": 2 }
        } },
        "configurations": [
            { "name": "plain" },
            { "name": EVIL, "note": EVIL, "set": { "orchagent.era": "b2" } },
            { "name": "third", "set": { "orchagent.flap.count": 1 } },
            { "name": "fourth", "set": { "orchagent.flap.count": 3 } }
        ],
        "sweep": { "orchagent.pop_batch_size": [64, 128, 256], "orchagent.flap.count": [1, 2] },
        "sweep_from": ["plain", EVIL],
        "run": { "seed": 1, "replications": 20, "horizon": "100 s" },
        "expect": [{
            "configuration": EVIL, "metric": "packet_loss_duration", "statistic": "mean",
            "at_most": "100 s", "source": EVIL
        }]
    });
    let file = folder.path().join("browser.json");
    fs::write(&file, scenario.to_string()).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_convsim"))
        .args(["run", "--quiet", "--output"])
        .arg(folder.path())
        .arg(&file)
        .status()
        .unwrap();
    assert!(status.success());
    folder.path().join("browser/report.html")
}

fn url(file: &Path, fragment: &str) -> String {
    format!("file://{}{fragment}", file.display())
}

/// Notes what goes wrong from the first line of the page on.
const WATCH: &str = "<script>
const wrong = [];
addEventListener('error', (event) => wrong.push(String(event.message)), true);
addEventListener('securitypolicyviolation', (event) => wrong.push(event.blockedURI));
</script>";

/// Loads a copy of the page with `script` at its end, which returns what it has seen.
fn act(page: &Path, fragment: &str, script: &str) -> (Value, Loaded) {
    let text = fs::read_to_string(page).unwrap();
    let probe = format!(
        "<pre id=\"probe\"></pre><script>
        addEventListener('load', () => setTimeout(async () => {{
            const tick = () => new Promise((done) => setTimeout(done, 100));
            const result = await (async () => {{ {script} }})();
            const resources = performance.getEntriesByType('resource').map((entry) => entry.name);
            const text = JSON.stringify({{ result, wrong, resources, title: document.title }});
            document.getElementById('probe').textContent =
                text.replace(/[<>&]/g, (c) => '\\\\u00' + c.charCodeAt(0).toString(16));
        }}));
        </script></body>"
    );
    let text = text.replacen("<head>", &format!("<head>{WATCH}"), 1);
    let (before, after) = text.rsplit_once("</body>").unwrap();
    let copy = page.with_file_name("acted.html");
    fs::write(&copy, format!("{before}{probe}{after}")).unwrap();
    let loaded = load(&url(&copy, fragment));
    let seen = loaded.document.split("<pre id=\"probe\">").nth(1).unwrap();
    let seen = seen.split("</pre>").next().unwrap();
    let seen: Value = serde_json::from_str(seen).unwrap_or_else(|error| {
        panic!("{error}: {seen}\n{:#?}", loaded.console);
    });
    (seen, loaded)
}

/// Nothing went wrong, nothing was fetched, no text of the scenario has run.
fn clean(seen: &Value, loaded: &Loaded) {
    assert_eq!(seen["wrong"], serde_json::json!([]));
    assert_eq!(seen["resources"], serde_json::json!([]));
    assert_eq!(seen["title"], "browser – convsim");
    assert_eq!(loaded.console, Vec::<String>::new());
    assert_eq!(loaded.requests, Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium; .ci/run has it"]
fn the_report_works_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(&folder);
    it_loads_as_it_is(&page);
    a_table_sorts_and_filters(&page);
    the_panel_shows_what_is_chosen_and_its_link_restores_it(&page);
    the_names_are_text(&page);
    without_scripts_the_table_of_the_sweep_is_there(&page);
    a_request_would_be_seen(folder.path());
}

fn it_loads_as_it_is(page: &Path) {
    let loaded = load(&url(page, ""));
    assert_eq!(loaded.console, Vec::<String>::new());
    assert_eq!(loaded.requests, Vec::<String>::new());
    assert!(loaded.document.matches("<svg").count() >= 4);
}

fn a_table_sorts_and_filters(page: &Path) {
    let (seen, loaded) = act(
        page,
        "",
        "const table = document.querySelector('table.sortable');
        const figures = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[1].dataset.value));
        const button = table.tHead.rows[0].cells[1].querySelector('[role=button]');
        const before = figures();
        button.click();
        const up = figures();
        button.click();
        const down = figures();
        const input = table.parentNode.previousElementSibling.querySelector('input');
        const shown = () => [...table.tBodies[0].rows].filter((row) => row.getClientRects().length).length;
        const all = shown();
        input.value = 'THIRD';
        input.dispatchEvent(new Event('input'));
        const third = shown();
        input.value = '';
        input.dispatchEvent(new Event('input'));
        return { before, up, down, all, third, again: shown() };",
    );
    clean(&seen, &loaded);
    let result = &seen["result"];
    let figures = |name: &str| -> Vec<f64> {
        result[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let mut sorted = figures("before");
    sorted.sort_by(f64::total_cmp);
    assert_eq!(figures("up"), sorted);
    sorted.reverse();
    assert_eq!(figures("down"), sorted);
    assert_eq!(
        (&result["all"], &result["third"], &result["again"]),
        (&4.into(), &1.into(), &4.into())
    );
}

fn the_panel_shows_what_is_chosen_and_its_link_restores_it(page: &Path) {
    let look = "const panel = document.querySelector('#what-if .panel');
        const state = () => ({
            visible: panel.getClientRects().length > 0,
            table: document.querySelector('#what-if .all').getClientRects().length > 0,
            values: [...panel.querySelectorAll('select')].map((s) => s.selectedOptions[0].text),
            metric: panel.querySelector('.mean').textContent,
            text: panel.querySelector('.metrics').innerText,
            marks: document.querySelectorAll('figure .chosen').length,
            unmarked: [...document.querySelectorAll('figcaption')]
                .filter((caption) => caption.textContent.includes('not in this picture')).length,
            hash: location.hash,
            link: panel.querySelector('a').getAttribute('href'),
        });";
    let (seen, loaded) = act(
        page,
        "",
        &format!(
            "{look}
            const first = state();
            const selects = [...panel.querySelectorAll('select')];
            const choose = (select, text) => {{
                select.value = [...select.options].find((option) => option.text === text).value;
                select.dispatchEvent(new Event('change'));
            }};
            choose(selects[0], selects[0].options[1].text);
            choose(selects[1], '256');
            choose(selects[2], '2');
            await tick();
            const chosen = state();
            const row = [...document.querySelectorAll('#what-if tbody tr')].find((row) =>
                [0, 1, 2].every((index) => row.cells[index].textContent === chosen.values[index]));
            const hash = location.hash;
            location.hash = first.link;
            await tick();
            return {{ first, chosen, cell: row.cells[3].textContent, back: state() }};"
        ),
    );
    clean(&seen, &loaded);
    let result = &seen["result"];
    let (first, chosen) = (&result["first"], &result["chosen"]);
    assert_eq!((&first["visible"], &first["table"]), (&true.into(), &false.into()));
    assert_eq!(first["values"], serde_json::json!(["plain", "64", "1"]));
    assert_eq!(chosen["values"], serde_json::json!([EVIL, "256", "2"]));
    assert_ne!(first["metric"], chosen["metric"]);
    // The figure is the one in the table, and has its interval and its parts.
    let mean = chosen["metric"].as_str().unwrap().split(' ').next().unwrap();
    assert!(result["cell"].as_str().unwrap().starts_with(mean), "{result}");
    let text = chosen["text"].as_str().unwrap();
    assert!(text.contains("95 % interval") && text.contains("LAG pass"), "{text}");
    // Nothing is marked before anybody has chosen.
    assert_eq!((&first["marks"], &first["unmarked"]), (&0.into(), &0.into()));
    assert!(chosen["marks"].as_u64().unwrap() > 0, "{chosen}");
    assert_eq!(chosen["hash"], chosen["link"]);
    assert_eq!(result["back"]["text"], first["text"]);

    let (again, loaded) =
        act(page, chosen["link"].as_str().unwrap(), &format!("{look} return state();"));
    clean(&again, &loaded);
    assert_eq!(again["result"], *chosen);
    // What the link names that is not there is left as it is.
    let (other, loaded) =
        act(page, "#orchagent.pop_batch_size=77&x=%", &format!("{look} return state();"));
    clean(&other, &loaded);
    assert_eq!(other["result"]["values"], first["values"]);
}

fn the_names_are_text(page: &Path) {
    let (seen, loaded) = act(
        page,
        "",
        "return {
            cell: document.querySelectorAll('table.sortable tbody tr')[1].cells[0].firstChild.textContent,
            scripts: document.scripts.length,
            images: document.images.length,
        };",
    );
    clean(&seen, &loaded);
    assert_eq!(seen["result"]["cell"], EVIL);
    assert_eq!(seen["result"]["images"], 0);
    // The data, the page's own, and the two of this test.
    assert_eq!(seen["result"]["scripts"], 4);
}

fn without_scripts_the_table_of_the_sweep_is_there(page: &Path) {
    // Chromium cannot dump a document with scripts switched off; this policy forbids them.
    let text = fs::read_to_string(page).unwrap().replace("script-src 'unsafe-inline'", "");
    let copy = page.with_file_name("scriptless.html");
    fs::write(&copy, text).unwrap();
    let loaded = load(&url(&copy, ""));
    assert!(!loaded.document.contains("<label class="));
    assert!(loaded.document.contains("<section id=\"what-if\">"));
    assert!(loaded.document.contains("<div class=\"panel\" hidden=\"\"></div>"));
    assert_eq!(loaded.document.matches("<td>256</td>").count(), 4);
}

/// The check above can fail: a page that does fetch is seen to, unless its policy forbids it.
fn a_request_would_be_seen(folder: &Path) {
    let page = |policy: &str| {
        let file = folder.join("fetching.html");
        fs::write(&file, format!("{policy}<body><img src=\"http://fetched.invalid/x\">")).unwrap();
        load(&url(&file, "")).requests
    };
    assert_eq!(page(""), ["GET http://fetched.invalid/x HTTP/1.1"]);
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">";
    assert_eq!(page(policy), Vec::<String>::new());
}
