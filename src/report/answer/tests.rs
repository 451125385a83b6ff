//! What the sentences say of figures that are made up.

use super::{sentences, words};
use crate::report::stored::Stored;
use crate::report::tests::{point, stored};

/// Results of configurations whose figures are `values` in every replication.
fn results(values: &[(&str, f64)]) -> Stored {
    let points = values.iter().zip(1..).map(|((name, _), id)| point(id, name, &[]));
    let mut stored = stored(points.collect(), 40);
    stored.take_as_complete();
    for (index, (_, value)) in values.iter().enumerate() {
        stored.summary.points[index].set_all(*value);
        for kept in stored.values[index].values_mut() {
            kept.fill(*value);
        }
    }
    stored
}

fn first_sentence(values: [f64; 2]) -> String {
    sentences(&results(&[("pop 1024", values[0]), ("pop 128", values[1])])).swap_remove(0)
}

#[test]
fn what_is_nothing_or_the_same_is_told_as_such() {
    let nothing = first_sentence([13.4, 0.0]);
    assert!(nothing.ends_with("is 0 s, with “pop 1024” it is 13.4 s."), "{nothing}");
    let same = first_sentence([2.0, 2.0]);
    let equal = "With “pop 1024” and with “pop 128” the mean packet loss duration is equal: 2 s.";
    assert_eq!(same, equal);
    let exact = first_sentence([4.0, 2.0]);
    assert!(exact.ends_with("it is 4 s: 2.00 times shorter."), "{exact}");
}

#[test]
fn what_has_no_figure_is_said_to_have_none() {
    let first = first_sentence([f64::NAN, 2.0]);
    let expected =
        "With “pop 128” the mean packet loss duration is 2 s; with “pop 1024” there is none.";
    assert_eq!(first, expected);
    let second = first_sentence([2.0, f64::NAN]);
    assert!(second.ends_with("is 2 s; with “pop 128” there is none."), "{second}");
}

#[test]
fn two_that_are_equal_in_the_first_metric_are_compared_in_the_next_that_differs() {
    let mut stored = results(&[("pop 1024", 2.0), ("pop 128", 2.0)]);
    let next = stored.main_columns()[1].name.clone();
    stored.summary.points[1].set_one(&next, 8.0);
    stored.values[1].insert(next, vec![8.0; 40]);
    let told = sentences(&stored);
    assert!(told[0].contains("is equal: 2 s"), "{told:?}");
    assert!(told[1].contains("with “pop 1024” it is 2"), "{told:?}");
    assert!(told[1].ends_with(": 4.00 times longer.") || told[1].ends_with("larger."), "{told:?}");
    let same = sentences(&results(&[("a", 2.0), ("b", 2.0)]));
    assert_eq!(same[1], "The two do not differ in any metric of the table.");
}

#[test]
fn the_least_and_the_greatest_that_several_share_are_said_to_be_alike() {
    let values = [("a", 0.0), ("b", 0.0), ("c", 3.0), ("d", 3.0), ("e", 3.0), ("f", 1.0)];
    let told = sentences(&results(&values));
    let expected = "Of the 6 configurations the mean packet loss duration is least with “a” and “b” \
                    alike, 0 s, and greatest with “c” and 2 others alike, 3 s.";
    assert_eq!(told[0], expected);
}

#[test]
fn of_many_cases_none_is_the_question_unless_an_expectation_sets_it_against_the_first() {
    let values = [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0), ("e", 5.0)];
    let mut stored = results(&values);
    assert!(sentences(&stored)[0].starts_with("Of the 5 configurations the mean"));
    stored.manifest["resolved"]["expect"] = serde_json::json!([
        { "configuration": "c", "metric": "packet_loss_duration", "ratio_to": "b" },
        { "configuration": "d", "metric": "packet_loss_duration", "ratio_to": "a" },
    ]);
    let told = sentences(&stored);
    assert!(told[0].starts_with("With “d” the mean packet loss duration is 4 s"), "{told:?}");
    assert!(told[1].starts_with("Of the 5 configurations it is least with “a”, 1 s"), "{told:?}");
}

#[test]
fn five_configurations_that_are_all_equal_are_said_to_be() {
    let told = sentences(&results(&[("a", 2.0), ("b", 2.0), ("c", 2.0), ("d", 2.0), ("e", 2.0)]));
    let expected = "With all 5 configurations the mean packet loss duration is equal: 2 s.";
    assert_eq!(told[0], expected);
}

#[test]
fn what_was_compared_is_not_told_again_as_least_and_greatest() {
    let told = sentences(&results(&[("a", 4.0), ("b", 2.0), ("c", 3.0)]));
    assert!(!told.iter().any(|text| text.contains("least")), "{told:?}");
    let told = sentences(&results(&[("a", 4.0), ("b", 2.0), ("c", 5.0)]));
    assert!(told[1].starts_with("Of the 3 configurations it is least with “b”"), "{told:?}");
}

#[test]
fn what_is_undecided_is_not_said_to_be_missed() {
    let mut stored = results(&[("pop 1024", 13.4), ("pop 128", 2.0)]);
    let told = |stored: &Stored| sentences(stored).pop().unwrap();
    let set = |stored: &mut Stored, verdicts: [&str; 4]| {
        stored.summary.expectations.truncate(4);
        for (expectation, verdict) in stored.summary.expectations.iter_mut().zip(verdicts) {
            (expectation.verdict, expectation.expected) = (verdict.to_owned(), "x".to_owned());
        }
    };
    set(&mut stored, ["held", "held", "MISSED", "undecided"]);
    assert_eq!(told(&stored), "2 of 4 expectations hold; missed: x; undecided: x.");
    set(&mut stored, ["held", "undecided", "undecided", "undecided"]);
    assert_eq!(told(&stored), "1 of 4 expectations holds; undecided: 3 of them.");
    set(&mut stored, ["held"; 4]);
    assert_eq!(told(&stored), "All 4 expectations hold.");
}

#[test]
fn a_point_of_a_sweep_is_called_by_what_is_swept() {
    let axes = [("orchagent.pop_batch_size", 32)];
    let swept = point(1, "era A, orchagent.pop_batch_size=32", &axes);
    let stored = stored(vec![swept], 12);
    assert_eq!(words::name(&stored.summary.points[0]), "“era A”, pop_batch_size = 32");
}
