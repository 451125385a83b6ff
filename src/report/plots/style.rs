//! How all pictures look: size, colours, letters. Nothing else in the program picks a colour.

use std::borrow::Cow;
use std::sync::OnceLock;

use ab_glyph::{Font as _, FontRef};
use plotters::style::{FontDesc, FontFamily, FontStyle, RGBColor, register_font};

/// Width of a picture, in pixels of a slide.
pub const WIDTH: f64 = 960.0;
/// Height of a picture; those with a bar for each configuration may be taller.
pub const HEIGHT: f64 = 400.0;
/// Space around a picture.
pub const MARGIN: f64 = 18.0;
/// Size of the title's letters.
pub const TITLE: f64 = 17.0;
/// Size of all other letters.
pub const TEXT: f64 = 13.0;
/// Width of a curve.
pub const CURVE: f64 = 2.2;
/// Opacity of an interval band.
pub const BAND: f64 = 0.18;

/// Letters and axes.
pub const INK: RGBColor = RGBColor(34, 38, 43);
/// What is less important.
pub const MUTED: RGBColor = RGBColor(92, 99, 107);
/// The grid.
pub const GRID: RGBColor = RGBColor(222, 226, 230);
/// Behind everything.
pub const PAPER: RGBColor = RGBColor(255, 255, 255);
/// What an expectation allows.
pub const EXPECTED: RGBColor = RGBColor(0, 158, 115);

/// The line between what meets a target and what does not.
pub const TARGET: RGBColor = RGBColor(213, 94, 0);

/// The palette of Okabe and Ito (Color Universal Design, 2008), which readers with any kind of
/// colour vision can tell apart, without its yellow, which is too pale for lines on white, and
/// with a grey.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(112, 112, 112),
];

/// The colour of the series number `index`.
#[must_use]
pub fn colour(index: usize) -> RGBColor {
    PALETTE[index % PALETTE.len()]
}

/// Colours of areas beside each other: those of the palette without the grey, then its yellow and
/// black, which an area can have, and darker ones of other lightness than their neighbours.
const AREAS: [RGBColor; 12] = [
    PALETTE[0],
    PALETTE[1],
    PALETTE[2],
    PALETTE[3],
    PALETTE[4],
    PALETTE[5],
    RGBColor(240, 228, 66),
    RGBColor(40, 40, 40),
    RGBColor(120, 48, 0),
    RGBColor(170, 210, 170),
    RGBColor(100, 40, 110),
    RGBColor(0, 80, 70),
];

/// The colour of the area number `index`.
#[must_use]
pub fn area_colour(index: usize) -> RGBColor {
    AREAS[index % AREAS.len()]
}

/// Colours for thin lines among areas of the colours `taken`, dark enough to show on white.
pub fn line_colours(taken: &[RGBColor]) -> impl Iterator<Item = RGBColor> {
    const PALE: f64 = 0.5;
    let free = |colour: &RGBColor| !taken.contains(colour) && relative_luminance(*colour) < PALE;
    AREAS.into_iter().filter(free)
}

/// How many areas can be told apart.
pub const MOST_AREAS: usize = AREAS.len();

/// The colour of what has no name of its own.
pub const OTHER: RGBColor = PALETTE[6];

/// Dashes of curves: as many as have no divisor in common with the colours, so that those of one
/// colour differ in them, too.
const DASHES: [Option<(f64, f64)>; 5] =
    [None, Some((14.0, 5.0)), Some((2.5, 3.0)), Some((5.0, 7.0)), Some((9.0, 3.0))];

/// The dashes of the series number `index`: also without colours neighbours are told apart.
#[must_use]
pub fn dash(index: usize) -> Option<(f64, f64)> {
    DASHES[index % DASHES.len()]
}

/// How many series can be told apart.
pub const MOST_SERIES: usize = 3 * PALETTE.len();

