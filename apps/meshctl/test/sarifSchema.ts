/** What is wrong with a value, each with its path. */
type Check = (value: unknown, path: string) => readonly string[];

function where(holds: (value: unknown) => boolean, expected: string): Check {
  return (value, path) => (holds(value) ? [] : [`${path} is not ${expected}`]);
}

function listOf(check: Check): Check {
  return (value, path) => (Array.isArray(value) ? value.flatMap((item, i) => check(item, `${path}[${i}]`)) : [`${path} is not a list`]);
}

/** An object with these members and no others. */
function objectOf(members: Readonly<Record<string, Check>>, ...required: readonly string[]): Check {
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path} is not an object`];
    const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${path}.${name} is missing`);
    const problems = Object.entries(value).flatMap(
      ([name, member]) => members[name]?.(member, `${path}.${name}`) ?? [`${path}.${name} is unknown`],
    );
    return [...missing, ...problems];
  };
}

const text = where((value) => typeof value === "string", "a text");
const bag = where((value) => typeof value === "object" && value !== null, "a bag of properties");
const oneOf = (...values: readonly string[]) => where((value) => values.includes(value as string), values.join(" or "));
const from = (least: number) => where((value) => Number.isInteger(value) && Number(value) >= least, `a number from ${least}`);
const message = objectOf({ text }, "text");

const uri = where((value) => typeof value === "string" && !/[\s\\]/.test(value), "a URI");
const region = objectOf({ startLine: from(1) });
const location = objectOf({ physicalLocation: objectOf({ artifactLocation: objectOf({ uri }), region }) });
const suppression = objectOf({ kind: oneOf("inSource", "external"), justification: text, properties: bag }, "kind");
const result = objectOf(
  {
    ruleId: text,
    ruleIndex: from(-1),
    level: oneOf("none", "note", "warning", "error"),
    message,
    locations: listOf(location),
    suppressions: listOf(suppression),
  },
  "message",
);
const rule = objectOf({ id: text, shortDescription: message, fullDescription: message, help: message }, "id");
const driver = objectOf({ name: text, version: text, rules: listOf(rule) }, "name");
const run = objectOf({ tool: objectOf({ driver }, "driver"), results: listOf(result), properties: bag }, "tool");
const log = objectOf({ $schema: text, version: oneOf("2.1.0"), runs: listOf(run) }, "version", "runs");

/**
 * What is wrong with a log; none: it is one of SARIF 2.1.0, of which meshctl uses these members. Source: OASIS, the schema of Static Analysis
 * Results Interchange Format 2.1.0.
 */
export function sarifProblems(value: unknown): readonly string[] {
  return log(value, "log");
}
