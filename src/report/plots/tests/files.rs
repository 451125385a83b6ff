//! What is written.

use super::*;
use crate::report::plots::style::{INK, text_width};

#[test]
fn the_same_results_give_the_same_bytes() {
    let points = || named(&["pop 1024", "pop 128", "pop 64"]);
    let svgs = |plots: Vec<Plot>| -> Vec<String> {
        plots.iter().map(|plot| plot.drawing.svg().unwrap()).collect()
    };
    let first = svgs(plots(&stored(points(), 40), None, None));
    assert_eq!(first, svgs(plots(&stored(points(), 40), None, None)));
    assert!(first.iter().all(|svg| svg.contains("<text") && !svg.contains("<image")));
}

#[test]
fn files_are_whole_and_named_after_what_they_show() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = plots(
        &stored(named(&["pop 1024", "pop 128"]), 12),
        Some(Kind::Attribution),
        Some("packet_loss_duration"),
    );
    let written = write(&drawn, folder.path()).unwrap();
    assert_eq!(written, [folder.path().join("attribution-packet-loss-duration.svg")]);
    let png = std::fs::read(written[0].with_extension("png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((size(16), size(20)), (1920, 800));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn the_bounds_of_a_text_are_where_it_stands() {
    let mark = Mark::Text {
        at: (100.0, 50.0),
        text: "0.5".to_owned(),
        size: 10.0,
        colour: INK,
        align: drawing::Align::Right,
    };
    let bounds = mark.bounds();
    assert_eq!((bounds.right, bounds.top, bounds.bottom), (100.0, 45.0, 55.0));
    assert!((bounds.left - (100.0 - text_width("0.5", 10.0))).abs() < 1e-9);
}