/// The colour of a cell of a heat map: `share` 0 is pale, 1 is dark; lightness falls steadily.
#[must_use]
pub fn heat(share: f64) -> RGBColor {
    const STOPS: [(f64, f64, f64); 4] =
        [(247.0, 249.0, 252.0), (158.0, 202.0, 225.0), (49.0, 130.0, 189.0), (8.0, 48.0, 107.0)];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let first = (at as usize).min(STOPS.len() - 2);
    let (from, to, part) = (STOPS[first], STOPS[first + 1], at - first as f64);
    let mix = |a: f64, b: f64| (a + (b - a) * part).round() as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Of a colour of sRGB (WCAG 2.2).
fn relative_luminance(RGBColor(red, green, blue): RGBColor) -> f64 {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { libm::pow((share + 0.055) / 1.055, 2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

/// The colour of letters on [`heat`] of the same share.
#[must_use]
pub fn on_heat(share: f64) -> RGBColor {
    let ground = relative_luminance(heat(share));
    let contrast = |ink: RGBColor| {
        let ink = relative_luminance(ink);
        (ink.max(ground) + 0.05) / (ink.min(ground) + 0.05)
    };
    if contrast(PAPER) > contrast(INK) { PAPER } else { INK }
}

/// DejaVu Sans, cut down to Latin, Greek, Cyrillic and a few signs.
const FONT: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");

/// Ascent and descent of the font in its em: what the bitmap backend takes for its size.
pub const FONT_HEIGHT: f64 = 0.928 + 0.236;

/// The font of all letters. It is part of the program, so that pictures do not depend on the
/// fonts of a machine; an SVG names the family, and a browser takes its own.
#[must_use]
pub fn font(size: f64) -> FontDesc<'static> {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    REGISTERED.get_or_init(|| {
        // A font that is part of the program can be read; a test makes sure.
        let _ = register_font("sans-serif", FontStyle::Normal, FONT);
    });
    FontDesc::new(FontFamily::SansSerif, size, FontStyle::Normal)
}

/// Stands for a letter that the font lacks.
const REPLACEMENT: char = '□';

/// Whether the font has `letter`.
#[must_use]
pub fn has(letter: char) -> bool {
    static FACE: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    let face = FACE.get_or_init(|| FontRef::try_from_slice(FONT).ok());
    face.as_ref().is_none_or(|face| face.glyph_id(letter).0 != 0)
}

/// `text` in letters that the font has: a box stands for each other one, so that none vanishes.
#[must_use]
pub fn in_font(text: &str) -> Cow<'_, str> {
    if text.chars().all(has) {
        return Cow::Borrowed(text);
    }
    let known = |letter: char| if has(letter) { letter } else { REPLACEMENT };
    Cow::Owned(text.chars().map(known).collect())
}

/// Width of `text` in letters of `size`.
#[must_use]
pub fn text_width(text: &str, size: f64) -> f64 {
    // Layout is in whole pixels; large letters lose less by it.
    const ZOOM: f64 = 8.0;
    font(size * FONT_HEIGHT * ZOOM)
        .box_size(&in_font(text))
        .map_or(0.0, |(width, _)| f64::from(width) / ZOOM)
}

/// `text` cut so that it is at most `width` wide.
#[must_use]
pub fn clipped(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    loop {
        kept.pop();
        let short = format!("{}…", kept.iter().collect::<String>().trim_end());
        if kept.is_empty() || text_width(&short, size) <= width {
            return short;
        }
    }
}

/// `text` in lines of at most `width`; no more than `most`, the last of them cut.
#[must_use]
pub fn lines(text: &str, size: f64, width: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if full || lines_fit(line, word, size, width) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| clipped(line, size, width)).collect()
}

fn lines_fit(line: &str, word: &str, size: f64, width: f64) -> bool {
    text_width(&format!("{line} {word}"), size) <= width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_part_of_the_program_and_has_the_signs_in_use() {
        for sign in ["A", "±", "μ", "–", "…", "→", "≤"] {
            assert!(text_width(sign, 20.0) > 1.0, "{sign}");
        }
        let latin = (' '..='~').chain('\u{a1}'..='\u{17f}');
        let greek = "ΑΒΓΔΩαβγδεζηθικλμνξοπρςστυφχψωάέήίόύώ".chars();
        let cyrillic = ('\u{400}'..='\u{45f}').chain("€№™−≈≠≥×²³∞".chars());
        let missing = latin.chain(greek).chain(cyrillic).filter(|letter| !has(*letter));
        assert_eq!(missing.collect::<String>(), "");
    }

    #[test]
    fn a_box_stands_for_each_letter_that_the_font_lacks() {
        assert!(has(REPLACEMENT));
        assert_eq!(in_font("交换机 A: Ω"), "□□□ A: Ω");
        assert!(text_width("交换机", TEXT) > 2.0 * TEXT);
    }

    #[test]
    fn what_is_cut_fits() {
        let text = "pop 1024, pruned traffic hashed to dead members too";
        assert!(text_width(&clipped(text, TEXT, 120.0), TEXT) <= 120.0);
        let wrapped = lines(text, TEXT, 150.0, 2);
        assert_eq!(wrapped.len(), 2);
        assert!(wrapped.iter().all(|line| text_width(line, TEXT) <= 150.0));
        assert_eq!(clipped("short", TEXT, 120.0), "short");
    }

    #[test]
    fn no_two_areas_look_alike() {
        let all: Vec<_> = (0..MOST_AREAS).map(area_colour).chain([OTHER]).collect();
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b));
        }
    }

    #[test]
    fn no_two_series_look_alike() {
        let looks: Vec<_> = (0..MOST_SERIES).map(|i| (colour(i), dash(i))).collect();
        for (i, a) in looks.iter().enumerate() {
            assert!(looks[..i].iter().all(|b| a != b));
        }
        // In grey, too, the first few.
        for (i, (_, a)) in looks.iter().enumerate().take(DASHES.len()) {
            assert!(looks[..i].iter().all(|(_, b)| a != b));
        }
    }
}
