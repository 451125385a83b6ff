//! A metric against what is swept.

use super::*;

#[test]
fn three_parameters_at_once_have_a_panel_each() {
    let drawn = plots(&stored(cube(), 12), Some(Kind::Sweep), Some("packet_loss_duration"));
    assert_eq!(names_of(&drawn), ["sweep-packet-loss-duration"]);
    assert_eq!(drawn[0].drawing.panels.len(), 3);
    let texts = texts(&drawn[0]);
    let held = "of the others each at: count = 1, messages = 1, pop batch size = 64";
    assert!(texts.iter().any(|text| text == held), "{texts:?}");
    // Each panel has the three points of its parameter.
    let dots = drawn[0].drawing.marks.iter().filter(|mark| matches!(mark, Mark::Dot { .. }));
    assert_eq!(dots.count(), 9);
}

#[test]
fn sampled_points_are_no_grid_and_are_all_shown() {
    let results = stored(sampled(), 12);
    assert!(plots(&results, Some(Kind::HeatMap), None).is_empty());
    let drawn = plots(&results, Some(Kind::Sweep), Some("packet_loss_duration"));
    let dots = drawn[0].drawing.marks.iter().filter(|mark| matches!(mark, Mark::Dot { .. }));
    // And one in the legend.
    assert_eq!(dots.count(), 2 * 31 + 1);
}

#[test]
fn points_without_a_figure_are_said_to_have_none() {
    let metric = "packet_loss_duration";
    let said = |results: &_, kind| {
        let drawn = plots(results, Some(kind), Some(metric));
        texts(&drawn[0])
    };
    let one = swept("", &[32, 64, 128, 256]);
    let results = without_figures(stored(one, 12), &[2, 3]);
    let told = said(&results, Kind::Sweep);
    assert!(told[1].ends_with("; no value at 128, 256"), "{told:?}");
    let mut eras = swept("era A, ", &[64, 128]);
    eras.extend(swept("era B, ", &[64, 128]));
    let told = said(&without_figures(stored(eras, 12), &[3]), Kind::Sweep);
    assert!(told[1].ends_with("; no value at 128 (era B)"), "{told:?}");
    let many: Vec<u64> = (1..=12).collect();
    let told = said(
        &without_figures(stored(swept("", &many), 12), &[1, 2, 3, 4, 5, 6, 7, 8]),
        Kind::Sweep,
    );
    assert!(told[1].ends_with("; no value at 2, 3, 4, 5, 6, 7 and 2 more"), "{told:?}");
    let told = said(&without_figures(stored(sampled(), 12), &[4]), Kind::Sweep);
    assert!(told[1].starts_with("no value at 1 of 31 points; "), "{told:?}");

    let three = || stored(named(&["pop 1024", "pop 128", "pop 64"]), 12);
    for kind in [Kind::Difference, Kind::Attribution] {
        let has = |text: &str, told: &[String]| told.iter().filter(|t| *t == text).count();
        let told = said(&without_figures(three(), &[2]), kind);
        assert_eq!((has("pop 64", &told), has("no figure", &told)), (1, 1), "{told:?}");
        assert_eq!(has("no figure", &said(&three(), kind)), 0);
    }
    let none = without_figures(three(), &[1, 2]);
    assert!(plots(&none, Some(Kind::Difference), Some(metric)).is_empty());
}

#[test]
fn a_legend_says_nothing_of_what_cannot_be_seen() {
    let mut results = stored(swept("", &[32, 64, 128, 256]), 12);
    let entries = |results: &Stored| {
        texts(&plots(results, Some(Kind::Sweep), Some("packet_loss_duration"))[0])
    };
    let band = "95 % interval of the mean".to_owned();
    assert!(entries(&results).contains(&band));
    // One dashed line is drawn, and one stands for it in the legend.
    let dashed = |results: &Stored| {
        let drawn = plots(results, Some(Kind::Sweep), Some("packet_loss_duration"));
        let marks = drawn[0].drawing.marks.iter();
        marks.filter(|mark| matches!(mark, Mark::Line { dash: Some(_), .. })).count()
    };
    assert_eq!(dashed(&results), 2);
    for point in &mut results.summary.points {
        point.forget_spread();
    }
    let without = entries(&results);
    assert!(!without.contains(&band) && !without.contains(&"95th percentile".to_owned()));
    assert_eq!(dashed(&results), 0);
}

#[test]
fn an_interval_is_not_drawn_where_no_figure_can_be() {
    let mut results = stored(swept("", &[32, 64, 128, 256]), 12);
    for point in &mut results.summary.points {
        point.set_interval("packet_loss_duration", -8.0, 30.0);
    }
    let drawn = plots(&results, Some(Kind::Sweep), Some("packet_loss_duration"));
    let texts = texts(&drawn[0]);
    assert!(texts.iter().all(|text| !text.starts_with('-')), "{texts:?}");
    assert!(texts.iter().any(|text| text == "0"), "{texts:?}");
}

