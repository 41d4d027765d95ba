import { expect, it } from "vitest";
import { markdownText } from "../src/offline/markdownText.ts";

it.each([
  ["https://evil.example", "https&#58;//evil.example"],
  ["see www.evil.example", "see www&#46;evil.example"],
  ["WWW.evil.example", "WWW&#46;evil.example"],
  ["[a](b) @all #1 <b>", "\\[a\\]\\(b\\) &#64;all &#35;1 &lt;b&gt;"],
])("is no link, mention or HTML: %s", (text, shown) => expect(markdownText(text)).toBe(shown));
