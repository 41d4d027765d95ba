import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { evilObjectText, forgedObjectText, managementObjectText } from "../drawing/fleetObjects.ts";
import { mutatedBytes } from "../drawing/mutated.ts";
import { hostileYaml } from "../drawing/yaml.ts";
import { CACHE, REPOSITORY } from "../repository.ts";
import type { Target } from "../target.ts";

/** Of apps/meshctl: one command line, and what it sees of the world. */
type Meshctl = (args: readonly string[], io: object) => Promise<number>;

const SEEDS = [
  "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: b, clusterName: east}\nspec: {ports: [{port: 80}], selector: {app: a}}\n",
  "apiVersion: networking.mesh.gloo.solo.io/v1\nkind: TrafficPolicy\nmetadata:\n  name: t\n  namespace: gloo-mesh\nspec:\n  policy:\n    requestTimeout: 5s\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: n, clusterName: east}}\n",
];

const plain = (text: string) => text;

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
        const complaints: string[] = [];
        const io = {
          readInput: async () => input,
          out: async () => undefined,
          err: (text: string) => void complaints.push(text),
          note: () => undefined,
          progress: () => undefined,
          colors: { red: plain, yellow: plain, dim: plain },
        };
        const code = await meshctl(["translate", "-f", "-", "--status", "-o", "json"], io);
        const fault = complaints.find((text) => text.startsWith("internal error:"));
        if (fault !== undefined) throw Object.assign(new Error("an internal error"), { stack: fault });
        if (![0, 1, 2].includes(code)) throw new Error(`the exit code is ${code}`);
      },
      stop: async () => undefined,
    };
  },
};

/** An app is never imported: it is bundled as it is for its users, without the file that looks at the command line of the process. */
async function bundledMeshctl(): Promise<Meshctl> {
  // Found when it runs: in a bundle it would take itself for the program that was started.
  const build = pathToFileURL(join(REPOSITORY, "tools/build.mjs")).href;
  const { bundle } = (await import(build)) as { bundle(entry: string, outfile: string): Promise<void> };
  const outfile = join(CACHE, `fuzz-meshctl-${process.pid}.mjs`);
  await bundle(join(REPOSITORY, "apps/meshctl/src/meshctl.ts"), outfile);
  const program = (await import(pathToFileURL(outfile).href)) as { readonly meshctl: Meshctl };
  // What it imports late is in it.
  for (const file of [outfile, `${outfile}.map`]) rmSync(file);
  return program.meshctl;
}
