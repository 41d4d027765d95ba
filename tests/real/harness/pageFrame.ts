import type { Page } from "playwright-core";

/**
 * How a page breaks its frame: what scrolls outside of `main` and its parts, and texts that are cut where nothing shows them in full, neither
 * scrolling nor a title. Empty: it does not.
 */
export async function frameFaults(page: Page): Promise<readonly string[]> {
  return (await page.evaluate(FRAME_FAULTS)) as readonly string[];
}

const FRAME_FAULTS = `(() => {
  const faults = [];
  const { scrollHeight, scrollWidth } = document.scrollingElement;
  if (scrollHeight > innerHeight) faults.push("the document is " + scrollHeight + " px high, the window " + innerHeight);
  if (scrollWidth > innerWidth) faults.push("the document is " + scrollWidth + " px wide, the window " + innerWidth);
  const main = document.querySelector("main");
  if (main.scrollWidth > main.clientWidth) faults.push("main is " + main.scrollWidth + " px wide in " + main.clientWidth);
  const clips = (style) => ["hidden", "clip"].includes(style.overflowX);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.data.trim() === "" || text.parentElement.closest("script, style, svg, option, .visually-hidden, .skip, .react-flow") !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    if (box.width === 0) continue;
    for (let around = text.parentElement; around !== null && around !== document.body; around = around.parentElement) {
      const style = getComputedStyle(around);
      if (["auto", "scroll"].includes(style.overflowX)) break;
      if (!clips(style)) continue;
      const frame = around.getBoundingClientRect();
      const isCut = box.right > frame.right + 1 || box.left < frame.left - 1 || box.bottom > frame.bottom + 4 || box.top < frame.top - 4;
      if (!isCut) continue;
      if (text.parentElement.closest("[title]:not([title=''])") === null) faults.push(JSON.stringify(text.data.slice(0, 60)) + " is cut by " + around.tagName + "." + around.className);
      break;
    }
  }
  return faults;
})()`;
