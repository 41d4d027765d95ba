import { Environment } from "@marcbachmann/cel-js";

/** CEL as rules of CustomResourceDefinitions have it, with Kubernetes' own functions. Source: kubernetes.io/docs/reference/using-api/cel. */
export function celEnvironment(): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: 10_000, maxDepth: 100 },
  });
  const texts = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []);
  environment.registerFunction("list.isSorted(): bool", (list: unknown) =>
    texts(list).every((each, i, all) => i === 0 || compared(all[i - 1], each) <= 0),
  );
  environment.registerFunction("list.sum(): dyn", (list: unknown) =>
    texts(list).reduce(
      (sum: unknown, each) => (typeof each === "bigint" ? (sum as bigint) + each : Number(sum) + Number(each)),
      0n as unknown,
    ),
  );
  environment.registerFunction("list.min(): dyn", (list: unknown) => [...texts(list)].sort(compared)[0]);
  environment.registerFunction("list.max(): dyn", (list: unknown) => [...texts(list)].sort(compared).at(-1));
  environment.registerFunction("list.indexOf(dyn): int", (list: unknown, value: unknown) => BigInt(texts(list).indexOf(value)));
  environment.registerFunction("list.lastIndexOf(dyn): int", (list: unknown, value: unknown) => BigInt(texts(list).lastIndexOf(value)));
  environment.registerFunction("string.find(string): string", (text: string, pattern: string) => first(text, pattern));
  environment.registerFunction(
    "string.findAll(string): list",
    (text: string, pattern: string) => bounded(text).match(new RegExp(pattern, "gu")) ?? [],
  );
  environment.registerFunction("isURL(string): bool", (text: string) => URL.canParse(text));
  return environment;
}

function compared(a: unknown, b: unknown): number {
  return (a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0;
}

function bounded(text: string): string {
  return text.slice(0, 4096);
}

function first(text: string, pattern: string): string {
  return new RegExp(pattern, "u").exec(bounded(text))?.[0] ?? "";
}
