//! What a list of marks becomes.

use super::*;
use crate::report::plots::style::INK;

#[test]
fn dashes_cover_their_share_of_a_line() {
    let pieces = dashes(&[(0.0, 0.0), (25.0, 0.0), (25.0, 35.0)], (6.0, 4.0));
    assert_eq!(pieces.len(), 6);
    assert_eq!(pieces[0], [(0.0, 0.0), (6.0, 0.0)]);
    // The third dash ends in the first leg, the fourth begins in the second.
    assert_eq!(pieces[2], [(20.0, 0.0), (25.0, 0.0), (25.0, 1.0)]);
}

#[test]
fn text_in_an_svg_is_text_and_is_escaped() {
    let mut drawing = Drawing::new((200.0, 50.0));
    drawing.text((10.0, 10.0), "<script>alert(1)</script> & \"so\"", INK, Align::Left);
    let svg = drawing.svg().unwrap();
    assert!(svg.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;so&quot;"));
    assert!(svg.contains("width=\"200\" height=\"50\" viewBox=\"0 0 800 200\""));
    assert_eq!(svg, drawing.svg().unwrap());
}

#[test]
fn a_letter_that_the_font_lacks_is_a_box_in_a_bitmap_and_itself_in_an_svg() {
    let painted = |text: &str| {
        let mut drawing = Drawing::new((60.0, 30.0));
        drawing.text((10.0, 15.0), text, INK, Align::Left);
        (drawing.pixels().unwrap().1, drawing.svg().unwrap(), drawing.letters_without_glyph())
    };
    let (pixels, svg, missing) = painted("交 Ж");
    assert_eq!(pixels, painted("□ Ж").0);
    assert_ne!(pixels, painted("Ж").0);
    assert!(svg.contains('交'));
    assert_eq!(missing, BTreeSet::from(['交']));
}

#[test]
fn a_line_that_goes_up_and_down_within_its_width_is_seen_in_a_bitmap() {
    let mut drawing = Drawing::new((100.0, 50.0));
    // Spikes of no width, and of less than that of the line.
    let mut points = vec![(5.0, 40.0)];
    for (x, width) in [(20.0, 0.0), (40.0, 0.3), (60.0, 1.0), (80.0, 1.4)] {
        points.extend([(x, 40.0), (x, 10.0), (x + width, 10.0), (x + width, 40.0)]);
    }
    points.push((95.0, 40.0));
    drawing.line(points, INK, 1.5);
    let ((wide, high), pixels) = drawing.pixels().unwrap();
    assert_eq!((wide, high), (200, 100));
    let dark = |x: usize, y: usize| pixels[(y * wide as usize + x) * 3] < 100;
    for x in [20, 40, 60, 80] {
        assert!((20..80).all(|y| dark(2 * x, y) || dark(2 * x - 1, y)), "the spike at {x}");
    }
    assert!((10..190).all(|x| dark(x, 79) || dark(x, 80)), "the base");
    assert!(!(0..wide as usize).any(|x| dark(x, 16)), "above");
}
