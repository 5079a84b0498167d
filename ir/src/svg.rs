//! Pictures as SVG: what reports of several crates are drawn with.

/// Returns a picture of so many pixels on a white ground, which stays white on a dark page. `defs` is what `body`
/// refers to.
pub fn document([width, height]: [usize; 2], defs: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"11\">\n{defs}<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Text as it stands between tags, or in quotes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
