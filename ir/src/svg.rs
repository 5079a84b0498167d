//! SVG documents, for the reports of several crates.

/// Returns a picture of a size in pixels, with a white background also on dark pages. `defs` holds the definitions that
/// `body` refers to.
pub fn document([width, height]: [usize; 2], defs: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"11\">\n{defs}<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Escapes text for element contents and attribute values.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
