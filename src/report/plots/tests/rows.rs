//! Pictures with a row or a curve for each configuration.

use super::*;

#[test]
fn what_varies_in_no_replication_has_no_distribution() {
    let flat = stored(named_points(), 12);
    let has = |kind, metric| {
        plots(&flat, kind, Some(metric)).iter().any(|plot| plot.kind == Kind::Distribution)
    };
    assert!(has(None, "packet_loss_duration") && !has(None, "loop_iterations"));
    assert!(has(Some(Kind::Distribution), "loop_iterations"));
}

#[test]
fn a_bar_too_short_to_be_read_has_its_figure_beside_it() {
    let drawn = plots(&stored(named_points(), 40), Some(Kind::Attribution), None);
    let texts = texts(&drawn[0]);
    assert!(texts.iter().filter(|text| text.ends_with(" s")).count() >= 2, "{texts:?}");
}

/// Points of a sweep over two parameters: the legend and the rows differ, and are not cut.
#[test]
fn names_of_points_tell_them_apart() {
    let results = stored(grid(), 12);
    for kind in [Kind::Attribution, Kind::Difference, Kind::Distribution] {
        for plot in plots(&results, Some(kind), Some("packet_loss_duration")) {
            let texts = texts(&plot);
            let cut: Vec<&String> = texts.iter().filter(|text| text.ends_with('…')).collect();
            assert!(cut.is_empty(), "{kind:?}: {cut:?}");
        }
    }
}

#[test]
fn a_difference_of_shares_may_be_below_nothing() {
    let metric = "packet_loss_duration";
    let mut results = stored(named(&["a", "b"]), 12);
    results.take_as_complete();
    results.take_as_share(metric);
    for (point, pair) in [[0.1, 0.3], [0.32, 0.12]].into_iter().enumerate() {
        results.values[point].insert(metric.to_owned(), pair.repeat(6));
    }
    let told = texts(&plots(&results, Some(Kind::Difference), Some(metric))[0]);
    assert!(told.contains(&"difference (percentage points)".to_owned()), "{told:?}");
    assert_eq!(told.last().map(String::as_str), Some("2 ± 13"), "{told:?}");
}

#[test]
fn figures_that_differ_by_rounding_alone_have_no_difference() {
    let mut results = stored(named(&["pop 1024", "pop 128"]), 12);
    results.take_as_complete();
    let metric = "packet_loss_duration";
    let values = |noise: f64| (0..12).map(|n| (1.0 + f64::from(n)) * (0.1 + noise)).collect();
    results.values[0].insert(metric.to_owned(), values(0.0));
    results.values[1].insert(metric.to_owned(), values(3e-16));
    let drawn = plots(&results, Some(Kind::Difference), Some(metric));
    assert_eq!(texts(&drawn[0]).last().map(String::as_str), Some("0"));
    assert!(!texts(&drawn[0]).iter().any(|text| text.contains("e-")), "{:?}", texts(&drawn[0]));
}

#[test]
fn what_is_left_out_is_said() {
    let names: Vec<String> = (0..40).map(|n| format!("c{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for plot in plots(&stored(named(&names), 12), None, Some("packet_loss_duration")) {
        let said = |text: &String| text.contains("of 40 configurations, evenly spread");
        let shows_some = [Kind::Attribution, Kind::Difference, Kind::Distribution];
        assert!(!shows_some.contains(&plot.kind) || texts(&plot).iter().any(said), "{}", plot.name);
    }
}

#[test]
fn rows_that_do_not_fit_into_one_picture_go_on_in_the_next() {
    let names: Vec<String> = (0..20).map(|n| format!("configuration {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let results = stored(named(&names), 12);
    for (kind, first) in [(Kind::Attribution, 0), (Kind::Difference, 1)] {
        let drawn = plots(&results, Some(kind), Some("packet_loss_duration"));
        assert_eq!(drawn.len(), 2, "{kind:?}");
        let all: Vec<String> = drawn.iter().flat_map(texts).collect();
        assert!(names[first..].iter().all(|name| all.iter().any(|text| text == name)), "{all:?}");
        assert!(texts(&drawn[0])[1].starts_with("page 1 of 2"), "{:?}", texts(&drawn[0]));
        // One axis, so that bars of both can be compared.
        let ticks = |plot: &Plot| -> Vec<String> {
            let number = |text: &String| text.parse::<f64>().is_ok();
            texts(plot).into_iter().filter(number).collect()
        };
        assert_eq!(ticks(&drawn[0]), ticks(&drawn[1]), "{kind:?}");
    }
}

#[test]
fn a_distribution_says_what_has_no_figure_and_what_has_one_in_part_of_the_replications() {
    let metric = "packet_loss_duration";
    let three = stored(named(&["pop 1024", "pop 128", "pop 64"]), 12);
    let mut results = without_figures(three, &[2]);
    results.values[1].get_mut(metric).unwrap()[3] = f64::NAN;
    let drawn = plots(&results, Some(Kind::Distribution), Some(metric));
    let said = texts(&drawn[0]);
    for text in ["pop 1024", "pop 128 (figure in 11 of 12)", "pop 64: no figure"] {
        assert!(said.contains(&text.to_owned()), "{text}: {said:?}");
    }
}

#[test]
fn a_lone_configuration_is_in_the_distribution_as_in_the_bars() {
    let mut points = named(&["as it stands"]);
    points.extend(swept("", &[64, 128, 256, 512]));
    let results = stored(points, 12);
    for kind in [Kind::Attribution, Kind::Distribution] {
        let drawn = plots(&results, Some(kind), Some("packet_loss_duration"));
        let told = texts(&drawn[0]);
        assert!(told.iter().any(|text| text.contains("as it stands")), "{kind:?}: {told:?}");
    }
}

#[test]
fn parts_of_a_bar_are_told_apart_without_colour() {
    let drawn = plots(&stored(named_points(), 12), Some(Kind::Attribution), None);
    let (_, data) = &drawn[0].drawing.panels[0];
    let marks = &drawn[0].drawing.marks[data.clone()];
    let border = |mark: &&Mark| matches!(mark, Mark::Line { colour: style::PAPER, .. });
    let parts = marks.iter().filter(|mark| matches!(mark, Mark::Box { .. })).count();
    let borders = marks.iter().filter(border).count();
    assert!(borders > 0 && borders <= parts, "{borders} of {parts}");
}
