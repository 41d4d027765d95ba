import { describe, expect, it } from "vitest";
import { parseTemplate } from "../src/output/jsonPath/parseTemplate.ts";
import { templateText } from "../src/output/jsonPath/templateText.ts";

const DATA: unknown = JSON.parse(`{
  "metadata": {"name": "x", "labels": {"app.kubernetes.io/name": "n", "constructor": "c", "__proto__": "p"}},
  "data": {
    "one": "1", "html": "<&>", "none": null, "empty": [],
    "list": [{"n": "a", "v": 1}, {"n": "b", "v": 2.5, "t": true}, {"v": 3}],
    "nested": [[], [1, 2]]
  }
}`);

function text(template: string, data = DATA): string {
  return templateText(parseTemplate(template), data);
}

describe("a JSONPath template", () => {
  // What kubectl prints for the same; tests/real/jsonPath.test.ts compares with it.
  it.each([
    ["{.data.one}", "1"],
    [".data.one", ".data.one"],
    ["{$.data.one}{@.data.one}", "11"],
    ["{ .data.one }", "1"],
    ["{.data.none}", "null"],
    ["{.data.html}", "<&>"],
    ["{.data.absent.deeper[0]}", ""],
    ["{.data.list}", '[{"n":"a","v":1},{"n":"b","t":true,"v":2.5},{"v":3}]'],
    ["{.data.list[*].n}", "a b"],
    ["{.data.list[0].v}", "1"],
    ["{.data.list[-1].v}", "3"],
    ["{.data.list[0,2].v}", "1 3"],
    ["{.data.list[0:2].v}", "1 2.5"],
    ["{.data.list[1:].v}", "2.5 3"],
    ["{.data.list[::2].v}", "1 3"],
    ["{.data.list[-2:].v}", "2.5 3"],
    ["{.data['one','html']}", "1 <&>"],
    ["{.metadata['name', 'labels.constructor']}", "x c"],
    ["{.metadata.labels.app\\.kubernetes\\.io/name}", "n"],
    ["{.metadata.labels['app\\.kubernetes\\.io/name']}", "n"],
    ["{.*.name}", "x"],
    ["{..n}", "a b"],
    ["{..list[0].n}", "a"],
    ['{.data.list[?(@.n=="a")].v}', "1"],
    ["{.data.list[?( @.n == 'b' )].v}", "2.5"],
    ["{.data.list[?(@.n)].v}", "1 2.5"],
    ['{.data.list[?(@.n!="a")].v}', "2.5"],
    ['{.data.list[?(@.n>"a")].v}', "2.5"],
    ["{.data.list[?(@.t==true)].n}", "b"],
    ['{range .data.list[*]}{.n}={.v}{"\\n"}{end}', "a=1\nb=2.5\n=3\n"],
    ["{range .data.list[*]}[{range .n}{@}{end}]{end}", "[a][b][]"],
    ["{range .data.empty[*]}{.n},{end}.", "."],
    ["{'q\\'s'}", "q's"],
    ['{"\\t\\\\"}', "\t\\"],
    ["", ""],
  ])("%s", (template, expected) => {
    expect(text(template)).toBe(expected);
  });

  // Where kubectl ends with an error of the data, or leaves out the rest: one object of another form must not hide the others.
  it.each([
    ["{.data.list[5].n}", ""],
    ["{.data.list[1:9].v}", "2.5 3"],
    ["{.data[*]}", ""],
    ["{.data.nested[*][*]}", "1 2"],
    ["{.data.list[?(@.v>1)].v}", "2.5 3"],
    ['{.data.list[?(@.v=="1")].v}', ""],
    ['{.metadata[?(@.a=="b")]}', ""],
    ['{.data.list[?(@=="a")].v}', ""],
  ])("%s yields what there is", (template, expected) => {
    expect(text(template)).toBe(expected);
  });

  it("reads own members only, whatever they are called", () => {
    expect(text("{.metadata.labels.constructor}{.metadata.labels.__proto__}")).toBe("cp");
    for (const name of ["constructor", "__proto__", "toString", "length"]) {
      expect(text(`{.data.${name}}{.data.list.${name}}{.data.one.${name}}{.data.list[?(@.${name})]}`)).toBe("");
    }
  });

  it.each([
    ["{.a", "character 4: expected a closing }, not the end"],
    ["x{.}", "character 4: a name is missing after the dot"],
    ["{.a[}", "character 5: expected a number, a slice, * or a key in single quotes, not }"],
    ["{.a[0}", "character 6: expected a number, a slice, * or a key in single quotes, and a closing ], not }"],
    ['{.a["b"]}', 'character 5: expected a number, a slice, * or a key in single quotes, not "'],
    ["{.a['b]}", "character 9: expected a closing ', not the end"],
    ["{.a[::0]}", "character 4: the step of a slice is at least 1"],
    ['{.a[?(@.b=="c]}', "character 12: quoted text without an end"],
    ["{.a[?(@.b==)]}", "character 12: expected a number, true, false, quoted text or a path after ==, not )"],
    ['{.a[?(@.b=="c" && @.d)]}', "character 16: expected a closing ) of the filter, not &"],
    ["{.a[?()]}", "character 7: expected a path such as @.name in the filter, not )"],
    ["{a}", "character 2: expected a closing }, not a"],
    ['{.a "b"}', 'character 5: expected a closing }, not "'],
    ['{"a}', "character 2: quoted text without an end"],
    ['{"\\q"}', "character 3: \\q means nothing in quoted text"],
    ["{range .a}x", "character 1: {range} without an {end} after it"],
    ["x{end}", "character 2: {end} without a {range} before it"],
    [`${"{range .a}".repeat(17)}`, "character 161: more than 16 ranges in each other"],
    [`{.a${"[?(@.b".repeat(18)}`, "character 103: more than 16 filters in each other"],
  ])("refuses %s with the position", (template, problem) => {
    expect(() => parseTemplate(template)).toThrow(problem);
  });

  it("refuses what no person writes", () => {
    expect(() => parseTemplate("x".repeat(16_385))).toThrow("the template has 16385 characters, more than 16384");
  });
});
