import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const FOLDER = new URL("../../client/styles/", import.meta.url);
/** The selectors of rules outside of any `@` block, each as it is written: several for one rule are one text. */
function selectorsIn(text: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let before = "";
  for (const character of text.replaceAll(/\/\*[\s\S]*?\*\//g, "")) {
    if (character === "{" && depth++ === 0 && !before.trim().startsWith("@")) found.push(before.trim());
    if (character === "}") depth--;
    before = "{};".includes(character) ? "" : before + character;
  }
  return found;
}

it("a class has its rules in one place: another meaning of the same name would change both", () => {
  const all = readdirSync(FOLDER).flatMap((name) => selectorsIn(readFileSync(new URL(name, FOLDER), "utf8")));
  expect(all.length).toBeGreaterThan(200);
  const classes = all.filter((one) => /^\.[\w-]+$/.test(one));
  const doubled = classes.filter((one, i) => classes.indexOf(one) !== i);
  expect([...new Set(doubled)]).toEqual([]);
});
