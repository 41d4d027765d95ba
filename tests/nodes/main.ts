// `npm run nodes -- COMMAND`: Kubernetes clusters of one real node each on this machine, with the product's images (README.md).
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { messageOf } from "@isthmus/core";
import { run } from "./commands.ts";
import { reasonsAgainstNodes } from "./machine.ts";
import { CLUSTERS, clusterNamed, planOf } from "./names.ts";
import { down, inNode, kubectl, load, nodesIn, onLan, pathOf, pidOf, up } from "./nodes.ts";

const USAGE = `usage: npm run nodes -- build                    programs and images: minutes the first time
       npm run nodes -- up [NAME…]               ${CLUSTERS.join(", ")}; those that run stay as they are
       npm run nodes -- status                   nodes and pods
       npm run nodes -- exec NAME|lan -- COMMAND inside a node, or on their network with a kubeconfig of all
       npm run nodes -- load NAME FILE.tar…      images, as docker archives, into a node
       npm run nodes -- down                     ends all, and leaves nothing`;

/** What build.sh built, built where it is not. */
function builtFolder(): string {
  mkdirSync(join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "isthmus"), { recursive: true });
  return run(["bash", "tests/nodes/build.sh"], { timeout: 3_600_000 }).trim();
}

async function main([command = "", ...rest]: readonly string[]): Promise<number> {
  if (!["build", "up", "status", "exec", "load", "down"].includes(command)) {
    console.log(USAGE);
    return command === "" || command === "--help" ? 0 : 2;
  }
  const reasons = reasonsAgainstNodes();
  if (reasons.length > 0 && command !== "down") throw new Error(`this machine can have no nodes: ${reasons.join("; ")}`);
  const state = process.env["ISTHMUS_NODES_STATE"] ?? join(tmpdir(), "isthmus-nodes");
  if (command === "down") {
    await down(nodesIn(state, { folder: "", project: "" }));
    return 0;
  }
  const nodes = nodesIn(state, { folder: builtFolder(), project: process.cwd() });
  const words = rest.filter((word) => word !== "--");
  if (command === "build") console.log(nodes.built.folder);
  else if (command === "up") await up(nodes, words.length === 0 ? CLUSTERS : words.map(clusterNamed), (text) => console.log(text));
  else if (command === "load") for (const file of words.slice(1)) load(planOf(clusterNamed(words[0]), state), resolve(file));
  else if (command === "status") {
    for (const name of CLUSTERS) {
      const isUp = pidOf(planOf(name, state)) !== undefined;
      console.log(isUp ? `${name}:\n${kubectl(nodes, name, ["get", "nodes,pods", "-A", "-o", "wide"]).stdout}` : `${name}: down`);
    }
  } else {
    const [where, ...inside] = words;
    const whole = where === "lan" ? onLan(nodes, inside) : inNode(planOf(clusterNamed(where), state), inside);
    const [program = "", ...args] = whole;
    return spawnSync(program, args, { stdio: "inherit", env: pathOf(nodes) }).status ?? 1;
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`error: ${messageOf(error)}`);
  return 1;
});
