/** Every character that has a meaning in Markdown stands for itself; so no text of others becomes a link, an image, a mention or HTML. */
export function markdownText(text: string): string {
  return (
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll("\n", " ")
      .replaceAll("#", "&#35;")
      .replaceAll("@", "&#64;")
      .replaceAll("://", "&#58;//")
      // Some renderers make links of these without a scheme.
      .replace(/www\./gi, (www) => `${www.slice(0, -1)}&#46;`)
      .replace(/[\\`*_{}[\]()!|~]/g, "\\$&")
  );
}
