import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Resource, refOf, snapshotOf } from "@isthmus/core";
import { readInput, sampled, soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import { statusesOf, type Translation } from "../src/index.ts";

const OPTIONS = { namespace: "gloo-mesh", stage: "networking" } as const;
const root = fileURLToPath(new URL("../testdata", import.meta.url));
const cases = ["serviceDependencies", "accessLogRecords", "wasmDeployments"].flatMap((folder) =>
  readdirSync(join(root, folder)).flatMap((file) => (file.endsWith(".in.yaml") ? [join(folder, file)] : [])),
);

function contentOf(translation: Translation): object {
  const outputs = [...translation.networking].map(({ resource, parents }) => ({ resource, parents }));
  return { outputs, statuses: statusesOf(translation) };
}

// Random worlds seldom have all that a Sidecar or an EnvoyFilter follows from: here each object of a world that has it comes and goes by itself.
test.each(sampled(cases))("%s: a world in which an object comes or goes equals one that never was another", (file) => {
  const resources: readonly Resource[] = readInput(readFileSync(join(root, file), "utf8")).resources;
  const whole = snapshotOf(resources);
  const withAll = soundTranslation(whole, OPTIONS);
  for (const resource of resources) {
    const without = whole.apply({ put: [], remove: [refOf(resource)] });
    const gone = soundTranslation(without, OPTIONS, withAll);
    expect(contentOf(gone), `without ${resource.kind} ${resource.metadata.name}`).toEqual(contentOf(soundTranslation(without, OPTIONS)));
    const back = soundTranslation(without.apply({ put: [resource], remove: [] }), OPTIONS, gone);
    expect(contentOf(back), `again with ${resource.kind} ${resource.metadata.name}`).toEqual(contentOf(withAll));
  }
});
