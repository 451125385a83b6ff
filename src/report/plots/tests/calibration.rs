//! What was measured beside what came out.

use super::*;

#[test]
fn recordings_are_held_beside_the_simulated_quantiles() {
    let kind = Some(Kind::Calibration);
    let drawn = plots(&recorded(3, 7), kind, None);
    let expected = ["quantiles", "measured"];
    let expected = expected.map(|form| format!("calibration-{form}-packet-loss-duration"));
    assert_eq!(names_of(&drawn), expected);
    assert_eq!(drawn[0].drawing.panels.len(), 3);
    // Seven values have a median and no 99th percentile.
    let named = |text: &str| texts(&drawn[0]).iter().filter(|known| *known == text).count();
    assert_eq!((named("p50"), named("p90"), named("p99")), (3, 0, 0));
    let many = plots(&recorded(1, 150), kind, None);
    assert!(["p50", "p90", "p99"].iter().any(|name| texts(&many[0]).contains(&(*name).to_owned())));
    let dots = |colour| move |m: &&Mark| matches!(m, Mark::Dot { colour: c, .. } if *c == colour);
    assert_eq!(many[0].drawing.marks.iter().filter(dots(style::colour(1))).count(), 3);
    // One value is a figure and no distribution; without any there is no picture.
    let once = plots(&recorded(2, 1), kind, None);
    assert_eq!(names_of(&once), expected[1..]);
    assert!(plots(&stored(named_points(), 12), kind, Some("notification_wait")).is_empty());
}

#[test]
fn what_was_measured_of_an_expectation_is_held_beside_what_came_out() {
    // The made-up expectations of "pop 1024": 12 to 15 s measured.
    let drawn = plots(&stored(named_points(), 40), Some(Kind::Calibration), None);
    assert_eq!(names_of(&drawn), ["calibration-measured-packet-loss-duration"]);
    let texts = texts(&drawn[0]);
    assert!(texts.contains(&"pop 1024".to_owned()), "{texts:?}");
    assert!(texts.contains(&"mean packet loss duration".to_owned()), "{texts:?}");
}

#[test]
fn what_misses_has_a_ring_around_its_dot_in_the_picture_and_in_the_legend() {
    let mut results = stored(named_points(), 40);
    let dots = |results: &Stored| {
        let drawn = plots(results, Some(Kind::Calibration), None);
        let marks = drawn[0].drawing.marks.iter();
        let dot = |mark: &Mark| match mark {
            Mark::Dot { radius, colour, .. } => Some((*colour, *radius > frame::DOT)),
            _ => None,
        };
        marks.filter_map(dot).collect::<Vec<_>>()
    };
    let outer = (style::TARGET, true);
    let count = |dots: &[_], which| dots.iter().filter(|dot| **dot == which).count();
    results.summary.expectations.iter_mut().for_each(|e| e.verdict = "ok".to_owned());
    let held = dots(&results);
    assert_eq!(count(&held, outer), 0);
    results.summary.expectations.iter_mut().for_each(|e| e.verdict = "MISSED".to_owned());
    let missed = dots(&results);
    // No mark of the legend is a dot in the colour of the ring; paper keeps both apart.
    assert!(count(&missed, outer) >= 2);
    assert_eq!(count(&missed, outer), count(&missed, (style::PAPER, true)));
    assert_eq!(missed.len(), held.len() + 2 * count(&missed, outer));
}

#[test]
fn many_recordings_take_several_pictures_and_none_is_left_out() {
    let drawn = plots(&recorded(12, 150), Some(Kind::Calibration), None);
    let quantiles: Vec<&Plot> =
        drawn.iter().filter(|plot| plot.name.contains("quantiles")).collect();
    assert_eq!(quantiles.len(), 4);
    assert_eq!(quantiles.iter().map(|plot| plot.drawing.panels.len()).sum::<usize>(), 12);
}
