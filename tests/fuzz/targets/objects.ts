import { agentKinds, contributedKinds, onDemandKinds, summaryKinds } from "@isthmus/api";
import { inCluster, kindKeyOf, parseCompact, type Resource, ResourceExcess } from "@isthmus/core";
import { EVIL, evilObjectText, forgedObjectText, isOfKnownKind, managementObjectText } from "../drawing/fleetObjects.ts";
import type { Target } from "../target.ts";
import { parsed, startPipeline } from "./pipeline.ts";

const MANAGEMENT = "management ";
const TAKEN: ReadonlySet<string> = new Set([...agentKinds(), ...onDemandKinds(), ...summaryKinds(), ...contributedKinds()].map(kindKeyOf));

/** Objects through parsing, translation and statuses, beside good clusters whose outputs must stay. */
export const objects: Target = {
  name: "objects",
  about: "objects of every kind, from an agent or the management cluster: parse, translate, statuses; good clusters beside them",
  draw(random) {
    const lines: string[] = [];
    for (let left = 1 + random.int(4); left > 0; left--) {
      const kind = random.int(8);
      if (kind < 2) lines.push(MANAGEMENT + managementObjectText(random));
      else lines.push(kind === 2 ? forgedObjectText(random) : evilObjectText(random));
    }
    return Buffer.from(lines.join("\n"));
  },
  async start() {
    const pipeline = await startPipeline();
    return { take: (input) => pipeline(objectsIn(input)), stop: async () => undefined };
  },
};

/** The objects of an input: one in each line, of the evil cluster or of the management cluster. */
function objectsIn(input: Buffer): readonly Resource[] {
  return input.toString("utf8").split("\n").flatMap(objectIn);
}

function objectIn(line: string): readonly Resource[] {
  const isManagement = line.startsWith(MANAGEMENT);
  let value: unknown;
  try {
    value = parseCompact(isManagement ? line.slice(MANAGEMENT.length) : line);
  } catch (error) {
    // As every entry point does with what is not JSON, or too much for an object.
    if (error instanceof SyntaxError || error instanceof ResourceExcess) return [];
    throw error;
  }
  if (!isOfKnownKind(value)) return [];
  const resource = inCluster(value, isManagement ? "" : EVIL);
  const good = isManagement || TAKEN.has(kindKeyOf(resource)) ? parsed(resource) : undefined;
  return good === undefined ? [] : [good];
}
