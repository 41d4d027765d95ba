import { isDeepStrictEqual } from "node:util";
import { agentKinds } from "@isthmus/api";
import { type AnyResource, kindKeyOf, parseCompact, ResourceExcess } from "@isthmus/core";
import { ATTACKS, fleet, HOME, memoryOf, type Tenancy, translationOf, viewOf, withTenant } from "@isthmus/testing/oneTenant";
import { isOfKnownKind, objectTextOf } from "../drawing/fleetObjects.ts";
import { mutatedText } from "../drawing/mutated.ts";
import { OthersHarmed, type Target } from "../target.ts";
import { parsed } from "./pipeline.ts";

// One that comes before all others by name: what takes the first of several takes the tenant's.
const TENANCY: Tenancy = { cluster: HOME, namespace: "aaa" };

// What Istio's own rules say of other namespaces (`exportTo`), and routes of the Gateway API, which name Services of others by ReferenceGrants, is no fault of ours.
const KINDS = agentKinds().filter(
  ({ namespaced, apiVersion }) => namespaced && !/istio\.io|gateway\.networking|gloo\.solo\.io|smi-spec|cilium/.test(apiVersion),
);
// What was found once: near it there may be more.
const SEEDS = Object.values(ATTACKS).flatMap((attack) => attack({ namespace: TENANCY.namespace, clusterName: TENANCY.cluster }));
const TAKEN: ReadonlySet<string> = new Set(KINDS.map(kindKeyOf));

/** What a user creates who may write one namespace of one cluster: see oneTenant.property.long.test.ts for what must stay the same. */
export const tenant: Target = {
  name: "tenant",
  about: "objects of one namespace of one cluster, of every kind that agents read: what others have must stay as it is",
  draw(random) {
    const lines: string[] = [];
    for (let left = 1 + random.int(4); left > 0; left--)
      lines.push(
        random.int(2) === 0
          ? mutatedText(random.pick(SEEDS), random, random.int(4))
          : objectTextOf(random.pick(KINDS), random, TENANCY.cluster),
      );
    return Buffer.from(lines.join("\n"));
  },
  async start() {
    const worlds = (["by webhooks", "by nothing"] as const).map((vouched) => {
      const given = fleet(vouched);
      const memory = memoryOf(given);
      return { given, memory, alone: viewOf(translationOf(given, memory), TENANCY) };
    });
    return {
      take(input) {
        const objects = input.toString("utf8").split("\n").flatMap(objectIn);
        for (const { given, memory, alone } of worlds) {
          const now = viewOf(translationOf(withTenant(given, objects), memory), TENANCY);
          if (isDeepStrictEqual(now, alone)) continue;
          const names = [...new Set([...Object.keys(alone), ...Object.keys(now)])].filter(
            (name) => !isDeepStrictEqual(now[name], alone[name]),
          );
          throw new OthersHarmed(`a tenant changed ${names.slice(0, 3).join(", ")}`);
        }
      },
      stop: async () => undefined,
    };
  },
};

/** The object of a line, as the agent of the tenant's cluster would report it; none where it is no object of these kinds. */
function objectIn(line: string): readonly AnyResource[] {
  let value: unknown;
  try {
    value = parseCompact(line);
  } catch (error) {
    // As every entry point does with what is not JSON, or too much for an object.
    if (error instanceof SyntaxError || error instanceof ResourceExcess) return [];
    throw error;
  }
  if (!isOfKnownKind(value) || !TAKEN.has(kindKeyOf(value))) return [];
  const { metadata } = value;
  const good = parsed({ ...value, metadata: { ...metadata, namespace: TENANCY.namespace, clusterName: TENANCY.cluster } });
  return good === undefined ? [] : [good as AnyResource];
}
