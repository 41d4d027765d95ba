import type { Random } from "../../faults/random.ts";

/** What of a JSON schema tells how a right value looks. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Texts that other objects of the fleet have too, so that selectors select, references find, and hosts meet. */
const WORDS: readonly string[] = [
  ...["reviews", "ratings", "details", "productpage", "v1", "v2", "v3", "a", "a-b", "app", "version", "http", "tls", "grpc", "tcp"],
  ...[
    "bookinfo",
    "default",
    "istio-system",
    "gloo-mesh",
    "good-1",
    "good-2",
    "evil",
    "istiod-istio-system-good-1",
    "istiod-istio-system-evil",
  ],
  ...[
    "reviews-bookinfo-good-1",
    "reviews-bookinfo-evil",
    "5s",
    "100ms",
    "1h",
    "200",
    "/api",
    "^/v[0-9]+$",
    "GET",
    "*",
    "x-user",
    "td",
    "cluster.local",
  ],
  ...[
    "10.0.0.1",
    "34.0.0.1",
    "reviews.bookinfo.svc.cluster.local",
    "reviews.bookinfo.svc.good-1.global",
    "ISTIO_MUTUAL",
    "In",
    "Exists",
    "istio",
  ],
];

/** A value that a schema may allow; most of what it allows to be absent is. */
export function schemaValue(schema: unknown, random: Random, depth = 6): unknown {
  const { type, const: constant, enum: words, anyOf, items, properties, required = [], additionalProperties } = schema as Schema;
  if (constant !== undefined) return constant;
  if (words !== undefined) return words[random.int(words.length)];
  if (anyOf !== undefined && anyOf.length > 0) return schemaValue(anyOf[random.int(anyOf.length)], random, depth - 1);
  switch (type) {
    case "string":
      return random.pick(WORDS);
    case "integer":
    case "number":
      return numberOf(schema as Schema, random);
    case "boolean":
      return random.int(2) === 0;
    case "array":
      return depth <= 0 ? [] : Array.from({ length: random.int(3) }, () => schemaValue(items ?? {}, random, depth - 1));
    case "object": {
      if (depth <= 0) return {};
      const value: Record<string, unknown> = {};
      for (const [name, member] of Object.entries(properties ?? {})) {
        // So that an object of thirty fields has a few, and one of two often both.
        const isWanted = required.includes(name) || random.int(2 + Object.keys(properties ?? {}).length / 3) === 0;
        if (isWanted) value[name] = schemaValue(member, random, depth - 1);
      }
      if (typeof additionalProperties === "object") {
        for (let left = random.int(3); left > 0; left--) value[random.pick(WORDS)] = schemaValue(additionalProperties, random, depth - 1);
      }
      return value;
    }
    default:
      return random.pick(["a", 1, true, {}, []]);
  }
}

function numberOf({ type, minimum = 0, maximum = 1_000_000 }: Schema, random: Random): number {
  const value = random.pick([minimum, maximum, 1, 80, 8080, 15443, 50, 100, 503]);
  return type === "integer" ? Math.round(value) : value;
}
