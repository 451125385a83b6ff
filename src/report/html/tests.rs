//! What must hold of every report.

use super::html;
use crate::report::plots::plots;
use crate::report::tests::{point, stored};

fn report(names: &[&str]) -> String {
    let points = names.iter().zip(1..).map(|(name, id)| point(id, name, &[])).collect();
    let mut stored = stored(points, 40);
    stored.summary.description = "How long? <script>alert(2)</script>".to_owned();
    let drawn = plots(&stored, None, None);
    html(&stored, &drawn).unwrap()
}

#[test]
fn a_script_in_a_name_stays_text() {
    let evil = "</td><script>alert(1)</script>\" onload='x'";
    let page = report(&[evil, "pop 128"]);
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("onload='"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"));
    // The page's own script is the only one.
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn nothing_is_fetched() {
    let page = report(&["pop 1024", "pop 128"]);
    for link in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(link), "{link}");
    }
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_answer_is_in_figures_with_intervals() {
    let page = report(&["pop 1024", "pop 128"]);
    let answer = page.split("class=\"answer\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(answer.contains("With pop 128 the mean packet loss duration is 1.9"), "{answer}");
    assert!(
        answer.contains("7.0 times shorter") || answer.contains("7.00 times shorter"),
        "{answer}"
    );
    assert!(answer.contains("80 % of the pop 1024 time is notification queue"), "{answer}");
    assert!(answer.contains("expectations hold"), "{answer}");
}

#[test]
fn the_same_results_give_the_same_page() {
    assert_eq!(report(&["a", "b"]), report(&["a", "b"]));
}