#[test]
fn what_was_measured_is_marked_with_its_source() {
    let mut points = named(&["pop 1024"]);
    points.extend(swept("", &[64, 128, 1024]));
    points[0].id = points[3].id;
    let drawn = plots(&stored(points, 40), Some(Kind::Sweep), Some("packet_loss_duration"));
    let texts = texts(&drawn[0]);
    assert!(texts.iter().any(|text| text.starts_with("measured: sonic-buildimage")), "{texts:?}");
}

/// The lines of curves of the mean.
fn curves(drawn: &Drawing) -> Vec<Vec<(f64, f64)>> {
    let (_, data) = &drawn.panels[0];
    let curve = |mark: &Mark| match mark {
        Mark::Line { points, width, .. } if *width == style::CURVE => Some(points.clone()),
        _ => None,
    };
    drawn.marks[data.clone()].iter().filter_map(curve).collect()
}

#[test]
fn a_curve_has_a_gap_and_a_cross_where_a_point_in_its_middle_has_no_value() {
    let metric = Some("packet_loss_duration");
    let whole = stored(swept("", &[32, 64, 128, 256, 512]), 12);
    let drawn = plots(&whole, Some(Kind::Sweep), metric);
    assert_eq!(curves(&drawn[0].drawing).len(), 1);
    assert!(!texts(&drawn[0]).contains(&"no value".to_owned()));
    let drawn = plots(&without_figures(whole, &[2]), Some(Kind::Sweep), metric);
    let curves = curves(&drawn[0].drawing);
    assert_eq!(curves.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let (area, data) = &drawn[0].drawing.panels[0];
    let middle = f64::midpoint(area.left, area.right);
    for mark in &drawn[0].drawing.marks[data.clone()] {
        let Area { left, right, bottom, .. } = mark.bounds();
        // Neither the curve nor its band nor the 95th percentile passes; only the cross is there.
        let cross = right - left < 8.0 && area.bottom - bottom < 2.0;
        assert!(cross || right < middle || left > middle, "{mark:?}");
    }
    assert!(texts(&drawn[0]).contains(&"no value".to_owned()));
}

#[test]
fn curves_that_do_not_fit_into_one_picture_go_on_in_the_next_with_the_same_axis() {
    let drawn = plots(&stored(many_curves(), 2), Some(Kind::Sweep), Some("packet_loss_duration"));
    let stem = "sweep-packet-loss-duration";
    assert_eq!(names_of(&drawn), [stem.to_owned(), format!("{stem}-2"), format!("{stem}-3")]);
    let all: Vec<String> = drawn.iter().flat_map(texts).collect();
    let entries = all.iter().filter(|text| text.starts_with("pop 1024, pruned")).count();
    assert_eq!(entries, 25);
    for (index, plot) in drawn.iter().enumerate() {
        let note = format!("page {} of 3; ", index + 1);
        assert!(texts(plot)[1].starts_with(&note), "{:?}", texts(plot));
    }
    let highest = |plot: &Plot| plot.drawing.panels[0].0.top;
    assert!(drawn.iter().all(|plot| highest(plot) == highest(&drawn[0])));
}

#[test]
fn curves_that_lie_on_each_other_share_an_entry_of_the_legend() {
    let mut eras = swept("era A, ", &[32, 64, 128]);
    eras.extend(swept("era B, ", &[32, 64, 128]));
    let mut results = stored(eras, 12);
    let legend = |results: &Stored| {
        let drawn = plots(results, Some(Kind::Sweep), Some("packet_loss_duration"));
        let curves =
            |mark: &&Mark| matches!(mark, Mark::Line { width, .. } if *width == style::CURVE);
        let lines = drawn[0].drawing.marks.iter().filter(curves).count();
        let named = |text: &String| text.starts_with("era ");
        (texts(&drawn[0]).into_iter().filter(named).collect::<Vec<_>>(), lines)
    };
    let (apart, lines) = legend(&results);
    assert_eq!(apart, ["era A", "era B"]);
    results.summary.points.iter_mut().for_each(|point| point.set_all(3.0));
    // A curve less in the panel, and one in the legend.
    assert_eq!(legend(&results), (vec!["era A = era B".to_owned()], lines - 2));

    let mut results = stored(named(&["pop 1024", "pop 128"]), 12);
    results.values[1] = results.values[0].clone();
    let drawn = plots(&results, Some(Kind::Distribution), Some("packet_loss_duration"));
    assert!(texts(&drawn[0]).contains(&"pop 1024 = pop 128".to_owned()), "{:?}", texts(&drawn[0]));

    let names = ["pop 1024, era B2, with slow BGP", "pop 1024, era A, with slow BGP", "pop 128"];
    let mut results = stored(named(&names), 12);
    let first = results.values[0].clone();
    results.values.fill(first);
    let said = texts(&plots(&results, Some(Kind::Distribution), Some("packet_loss_duration"))[0]);
    let found = said.join(" ");
    for name in names {
        assert!(found.contains(name), "{name}: {said:?}");
    }
    assert!(found.contains("= pop 1024, era A"), "{said:?}");
}

#[test]
fn what_is_always_zero_is_drawn_only_when_it_is_asked_for() {
    let mut results = stored(named(&["pop 1024", "pop 128"]), 12);
    for values in results.values.iter_mut().filter_map(|all| all.get_mut("loop_iterations")) {
        values.fill(0.0);
    }
    results.summary.points.iter_mut().for_each(|point| point.set_one("loop_iterations", 0.0));
    assert_eq!(
        flat(&results).iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        ["loop_iterations"]
    );
    let of = |metric: Option<&str>| {
        let drawn = plots(&results, None, metric);
        drawn.into_iter().filter(|plot| plot.metric == "loop_iterations").count()
    };
    assert_eq!(of(None), 0);
    assert!(of(Some("loop_iterations")) > 0);
}

#[test]
fn a_curve_over_an_axis_is_not_called_by_one_value_of_it() {
    let points = |base: &str| {
        let one = |(size, id): (u64, u64)| {
            let name = format!("{base}, agent.workers={size}");
            point(id, &name, &[("agent.workers", size)])
        };
        [1, 4, 16].into_iter().zip(100..).map(one).collect::<Vec<_>>()
    };
    let legend = |base: &str| {
        let drawn =
            plots(&stored(points(base), 12), Some(Kind::Sweep), Some("packet_loss_duration"));
        texts(&drawn[0])
    };
    let has = |base: &str, name: &str| legend(base).iter().any(|text| text == name);
    assert!(has("busy host, 8 workers", "busy host") && has("8 workers", "mean"));
    assert!(has("8 routers", "8 routers"), "{:?}", legend("8 routers"));
}

#[test]
fn recorded_values_of_a_swept_point_are_drawn_with_their_source() {
    let mut results = stored(swept("", &[64, 128, 1024]), 40);
    let drawn = |results: &Stored| {
        let drawn = plots(results, Some(Kind::Sweep), Some("packet_loss_duration"));
        texts(&drawn[0]).iter().any(|text| text.starts_with("measured: lab"))
    };
    assert!(!drawn(&results));
    results.summary.recorded.push(StoredRecorded {
        configuration: results.summary.points[1].configuration.clone(),
        metric: "packet_loss_duration".to_owned(),
        values: vec![1.0, 2.0, 4.0],
        source: "lab".to_owned(),
    });
    assert!(drawn(&results));
}

#[test]
fn what_is_expected_of_one_of_several_curves_is_shaded_in_its_colour() {
    let shades = |points: Vec<Point>, at: usize| -> Vec<plotters::style::RGBColor> {
        let mut results = stored(points, 12);
        let configuration = results.summary.points[at].configuration.clone();
        results.summary.expectations.truncate(1);
        let expectation = &mut results.summary.expectations[0];
        (expectation.relative, expectation.at_least) = (false, Some(1.0));
        (expectation.statistic, expectation.configuration) = ("mean".to_owned(), configuration);
        let drawn = plots(&results, Some(Kind::Sweep), Some("packet_loss_duration"));
        let (_, data) = &drawn[0].drawing.panels[0];
        let shade = |mark: &Mark| match mark {
            Mark::Box { colour, opacity, .. } if *opacity == 0.35 => Some(*colour),
            _ => None,
        };
        drawn[0].drawing.marks[data.clone()].iter().filter_map(shade).collect()
    };
    let mut eras = swept("era A, ", &[64, 128, 256]);
    eras.extend(swept("era B, ", &[32, 512]));
    eras.iter_mut().zip(1..).for_each(|(point, id)| point.id = id);
    assert_eq!(shades(eras, 4), [style::colour(1)]);
    assert_eq!(shades(swept("", &[64, 128]), 1), [style::EXPECTED]);
}

#[test]
fn what_has_no_figure_at_any_point_is_not_drawn() {
    for points in [swept("", &[64, 128, 1024]), grid(), cube(), sampled()] {
        let all: Vec<usize> = (0..points.len()).collect();
        let none = without_figures(stored(points, 3), &all);
        for kind in [Kind::Sweep, Kind::HeatMap] {
            assert!(plots(&none, Some(kind), Some("packet_loss_duration")).is_empty());
        }
    }
}
