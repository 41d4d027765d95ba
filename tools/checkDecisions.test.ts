import { describe, expect, it } from "vitest";
import { decisionProblems } from "./checkDecisions.ts";

const QUESTION = "\n\n**Question.** Why?\n";

/** The problems of an index with these rows, and of pages 0001 and 0002 with these lines above their questions. */
function problemsOf(rows: string, first = "", second = ""): readonly string[] {
  return decisionProblems(
    new Map([
      ["docs/decisions/README.md", rows],
      ["docs/decisions/0001-one.md", `# 0001 One\n\n${first}${QUESTION}`],
      ["docs/decisions/0002-two.md", `# 0002 Two\n\n${second}${QUESTION}`],
    ]),
  );
}

const one = "| [0001](0001-one.md) | one | in force |\n";
const two = "| [0002](0002-two.md) | two | in force |\n";

describe("decisionProblems", () => {
  it("accepts a row for each page, with the state that the page has", () => {
    expect(problemsOf(one + two)).toEqual([]);
    const amended = "| [0001](0001-one.md) | one | amended by [0002](0002-two.md) |\n";
    expect(problemsOf(amended + two, "*Amended by [0002](0002-two.md): more.*", "Amends [0001](0001-one.md).")).toEqual([]);
  });

  it("refuses a page without a row, and one with two", () => {
    expect(problemsOf(one)).toEqual([
      "docs/decisions/README.md: 0 rows for docs/decisions/0002-two.md: it needs one, in the table of its area",
    ]);
    expect(problemsOf(one + two + two)).toHaveLength(1);
  });

  it("refuses a superseded page that is said to be in force, or to bind everybody", () => {
    expect(problemsOf(`- [0001](0001-one.md) one\n\n${one}${two}`, "Superseded by [0002](0002-two.md).")).toEqual([
      'docs/decisions/README.md: 0001 is "in force" there, and "superseded by 0002" by its page',
      "docs/decisions/README.md: 0001 is superseded, and listed among those that bind everybody",
    ]);
  });

  it("refuses a page that does not say that another one changes it", () => {
    const problem = "docs/decisions/0001-one.md: 0002 amends or supersedes it, which it has to say above its question";
    expect(problemsOf(one + two, "", "Amends [0001](0001-one.md).")).toEqual([problem]);
    expect(problemsOf(one + two, "", "This supersedes 0001.")).toEqual([problem]);
  });
});
