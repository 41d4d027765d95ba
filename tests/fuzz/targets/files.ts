import { evilObjectText, forgedObjectText, managementObjectText } from "../drawing/fleetObjects.ts";
import { mutatedBytes } from "../drawing/mutated.ts";
import { hostileYaml } from "../drawing/yaml.ts";
import type { Target } from "../target.ts";
import { bundledMeshctl, checkEnd, recordedStreams } from "./bundledApp.ts";

const SEEDS = [
  "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: b, clusterName: east}\nspec: {ports: [{port: 80}], selector: {app: a}}\n",
  "apiVersion: networking.mesh.gloo.solo.io/v1\nkind: TrafficPolicy\nmetadata:\n  name: t\n  namespace: gloo-mesh\nspec:\n  policy:\n    requestTimeout: 5s\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: n, clusterName: east}}\n",
];

/** `meshctl translate -f -`, in this process. */
export const files: Target = {
  name: "files",
  about: "YAML and JSON on the standard input of `meshctl translate`",
  draw(random) {
    if (random.int(2) === 0) return hostileYaml(random, SEEDS);
    const texts: string[] = [];
    for (let left = random.int(5); left > 0; left--)
      texts.push(random.pick([evilObjectText, forgedObjectText, managementObjectText])(random));
    const isList = random.int(3) === 0;
    const text = isList
      ? `{"apiVersion":"v1","kind":"List","items":[${texts.join(",")}]}`
      : texts.join(random.pick(["\n", "\n---\n", " "]));
    return mutatedBytes(Buffer.from(text), random, 1);
  },
  async start() {
    const meshctl = await bundledMeshctl();
    return {
      async take(input) {
        const { io, err } = recordedStreams(input);
        const code = await meshctl(["translate", "-f", "-", "--status", "-o", "json"], io);
        checkEnd(code, err, [0, 1, 2]);
      },
      stop: async () => undefined,
    };
  },
};
