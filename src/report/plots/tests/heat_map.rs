//! Grids of two parameters.

use super::*;

#[test]
fn a_heat_map_has_the_number_of_every_cell() {
    let drawn = plots(&stored(grid(), 12), Some(Kind::HeatMap), Some("packet_loss_duration"));
    let (_, cells) = &drawn[0].drawing.panels[0];
    let marks = &drawn[0].drawing.marks[cells.clone()];
    assert_eq!(marks.iter().filter(|mark| matches!(mark, Mark::Text { .. })).count(), 9);
    // Nothing expected of these points: no line.
    assert!(!marks.iter().any(|mark| matches!(mark, Mark::Line { .. })));
}

#[test]
fn a_heat_map_has_a_line_where_the_expected_bound_is_crossed() {
    let mut results = stored(grid(), 12);
    let figure = |point: &StoredPoint| point.figure("packet_loss_duration", Figure::Mean).value;
    let figures: Vec<f64> = results.summary.points.iter().map(figure).collect();
    let bound = f64::midpoint(figures[1], figures[2]);
    let in_grid = results.summary.points[4].configuration.clone();
    let expectation = &mut results.summary.expectations[0];
    (expectation.relative, expectation.at_most) = (false, Some(bound));
    (expectation.statistic, expectation.at_least) = ("mean".to_owned(), None);
    expectation.configuration = in_grid;
    results.summary.expectations.truncate(1);
    let drawn = plots(&results, Some(Kind::HeatMap), Some("packet_loss_duration"));
    let (_, cells) = &drawn[0].drawing.panels[0];
    let lines = drawn[0].drawing.marks[cells.clone()].iter();
    // Figures fall from point to point: two cells of the first row are above the bound.
    assert_eq!(lines.filter(|mark| matches!(mark, Mark::Line { .. })).count(), 3);
    assert!(texts(&drawn[0]).iter().any(|text| text.contains("; line: target")));
    // A range to be met is no target, nor is what is expected of a point that is not in the grid.
    let lines = |results: &Stored| {
        let drawn = plots(results, Some(Kind::HeatMap), Some("packet_loss_duration"));
        drawn[0].drawing.marks.iter().filter(|m| matches!(m, Mark::Line { width: 3.0, .. })).count()
    };
    assert_eq!(lines(&results), 3);
    results.summary.expectations[0].at_least = Some(0.0);
    assert_eq!(lines(&results), 0);
    results.summary.expectations[0].at_least = None;
    results.summary.expectations[0].configuration = "pop 1024".to_owned();
    assert_eq!(lines(&results), 0);
}

#[test]
fn the_lines_of_two_targets_are_told_apart() {
    let mut results = stored(grid(), 12);
    let figure = |point: &StoredPoint| point.figure("packet_loss_duration", Figure::Mean).value;
    let figures: Vec<f64> = results.summary.points.iter().map(figure).collect();
    let in_grid = results.summary.points[4].configuration.clone();
    results.summary.expectations.truncate(2);
    assert_eq!(results.summary.expectations.len(), 2);
    for (expectation, at) in results.summary.expectations.iter_mut().zip([1, 4]) {
        (expectation.relative, expectation.at_least) = (false, None);
        expectation.at_most = Some(f64::midpoint(figures[at], figures[at + 1]));
        expectation.metric = "packet_loss_duration".to_owned();
        expectation.statistic = "mean".to_owned();
        expectation.configuration = in_grid.clone();
    }
    let drawn = plots(&results, Some(Kind::HeatMap), Some("packet_loss_duration"));
    let lines: std::collections::BTreeSet<bool> = drawn[0]
        .drawing
        .marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::Line { width: 3.0, dash, .. } => Some(dash.is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(lines.len(), 2);
    let told = &texts(&drawn[0])[1];
    assert!(told.contains("; line: target ") && told.contains("; dashes: target "), "{told}");
}

/// The numbers in the cells of all pictures.
fn numbers(drawn: &[Plot]) -> usize {
    let of = |plot: &Plot| {
        let (_, cells) = &plot.drawing.panels[0];
        let text = |mark: &&Mark| matches!(mark, Mark::Text { text, .. } if !text.contains('…'));
        plot.drawing.marks[cells.clone()].iter().filter(text).count()
    };
    drawn.iter().map(of).sum()
}

#[test]
fn a_great_grid_goes_on_in_further_pictures_and_keeps_the_number_of_every_cell() {
    let drawn =
        plots(&stored(grid_of(40, 30), 2), Some(Kind::HeatMap), Some("packet_loss_duration"));
    assert_eq!(numbers(&drawn), 40 * 30);
    assert!(drawn.len() > 1 && drawn.len() <= 8, "{}", drawn.len());
    let note = format!("page 2 of {}; ", drawn.len());
    assert!(texts(&drawn[1])[1].starts_with(&note), "{:?}", texts(&drawn[1])[1]);
    let points: std::collections::BTreeSet<&str> =
        drawn.iter().flat_map(|p| &p.drawing.anchors).map(|a| a.point.as_str()).collect();
    assert_eq!(points.len(), 40 * 30);
}

#[test]
fn a_cell_without_value_has_a_dash_and_one_that_was_not_run_is_blank() {
    let metric = Some("packet_loss_duration");
    let said = |results: &Stored| {
        let drawn = plots(results, Some(Kind::HeatMap), metric);
        let subtitle = texts(&drawn[0])[1].clone();
        let dashes = texts(&drawn[0]).iter().filter(|text| *text == "–").count();
        (subtitle, dashes, numbers(&drawn))
    };
    let (subtitle, dashes, marks) = said(&stored(grid(), 12));
    assert!(!subtitle.contains('–') && !subtitle.contains("blank"), "{subtitle}");
    assert_eq!((dashes, marks), (0, 9));
    let (subtitle, dashes, marks) = said(&without_figures(stored(grid(), 12), &[4, 5]));
    assert!(subtitle.contains("; –: no value (2 of 9)"), "{subtitle}");
    assert_eq!((dashes, marks), (2, 9));
    let mut fewer = grid();
    fewer.remove(4);
    let (subtitle, dashes, marks) = said(&stored(fewer, 12));
    assert!(subtitle.contains("; blank: not run"), "{subtitle}");
    assert_eq!((dashes, marks), (0, 8));
}
